package ircbridge_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/testkit/irctest"
)

// threaded returns the answers that a person has seen, each with the id of the line that
// it answers, as "target text <- id".
func (p *person) threaded() (all []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.seen {
		if id, ok := m.Tags["+draft/reply"]; ok && m.Command == "PRIVMSG" {
			all = append(all, m.Param(0)+" "+m.Last()+" <- "+id)
		}
	}
	return all
}

// If the server accepts tags, an answer contains the id of the line that it answers, so
// that a client can show both together.
func TestAnswersNameWhatTheyAnswer(t *testing.T) {
	for name, addr := range map[string]func(*testing.T) string{
		"inspircd":          func(t *testing.T) string { return irctest.Inspircd(t, irctest.Unlimited) },
		"all that there is": func(t *testing.T) string { return irctest.NewServer(t, irctest.Features{}).Addr },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, addr(t))
			s.start()
			s.ready()
			ann := newPerson(t, s.o.Server.Addr, "ann", "#project-x")
			joe := newPerson(t, s.o.Server.Addr, "joe", "#project-x")
			eventually(t, "they meet", func() bool { nicks, _, _ := ann.conn.Members("#project-x"); return slices.Contains(nicks, "joe") })
			ask := func(target, text string) (id string) {
				t.Helper()
				d := ann.conn.Send(target, text)
				if err := d.Wait(t.Context()); err != nil {
					t.Fatal(err)
				}
				if id = d.Pieces()[0].MsgID; id == "" {
					t.Fatalf("%q has no id", text)
				}
				return id
			}
			first := ask("#project-x", "coder: how is it going?")
			one := s.mail("coder", 1)[0]
			second := ask("#project-x", "TASK: coder paint it")
			two := s.mail("coder", 2)[1]
			s.where(s.leave(&dropbox.Message{From: "coder", Type: dropbox.Result, ReplyTo: two.ID, Body: []byte("painted\ntwice")}), dropbox.Done)
			s.where(s.leave(&dropbox.Message{From: "coder", Type: dropbox.Result, ReplyTo: one.ID, Body: []byte("half way")}), dropbox.Done)
			s.where(s.say("coder", bridge.Origin{}, "nobody asked"), dropbox.Done)
			order := ask("#project-x", "swarm: who")
			private := ask("swarm", "help")
			want := []string{
				"#project-x [coder] ann: half way <- " + first, "#project-x [coder] ann: painted <- " + second,
				"#project-x ann: coder has it, 1 before it. <- " + second,
				"#project-x ann: Agents: coder, tester <- " + order, "ann help <- " + private,
			}
			got := func() []string {
				all := ann.threaded()
				for i := range all { // with multiline messages, the help is one message
					text, id, _ := strings.Cut(all[i], " <- ")
					text, _, _ = strings.Cut(text, "\n")
					if strings.HasPrefix(text, "ann ") {
						text = "ann help" // the first of many lines
					}
					all[i] = text + " <- " + id
				}
				slices.Sort(all)
				return all
			}
			slices.Sort(want)
			eventually(t, "the answers", func() bool { return len(got()) >= len(want) }, func() string { return strings.Join(ann.lines(), "\n") })
			if all := got(); !slices.Equal(all, want) {
				t.Errorf("threaded %q, want %q", all, want)
			}
			if all := joe.threaded(); len(all) != 4 {
				t.Errorf("joe sees %q", all)
			}
		})
	}
}
