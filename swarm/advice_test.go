package swarm_test

import (
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
)

// In a turn's prompt, the advice precedes the message.
func TestAdviceComesWithATurn(t *testing.T) {
	f := newField(t, "coder")
	asked := make(chan swarm.Spec, 10)
	f.advise = func(s swarm.Spec) string {
		asked <- s
		if len(asked) == 1 {
			return "[CORRECTION] Look around."
		}
		return ""
	}
	f.plan.Agents[0].Tools = true // but no server offers the tools
	f.start()
	f.answer(f.send("coder", "@say first"))
	f.answer(f.send("coder", "@say second"))
	prompts := f.prompts()
	if len(prompts) != 2 || !strings.Contains(prompts[0], "turn for coder\n\n[CORRECTION] Look around.\n\nMessage ") || strings.Contains(prompts[1], "CORRECTION") {
		t.Errorf("the prompts: %q", prompts)
	}
	if n := len(asked); n != 2 {
		t.Errorf("asked %d times in 2 turns", n)
	}
	if s := <-asked; s.Name != "coder" || s.Tools {
		t.Errorf("asked for %+v", s)
	}
}

// An attached session gets the advice too.
func TestAdviceComesWithAnAttachedTurn(t *testing.T) {
	p := newAttached(t)
	var err error
	p.s, err = mail.OpenAttached(p.home, p.store, "ada", mail.AttachedOptions{Advise: func() string { return "Look around, ada." }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.s.Close)
	p.deliver(&dropbox.Message{Type: dropbox.Task, Body: []byte("first\n")})
	if r := p.stop(false, "hello"); !strings.Contains(r.Prompt, "\n\nLook around, ada.\n\nMessage ") {
		t.Errorf("the prompt: %s", r.Prompt)
	}
}
