package standin

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// misbehave plays the steps that a well-behaved program would not do. Those
// that end the process do not return.
func (t *turn) misbehave(ctx context.Context, s step) error {
	c := t.c
	switch s.verb {
	case "exit":
		c.end(s.n)
		c.stay()
	case "noresult":
		c.end(0)
		c.stay()
	case "die":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		c.stay()
	case "hang":
		t.goDeaf()
		c.stay()
	case "spin":
		t.goDeaf()
		for burned := uint64(1); burned != 0; burned += 2 { // odd for ever
		}
	case "closeout":
		c.out.close()
		<-ctx.Done()
		return errInterrupted
	case "orphan":
		return t.orphan(s)
	case "rubbish":
		c.out.raw([]byte("npm WARN this line is not JSON {"))
	case "unknown":
		c.out.line(map[string]any{"type": "weather_report", "sky": "clear", "session_id": c.sess.id, "uuid": newUUID()})
	}
	return nil
}

// goDeaf makes the process ignore whatever asks it to end, and says so in the
// log: before that line a signal still counts.
func (t *turn) goDeaf() {
	t.c.deaf.Store(true)
	t.c.journal("deaf", t.prompt)
}

// orphan leaves a grandchild behind that is in a session of its own, has no
// parent but init, and holds the standard output open.
func (t *turn) orphan(s step) error {
	cmd := exec.Command("/bin/sh", "-c", fmt.Sprintf("sleep %.3f &", s.d.Seconds()))
	cmd.Env = t.c.environ
	cmd.Stdout = t.c.out.w
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd.Run()
}
