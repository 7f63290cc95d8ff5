package mcpserver_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

func TestSend(t *testing.T) {
	p := newProject(t, nil)
	if err := os.WriteFile(filepath.Join(p.dir, "notes.txt"), []byte("see here\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, text := p.call("send", `{"to":"coder","text":"Do it","subject":" two\n words ","priority":"urgent","cc":["reviewer"],"attach":["notes.txt"],"key":"once"}`)
	if !strings.HasPrefix(text, "Sent: ") || !strings.Contains(text, "No daemon is running") {
		t.Errorf("text %q", text)
	}
	if note, _ := out["note"].(string); !strings.Contains(note, "No daemon is running") {
		t.Errorf("note %q, want that no daemon is running", note)
	}
	got := p.waiting("coder")
	if len(got) != 1 {
		t.Fatalf("%d messages wait for coder, want 1", len(got))
	}
	m := got[0]
	if m.From != dropbox.Lead || m.Type != dropbox.Task || m.Subject != "two words" || string(m.Body) != "Do it\n" || m.Priority != dropbox.Urgent || len(m.Attachments) != 1 {
		t.Errorf("message %+v", m)
	}
	tokens, err := p.home.Tokens()
	if err != nil || !dropbox.Proven(tokens[dropbox.Lead], m, "coder") {
		t.Errorf("the message is not proven (%v)", err)
	}
	if copies := p.waiting("reviewer"); len(copies) != 1 || copies[0].Type != dropbox.Note || copies[0].Thread != m.Thread {
		t.Errorf("copies %+v, want one note in the same thread", copies)
	}

	_, text = p.call("send", `{"to":"coder","text":"Do it","key":"once"}`)
	if !strings.Contains(text, "a duplicate of "+m.ID) || len(p.waiting("coder")) != 1 {
		t.Errorf("the second with the same key: %q", text)
	}
	out, _ = p.call("send", `{"to":"all","text":"Listen","type":"note","reply_to":"`+m.ID[5:]+`"}`)
	if sent := out["sent"].([]any); len(sent) != 2 {
		t.Errorf("sent to all: %v", sent)
	}
	last := p.waiting("coder")[1]
	if last.ReplyTo != m.ID || last.Thread != m.Thread || last.Trace != m.Trace {
		t.Errorf("it answers %s in %s, want %s in %s", last.ReplyTo, last.Thread, m.ID, m.Thread)
	}
	p.daemon = &daemon{}
	if out, _ := p.call("send", `{"to":"coder","text":"Do it"}`); out["note"] != nil {
		t.Errorf("note %v with a daemon", out["note"])
	}
	if err := p.store.Halt("test"); err != nil {
		t.Fatal(err)
	}
	if out, _ := p.call("send", `{"to":"coder","text":"Do it"}`); !strings.Contains(out["note"].(string), "halted") {
		t.Errorf("note %v, want that all is halted", out["note"])
	}
	if out, _ := p.call("send", `{"to":"lead","text":"For me"}`); out["note"] != nil {
		t.Errorf("note %v for mail that needs no daemon", out["note"])
	}
}

// The sender of an urgent message gets a note if the recipient's client will read the
// message only after the recipient's current turn.
func TestAnUrgentMessageThatWaits(t *testing.T) {
	const note = "The client of reviewer cannot read mail during a turn: it will read this after its turn."
	p := newProject(t, asAgent("coder"))
	p.daemon = idle()
	reviewer := &p.daemon.status.Agents[1]
	reviewer.State, reviewer.UrgentWaits, reviewer.Message = swarm.Working, true, &turn.MessageStatus{ID: "aaaaaaaaaa"}
	for arguments, want := range map[string]string{
		`{"to": "reviewer", "text": "stop", "priority": "urgent"}`:                 note,
		`{"to": "reviewer", "text": "stop"}`:                                       "",
		`{"to": "reviewer", "text": "stop", "priority": "urgent", "type": "note"}`: "",
		`{"to": "lead", "text": "stop", "priority": "urgent"}`:                     "",
	} {
		got, text := p.call("send", arguments)
		if said, _ := got["note"].(string); said != want || want != "" && !strings.Contains(text, want) {
			t.Errorf("send %s: note %q in %q, want %q", arguments, said, text, want)
		}
	}
}
