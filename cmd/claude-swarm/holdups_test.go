package main

import (
	"bytes"
	"testing"
)

// A person who waits for an answer is told once why nobody works on the message, however
// often send looks.
func TestAHoldupIsSaidOnce(t *testing.T) {
	p, _ := projectWithMail(t, "{coder: }")
	var out bytes.Buffer
	h := &holdups{project: p, show: newProgress(&out), w: &out, said: map[string]string{}, agents: []string{"coder"}}
	for range 3 {
		h.look(t.Context())
	}
	if want := "claude-swarm: no daemon is running; the message is waiting\n  try: claude-swarm start\n"; out.String() != want {
		t.Errorf("after three looks it says %q, want %q", out.String(), want)
	}
}
