package swarm_test

import (
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
)

// The test calls the hooks of a session in the order in which Claude Code 2.1.197 and
// 2.1.330 call them. A step is a hook with the id of its prompt. The steps expand and
// submit receive a prompt, and fetch is a ! line of /inbox without an id. The step stop
// ends a turn, give ends a turn after which the Stop hook gives the session its next
// message, and again ends a turn that the Stop hook itself began. After the id, a step may
// list the sub-agents that are still working when the turn ends. "<a" marks the prompt with
// which the client reports the end of the sub-agent a. "clear" ends the session's
// conversation and begins another one in the same process. "begin s2" begins another
// session without a hook that reports the end of the first. "end" ends the session.
func TestTheOrderOfHooks(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for name, c := range map[string]struct {
		steps    string
		answered bool   // whether the turn that worked on the message answered it
		words    string // the answer must contain the words of this prompt's turn; "" means not checked
	}{
		"2.1.197: done":                              {"expand p1, fetch, submit p1, stop p1", true, ""},
		"2.1.330: done":                              {"submit p1, expand p1, fetch, stop p1", true, ""},
		"2.1.197: done after another prompt":         {"submit p0, stop p0, expand p1, fetch, submit p1, stop p1", true, ""},
		"2.1.330: done after another prompt":         {"submit p0, stop p0, submit p1, expand p1, fetch, stop p1", true, ""},
		"2.1.330: a prompt while the turn runs":      {"submit p1, expand p1, fetch, submit p1, stop p1", true, ""},
		"2.1.197: queued behind the turn":            {"expand p1, fetch, submit p1, stop p1, submit p2, stop p2", true, ""},
		"the model itself fetches":                   {"submit p1, fetch, stop p1", true, ""},
		"a Stop hook of others goes on":              {"submit p1, expand p1, fetch, again p1", true, ""},
		"2.1.197: Esc, another prompt":               {"expand p1, fetch, submit p1, submit p2, stop p2", false, ""},
		"2.1.330: Esc, another prompt":               {"submit p1, expand p1, fetch, submit p2, stop p2", false, ""},
		"2.1.197: Esc during the ! lines":            {"expand p1, fetch, submit p2, stop p2", false, ""},
		"2.1.197: Esc, then a slash command":         {"expand p1, fetch, submit p1, expand p2, submit p2, stop p2", false, ""},
		"Esc, a Stop hook of others goes on":         {"submit p1, expand p1, fetch, submit p2, again p2", false, ""},
		"Esc, and the next prompt is not told of":    {"submit p1, expand p1, fetch, stop p2", false, ""},
		"Esc, the next prompt goes on, untold":       {"submit p1, expand p1, fetch, again p2", false, ""},
		"the model fetches, Esc, another prompt":     {"submit p1, fetch, submit p2, stop p2", false, ""},
		"Esc, /clear, another prompt":                {"submit p1, expand p1, fetch, clear, submit p2, stop p2", false, ""},
		"Esc, /clear without its end":                {"submit p1, expand p1, fetch, begin s2, stop p1", false, ""},
		"no prompt is ever told of":                  {"fetch, stop p1", false, ""},
		"a client that names no prompt":              {"submit , fetch, submit , stop ", false, ""},
		"the session ends in the turn":               {"submit p1, expand p1, fetch, end", false, ""},
		"begun by the Stop hook: done":               {"submit p0, give p0, again p0", true, ""},
		"begun by the Stop hook, a prompt meanwhile": {"submit p0, give p0, submit p0, again p0", true, ""},
		"a sub-agent: its end":                       {"submit p1, fetch, stop p1 a, submit p2 <a, stop p2", true, "p2"},
		"a sub-agent, fetched before":                {"submit p0, stop p0 a, submit p1, fetch, stop p1 a", true, "p1"},
		"a sub-agent of before ends meanwhile":       {"submit p0, stop p0 a, submit p1, fetch, stop p1 a b, submit p2 <a, stop p2 b, submit p3 <b, stop p3", true, "p3"},
		"begun by the Stop hook: a sub-agent":        {"submit p0, give p0, again p0 a, submit p1 <a, stop p1", true, "p1"},
		"two sub-agents":                             {"submit p0, give p0, again p0 a b, submit p1 <b, stop p1 a, submit p2 <a, stop p2", true, "p2"},
		"a sub-agent, a prompt beside it":            {"submit p0, give p0, again p0 a, submit p1, stop p1 a, submit p2 <a, stop p2", true, "p2"},
		"a sub-agent ends in another prompt's turn":  {"submit p0, give p0, again p0 a, submit p1, submit p1 <a, stop p1", true, "p1"},
		"a sub-agent ends behind another's turn":     {"submit p0, give p0, again p0 a, submit p1, stop p1, submit p2 <a, stop p2", true, "p2"},
		"a sub-agent: Esc in the turn of its end":    {"submit p0, give p0, again p0 a, submit p1 <a, submit p2, stop p2", false, ""},
		"a sub-agent that is ended without a word":   {"submit p0, give p0, again p0 a, submit p1, stop p1, submit p2, stop p2", false, ""},
		"a sub-agent, and the session ends":          {"submit p0, give p0, again p0 a, end", false, ""},
		"a sub-agent, and the session is cleared":    {"submit p0, give p0, again p0 a, clear, submit p2, stop p2", false, ""},
		"begun by the Stop hook: Esc":                {"submit p0, give p0, submit p1, stop p1", false, ""},
		"begun by the Stop hook: Esc, untold":        {"submit p0, give p0, again p1", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := newAttached(t)
			id := p.deliver(&dropbox.Message{Type: dropbox.Task, Body: []byte("a task\n")})
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			session := "s1"
			for step := range strings.SplitSeq(c.steps, ", ") {
				verb, arg, _ := strings.Cut(step, " ")
				arg, more, _ := strings.Cut(arg, " ") // the working sub-agents, or the one whose end the prompt reports
				text := ""
				if id, ok := strings.CutPrefix(more, "<"); ok {
					text = "<task-notification>\n<task-id>" + id + "</task-id>\n"
				}
				switch verb {
				case "expand", "submit":
					must(p.s.Prompted(p.hook, session, arg, text))
				case "fetch":
					if got, err := p.s.Fetch(p.hook, session, false); err != nil || !strings.Contains(got, "a task") {
						t.Fatalf("Fetch = %q, %v", got, err)
					}
				case "stop", "again", "give":
					_, err := p.s.Stop(mail.StopEvent{PID: p.hook, Session: session, Prompt: arg, Active: verb == "again", Tasks: strings.Fields(more), Last: "said in " + arg, Continue: verb == "give", Cap: 8})
					must(err)
				case "clear":
					must(p.s.End(p.hook))
					session = "s2"
					_, err := p.s.Begin(p.hook, session)
					must(err)
				case "begin":
					session = arg
					_, err := p.s.Begin(p.hook, session)
					must(err)
				case "end":
					must(p.s.End(p.hook))
				}
			}
			answer, waits := p.answerTo(id), p.count("ada/new/*"+id+"*") == 1
			if (answer != nil) != c.answered || waits == c.answered {
				t.Errorf("after %s: answer %+v, waits %v; want answered %v", c.steps, answer, waits, c.answered)
			}
			if c.words != "" && answer != nil && strings.TrimSpace(string(answer.Body)) != "said in "+c.words {
				t.Errorf("after %s: the answer is %q, want what was said in %s", c.steps, answer.Body, c.words)
			}
		})
	}
}

// A hook may be killed between the claim and the session's record of it, for example by Esc
// while the client runs the ! lines. In this case the message remains in cur/, and the next
// hook puts it back.
func TestAFetchThatWasKilled(t *testing.T) {
	p := newAttached(t)
	id := p.deliver(&dropbox.Message{Type: dropbox.Task, Body: []byte("a task\n")})
	if err := p.s.Prompted(p.hook, "s", "p1", ""); err != nil {
		t.Fatal(err)
	}
	box, err := p.store.Mailbox("ada")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := box.List()
	if err != nil || len(entries) != 1 {
		t.Fatalf("List = %v, %v", entries, err)
	}
	if _, err := box.Claim(entries[0]); err != nil {
		t.Fatal(err)
	}
	if got, err := p.s.Fetch(p.hook, "s", false); err != nil || !strings.Contains(got, "a task") {
		t.Errorf("Fetch = %q, %v, want %s", got, err, id)
	}
}
