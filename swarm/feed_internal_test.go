package swarm

import (
	"strings"
	"testing"
)

// A listener that joins while an agent is writing gets the agent's text from the
// beginning.
func TestALateListenerGetsTheOpenText(t *testing.T) {
	piece := func(agent, text string) FeedEvent {
		return FeedEvent{Kind: FeedPartial, Agent: agent, ID: "k7f3q9m2xd", Text: text}
	}
	for name, tc := range map[string]struct {
		before []FeedEvent
		filter Filter
		want   string // the text of the events, in order
	}{
		"from its beginning":     {[]FeedEvent{piece("ada", "he"), piece("ada", "l")}, Filter{Agent: "ada", Text: true}, "hel lo"},
		"of each agent":          {[]FeedEvent{piece("bob", "he")}, Filter{Text: true}, "he lo"},
		"of that agent alone":    {[]FeedEvent{piece("bob", "he")}, Filter{Agent: "ada", Text: true}, "lo"},
		"nobody who wants lines": {[]FeedEvent{piece("ada", "he")}, Filter{Agent: "ada"}, ""},
		"its line is written":    {[]FeedEvent{piece("ada", "he"), {Kind: FeedLine, Agent: "ada"}, piece("ada", "l")}, Filter{Text: true}, "l lo"},
		"the turn has ended":     {[]FeedEvent{piece("ada", "he"), {Kind: FeedTurn, Agent: "ada"}}, Filter{Text: true}, "lo"},
		"a line of another":      {[]FeedEvent{piece("ada", "he"), {Kind: FeedLine, Agent: "bob"}}, Filter{Text: true}, "he lo"},
		"a huge one":             {[]FeedEvent{piece("ada", strings.Repeat("a", maxOpenText)), piece("ada", "b"), piece("ada", "c")}, Filter{Text: true}, "lo"},
	} {
		t.Run(name, func(t *testing.T) {
			f := new(feed)
			for _, ev := range tc.before {
				f.publish(ev)
			}
			s := f.subscribe(tc.filter)
			defer s.Close()
			f.publish(piece("ada", "lo"))
			var got []string
			for _, ev := range s.Take() {
				if ev.Kind != FeedPartial || ev.ID != "k7f3q9m2xd" {
					t.Errorf("event %+v, want a piece of the message's text", ev)
				}
				got = append(got, ev.Text)
			}
			if got := strings.Join(got, " "); got != tc.want {
				t.Errorf("a listener got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestFeedDropsTheOldestForASlowReader(t *testing.T) {
	var f feed
	s := f.subscribe(Filter{})
	defer s.Close()
	for n := range feedQueue + 10 {
		f.publish(FeedEvent{Kind: FeedLine, Count: n})
	}
	got := s.Take()
	if len(got) != feedQueue+1 || got[0].Kind != FeedLost || got[0].Count != 10 || got[1].Count != 10 {
		t.Errorf("%d events, the first %+v, then %+v", len(got), got[0], got[1])
	}
	if f.wanted(FeedPartial, "coder") || !f.wanted(FeedLine, "coder") {
		t.Error("a plain subscription does not ask for lines only")
	}
}
