package bridge

import (
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// Only copies that nobody is waiting for can be left out.
func TestPassing(t *testing.T) {
	for _, tc := range []struct {
		what string
		m    dropbox.Message
		n    Origin
		want bool
	}{
		{"a turn began", dropbox.Message{Type: dropbox.Task, Priority: dropbox.Low}, Origin{About: "a", To: "coder", Announces: Begun}, true},
		{"a turn failed", dropbox.Message{Type: dropbox.Status, Priority: dropbox.Low}, Origin{About: "a", To: "coder", Announces: Failed}, true},
		{"what the lead sent", dropbox.Message{Type: dropbox.Task, Priority: dropbox.Low}, Origin{About: "a", To: "coder"}, true},
		{"a result among agents", dropbox.Message{Type: dropbox.Result, Priority: dropbox.Low}, Origin{About: "a", To: "tester", Announces: Ended}, true},
		{"a result for the lead", dropbox.Message{Type: dropbox.Result, Priority: dropbox.Low}, Origin{About: "a", To: dropbox.Lead, Announces: Ended}, false},
		{"a result for somebody on IRC", dropbox.Message{Type: dropbox.Result, Priority: dropbox.Low}, Origin{About: "a", To: "irc", Announces: Ended}, false},
		{"a task is complete", dropbox.Message{Type: dropbox.Note, Priority: dropbox.Low}, Origin{About: "a", To: dropbox.Lead, Announces: Alert}, false},
		{"an alert", dropbox.Message{Type: dropbox.Status}, Origin{About: "a", Announces: Alert}, false},
		{"a dead letter", dropbox.Message{Type: dropbox.Status, Priority: dropbox.Low}, Origin{About: "a", Announces: GivenUp}, false},
		{"mail for the lead", dropbox.Message{Type: dropbox.Result}, Origin{About: "a", To: dropbox.Lead}, false},
		{"a question", dropbox.Message{Type: dropbox.Question, Priority: dropbox.Low}, Origin{About: "a", To: "coder"}, false},
		{"a channel to join", dropbox.Message{Type: dropbox.Note, Priority: dropbox.Low}, Origin{Do: DoJoin, About: "a"}, false},
		{"an agent's own words", dropbox.Message{Type: dropbox.Note, Priority: dropbox.Low}, Origin{Channel: "#c"}, false},
	} {
		if got := passing(&tc.m, tc.n, "irc"); got != tc.want {
			t.Errorf("%s: passing = %v, want %v", tc.what, got, tc.want)
		}
	}
}

func TestFoldedText(t *testing.T) {
	for want, announcements := range map[string][]Announcement{
		"1 turn began while IRC was away: claude-swarm history AGENT\n":                                       {Begun},
		"2 turns began while IRC was away: claude-swarm history AGENT\n":                                      {Begun, Begun},
		"1 other message was sent while IRC was away: claude-swarm history AGENT\n":                           {Said},
		"1 turn began and 2 other messages were sent while IRC was away: claude-swarm history AGENT\n":        {Said, Begun, Said},
		"1 turn began, 1 ended and 1 other message was sent while IRC was away: claude-swarm history AGENT\n": {Begun, Ended, Said},
		"1 turn ended while IRC was away: claude-swarm history AGENT\n":                                       {Failed},
		"1 turn began and 2 ended while IRC was away: claude-swarm history AGENT\n":                           {Ended, Begun, Failed},
		"2 turns began and 1 ended while IRC was away: claude-swarm history AGENT\n":                          {Ended, Begun, Begun},
	} {
		var list []waiter
		for _, m := range announcements {
			list = append(list, waiter{destination: destination{announces: m}})
		}
		if got := foldedText(list, "IRC"); got != want {
			t.Errorf("foldedText(%q) = %q, want %q", announcements, got, want)
		}
	}
}
