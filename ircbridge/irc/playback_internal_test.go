package irc

import (
	"testing"
	"time"
)

// A playback whose end was lost does not make a channel deaf for good.
func TestAPlaybackWithoutAnEndEnds(t *testing.T) {
	now := time.Now()
	p := playbacks{}
	said := Message{Source: "bob!b@c", Command: "PRIVMSG", Params: []string{"#room", "hello"}}
	p.old("#room", Message{Source: "***!znc@znc.in", Command: "PRIVMSG", Params: []string{"#room", "Buffer Playback..."}}, now)
	for _, c := range []struct {
		after time.Duration
		old   bool
	}{{time.Second, true}, {playbackPause, true}, {2*playbackPause + time.Second, false}, {2*playbackPause + 2*time.Second, false}} {
		if got := p.old("#room", said, now.Add(c.after)); got != c.old {
			t.Errorf("%v after the beginning: old %t, want %t", c.after, got, c.old)
		}
	}
}
