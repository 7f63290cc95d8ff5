package standin

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// misbehave plays the steps of a misbehaving program. If a step ends the process,
// misbehave does not return.
func (t *turn) misbehave(ctx context.Context, s Step) error {
	c := t.c
	switch s.Verb {
	case "exit":
		c.end(s.N)
		c.stay()
	case "noresult":
		c.end(0)
		c.stay()
	case "die":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		c.stay()
	case "deaf":
		t.goDeaf()
	case "hang":
		t.goDeaf()
		c.stay()
	case "spin":
		t.goDeaf()
		for burned := uint64(1); burned != 0; burned += 2 { // an odd number is never 0
		}
	case "closeout":
		c.out.close()
		<-ctx.Done()
		return errInterrupted
	case "orphan":
		return t.orphan(s)
	case "pending":
		tool, input, _ := strings.Cut(s.Arg, " ")
		if err := t.emit(block{Type: "tool_use", ID: newID("toolu_"), Name: tool, Input: encode(map[string]string{"input": input})}); err != nil {
			return err
		}
		<-ctx.Done()
		return errInterrupted
	case "again":
		t.more = append(t.more, breakLines(s.Arg))
	case "flood":
		return t.flood(ctx)
	case "noise":
		return c.noise(s.N)
	case "rubbish":
		c.out.raw([]byte("npm WARN this line is not JSON {"))
	case "unknown":
		c.out.line(map[string]any{"type": "weather_report", "sky": "clear", "session_id": c.sess.id, "uuid": newUUID()})
	}
	return nil
}

// goDeaf makes the process ignore every request to stop and then writes a line to the
// log. Until this line has been written, a signal may still have an effect.
func (t *turn) goDeaf() {
	t.c.deaf.Store(true)
	t.c.journal("deaf", t.prompt)
}

// flood prints at full speed until it is interrupted.
func (t *turn) flood(ctx context.Context) error {
	if err := t.say(strings.Repeat("all work and no play ", 200)); err != nil {
		return err
	}
	line := encode(map[string]any{"type": "assistant", "session_id": t.c.sess.id, "parent_tool_use_id": nil, "message": map[string]any{
		"role": "assistant", "model": baseModel(t.c.model), "content": []block{{Type: "text", Text: t.said}},
	}})
	for ctx.Err() == nil {
		t.c.out.raw(line)
	}
	return errInterrupted
}

// noise writes n bytes to standard error.
func (c *client) noise(n int) error {
	line := []byte(strings.Repeat("x", 4<<10-1) + "\n")
	for n > 0 {
		part := line[:min(n, len(line))]
		if _, err := c.stderr.Write(part); err != nil {
			return &failure{text: "standard error: " + err.Error()}
		}
		n -= len(part)
	}
	return nil
}

// endIfAsked ends the process before it prints anything if a prompt requests this.
func (c *client) endIfAsked(prompts []prompt) {
	if slices.ContainsFunc(prompts, asksForEarlyEnd) {
		c.complain("standin: unborn, as the prompt says")
		c.end(1)
		c.stay()
	}
}

func asksForEarlyEnd(p prompt) bool {
	steps, _ := Script(p.text) // the turn reports invalid steps
	return slices.ContainsFunc(steps, func(s Step) bool { return s.Verb == "unborn" })
}

// goOn starts a turn without a prompt, as the real program does after a background
// command has ended.
func (c *client) goOn(text string) {
	t := &turn{c: c, began: time.Now()}
	c.printInit()
	err := t.say(text)
	c.out.line(t.finish(err))
}

// orphan leaves behind a grandchild process in a separate session. Its parent is init,
// and it keeps standard output open.
func (t *turn) orphan(s Step) error {
	cmd := exec.Command("/bin/sh", "-c", fmt.Sprintf("sleep %.3f &", s.D.Seconds()))
	cmd.Env = t.c.environ
	cmd.Stdout = t.c.out.w
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd.Run()
}
