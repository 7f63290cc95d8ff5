package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// session runs the attached agent ada with the real client. Its methods simulate a person
// who types, presses Esc and waits for turns.
type session struct {
	*project
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  string // file in the project with the client's output
	seen int    // number of ended turns that the test has waited for
	asks int    // number of requests to the model that the test has waited for, by name
	escs int
}

// session starts the client with ada's plugin.
func (p *project) session(out string) *session {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 3*time.Minute)
	p.t.Cleanup(cancel)
	s := &session{project: p, out: out}
	s.cmd = exec.CommandContext(ctx, cli, "--plugin-dir", filepath.Join(p.dir, ".claude-swarm/attach/ada"), "--model", "claude-sonnet-4-6", "--allowedTools", "Bash",
		"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
	s.cmd.Dir, s.cmd.Env = p.dir, p.env
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		p.t.Fatal(err)
	}
	file, err := os.Create(filepath.Join(p.dir, out))
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { file.Close() })
	s.cmd.Stdout, s.cmd.Stderr = file, file
	if err := s.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	return s
}

func (s *session) say(line string) {
	s.t.Helper()
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		s.t.Fatal(err)
	}
}

// types types a prompt into the client.
func (s *session) types(text string) {
	s.t.Helper()
	s.say(`{"type":"user","message":{"role":"user","content":"` + text + `"}}`)
}

// esc presses Esc and waits until the interrupted turn ends.
func (s *session) esc() {
	s.t.Helper()
	s.interrupt()
	s.ended()
}

func (s *session) interrupt() {
	s.t.Helper()
	s.escs++
	s.say(fmt.Sprintf(`{"type":"control_request","request_id":"esc-%d","request":{"subtype":"interrupt"}}`, s.escs))
}

// asked waits for the next time that the model gives the reply with this name.
func (s *session) asked(reply string) {
	s.t.Helper()
	s.until("the model is asked for "+reply, func() bool {
		requests := s.requests()
		i := slices.IndexFunc(requests[s.asks:], func(q turnRequest) bool { return q.Reply == reply })
		if i >= 0 {
			s.asks += i + 1
		}
		return i >= 0
	})
}

// ended waits until the next turn ends.
func (s *session) ended() {
	s.t.Helper()
	s.seen++
	s.until("a turn of the session ends", func() bool {
		n := 0
		for line := range strings.Lines(s.read(s.out)) {
			var event struct{ Type string }
			if json.Unmarshal([]byte(line), &event) == nil && event.Type == "result" {
				n++
			}
		}
		return n >= s.seen
	})
}

// close ends the session the way a person does.
func (s *session) close() {
	s.t.Helper()
	s.in.Close()
	if err := s.cmd.Wait(); err != nil {
		s.t.Fatalf("the session: %v\n%s", err, s.read(s.out))
	}
}

// breaks contains the replies for tests that interrupt turns. A turn that is working on
// the message does not finish unless its prompt says that work on the message has already
// begun.
const breaks = `{"replies":[
	{"name":"hello","match":{"last_user_contains":"Hello"},"times":-1,"text":"Hello to you."},
	{"name":"again","match":{"last_user_contains":"This was begun before"},"text":"It is forty-two."},
	{"name":"silent","match":{"last_user_contains":"SILENT"},"times":-1,"delay_ms":120000,"text":"It is"},
	{"name":"stuck","match":{"last_user_contains":"six times seven?"},"times":-1,"text":"It is, well, let me think","chunk_runes":3,"stall_after_events":4,"stall_ms":120000},
	{"name":"rest","times":-1,"text":"Nothing to do."}]}`

// An interrupted prompt never files mail, regardless of what the person does next: the
// message stays in the mailbox, its sender gets nothing, and the next /inbox fetches the
// message again.
func TestABrokenOffPromptNeverFilesMail(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		question string
		breakOff func(t *testing.T, p *project, s *session) *session
	}{
		"in the middle of the answer": {"What is six times seven?", func(_ *testing.T, _ *project, s *session) *session {
			s.types("/swarm:inbox")
			s.asked("stuck")
			s.esc()
			s.types("Hello")
			s.ended()
			return s
		}},
		"before the first word of the answer": {"SILENT: what is six times seven?", func(_ *testing.T, _ *project, s *session) *session {
			s.types("/swarm:inbox")
			s.asked("silent")
			s.esc()
			s.types("Hello")
			s.ended()
			return s
		}},
		"while the command's lines run": {"What is six times seven?", func(t *testing.T, p *project, s *session) *session {
			p.write("hang", "")
			s.types("/swarm:inbox")
			p.until("the lines run, and the message is fetched", func() bool {
				claimed, _ := filepath.Glob(filepath.Join(p.dir, ".dead-drop/ada/cur/*.md"))
				return p.exists("hangs") && len(claimed) == 1
			})
			s.interrupt()
			if err := os.Remove(filepath.Join(p.dir, "hang")); err != nil {
				t.Fatal(err)
			}
			s.ended()
			s.types("Hello")
			s.ended()
			return s
		}},
		"and the session is cleared": {"What is six times seven?", func(_ *testing.T, _ *project, s *session) *session {
			s.types("/swarm:inbox")
			s.asked("stuck")
			s.esc()
			s.types("/clear")
			s.ended()
			s.types("Hello")
			s.ended()
			return s
		}},
		"and the session is killed": {"What is six times seven?", func(t *testing.T, p *project, s *session) *session {
			s.types("/swarm:inbox")
			s.asked("stuck")
			if err := s.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = s.cmd.Wait() // the error says that the client was killed
			next := p.session("next.jsonl")
			next.types("Hello")
			next.ended()
			return next
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, breaks, "  ada: {attached: true, attached_mail: notify}\n")
			p.swarm("init")
			p.swarm("attach")
			command := ".claude-swarm/attach/ada/commands/inbox.md"
			p.write(command, p.read(command)+"\n!`while [ -e hang ]; do touch hangs; sleep 0.1; done`\n")
			id := p.send("ada", c.question)
			s := c.breakOff(t, p, p.session("out.jsonl"))
			if !p.waits("ada", id) {
				t.Error("the message that was broken off does not wait")
			}
			if n := p.status().Lead.Unread; n != 0 {
				t.Errorf("the sender got %d answers, want none", n)
			}
			s.types("/swarm:inbox")
			s.ended()
			s.close()
			r := p.receipt("ada", id)
			if r.Text != "It is forty-two." {
				t.Errorf("receipt = %+v", r)
			}
			if n := p.status().Lead.Unread; n != 1 {
				t.Errorf("the sender got %d answers, want 1", n)
			}
		})
	}
}

// If a person types /inbox twice and interrupts the first, the second works on the same
// message, which is filed once.
func TestTwoFetchesInARow(t *testing.T) {
	t.Parallel()
	p := newProject(t, breaks, "  ada: {attached: true, attached_mail: notify}\n")
	p.swarm("init")
	p.swarm("attach")
	id := p.send("ada", "What is six times seven?")
	s := p.session("out.jsonl")
	s.types("/swarm:inbox")
	s.asked("stuck")
	s.esc()
	s.types("/swarm:inbox")
	s.ended()
	s.types("/swarm:inbox")
	s.ended()
	s.close()
	if r := p.receipt("ada", id); r.Text != "It is forty-two." || len(r.Attempts) != 2 || r.Attempts[0].Outcome != "stopped" {
		t.Errorf("receipt = %+v", r)
	}
	if n := p.status().Lead.Unread; n != 1 {
		t.Errorf("the sender got %d answers, want 1", n)
	}
}

// A prompt that a person types during a turn does not interrupt the turn. This applies
// both to a turn that /inbox started and to a turn that started at the end of another
// turn.
func TestAPromptInARunningTurn(t *testing.T) {
	t.Parallel()
	for mail, begin := range map[string]string{"notify": "/swarm:inbox", "continue": "Hello"} {
		t.Run(mail, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, `{"replies":[
				{"name":"slow","match":{"last_user_contains":"six times seven?"},
				 "content":[{"tool_use":{"id":"toolu_1","name":"Bash","input":{"command":"while [ ! -e go ]; do sleep 0.1; done","description":"wait"}}}]},
				{"name":"done","match":{"last_is_tool_result":true},"text":"It is forty-two."},
				{"name":"done","match":{"last_user_contains":"be quick"},"text":"It is forty-two."},
				{"name":"hello","match":{"last_user_contains":"Hello"},"text":"Hello to you."},
				{"name":"rest","times":-1,"text":"Nothing to do."}]}`, "  ada: {attached: true, attached_mail: "+mail+"}\n")
			p.swarm("init")
			p.swarm("attach")
			id := p.send("ada", "What is six times seven?")
			s := p.session("out.jsonl")
			s.types(begin)
			s.asked("slow")
			s.types("By the way, be quick")
			p.until("the client has taken that", func() bool {
				return strings.Contains(p.transcripts(), `"operation":"enqueue"`) && strings.Contains(p.transcripts(), "be quick")
			})
			p.write("go", "")
			s.asked("done")
			s.close()
			if r := p.receipt("ada", id); r.Text != "It is forty-two." || len(r.Attempts) != 1 {
				t.Errorf("receipt = %+v", r)
			}
		})
	}
}

// waits reports whether an agent's message is in new/.
func (p *project) waits(agent, id string) bool {
	found, _ := filepath.Glob(filepath.Join(p.dir, ".dead-drop", agent, "new/*"+id+"*"))
	return len(found) == 1
}

func (p *project) exists(name string) bool {
	_, err := os.Lstat(filepath.Join(p.dir, name))
	return err == nil
}

// transcripts returns the session files that the clients have written.
func (p *project) transcripts() string {
	var all strings.Builder
	files, _ := filepath.Glob(filepath.Join(p.home, ".claude/projects/*/*.jsonl"))
	for _, file := range files {
		if data, err := os.ReadFile(file); err == nil {
			all.Write(data)
		}
	}
	return all.String()
}
