package e2e_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// If there is a follower when an agent's turn begins, the feed delivers the text while the
// client is writing it. A follower that connects later gets the text from the beginning.
// If there is no follower, the stored stream contains no pieces of text, only complete
// lines.
func TestTextIsToldWhileItIsWritten(t *testing.T) {
	t.Parallel()
	text := strings.TrimSpace(strings.Repeat("the quick brown fox ", 40))
	p := newProject(t, `{"replies":[{"chunk_runes":10,"chunk_delay_ms":50,"text":"`+text+`"}]}`, "  coder: {}\n")
	p.start()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	listen := func() *control.Stream {
		t.Helper()
		client, err := control.Dial(ctx, p.dir, "test", p.variable, "")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { client.Close() })
		s, err := client.Subscribe(ctx, swarm.Filter{Agent: "coder", Text: true})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	// rest reads the feed up to the event with the complete text. It returns the joined
	// pieces of text before that event, and the number of pieces.
	rest := func(s *control.Stream) (said string, pieces int) {
		t.Helper()
		for {
			ev, err := s.Next(ctx)
			if err != nil {
				t.Fatalf("after %q: %v", said, err)
			}
			switch {
			case ev.Kind == swarm.FeedPartial:
				said, pieces = said+ev.Text, pieces+1
			case ev.Kind == swarm.FeedLine && strings.Contains(ev.Text, "  the quick"):
				return said, pieces
			}
		}
	}

	early := listen()
	id := p.send("coder", "go")
	for n := 0; n < 3; {
		ev, err := early.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if ev.Kind == swarm.FeedPartial {
			n++
		}
	}
	if a := p.agent("coder"); !a.Streams {
		t.Errorf("the status says that the turn of coder does not stream: %+v", a)
	}
	late := listen()
	if said, pieces := rest(late); said != text || pieces < 2 {
		t.Errorf("the later follower got %q in %d pieces, want the whole text in several", said, pieces)
	}
	if _, pieces := rest(early); pieces < 2 {
		t.Errorf("the first follower got %d further pieces, want several", pieces)
	}
	p.receipt("coder", id)
	early.Close()
	late.Close()

	alone := p.send("coder", "again")
	p.receipt("coder", alone)
	for message, want := range map[string]bool{id: true, alone: false} {
		data, err := os.ReadFile(filepath.Join(p.dir, ".claude-swarm/turns", message+"-1.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(data), `"type":"stream_event"`); got != want {
			t.Errorf("the stream of %s has pieces: %v, want %v", message, got, want)
		}
	}
}

// variable returns the value of a variable in the environment of the project's programs.
func (p *project) variable(name string) string {
	for _, v := range p.env {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}
