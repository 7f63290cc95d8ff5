package bridge

import (
	"slices"
	"testing"
	"time"
)

// People are told once for each connection that a time is missing, only where a person has
// spoken, and not about a time before the bridge was there.
func TestAGapIsToldWhereSomebodySpoke(t *testing.T) {
	r, _ := newListener(t, "irc.example", Options{})
	at := func(clock string) time.Time {
		when, err := time.Parse("2006-01-02 15:04:05", "2026-11-20 "+clock)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	for _, l := range []Line{
		{At: at("12:00:00"), Channel: "#project-x", Nick: "lead", Text: "begin", Drop: "aaaaaaaaaa"},
		{At: at("12:01:00"), Channel: "#project-x", Nick: "ann", Text: "hello"},
		{At: at("12:01:00"), Channel: "#alerts", Nick: "coder", Text: "done", Drop: "bbbbbbbbbb"},
		{At: at("12:01:00"), Channel: "#alerts", Nick: "swarm", Text: "ann: fine", Own: true},
		{At: at("12:01:00"), Channel: "#alerts", Nick: "coder", Text: "by its own nick"},
		{At: at("12:01:00"), Channel: "#alerts", Nick: "server", Text: "on TLS", Notice: true},
	} {
		r.rec.keep(l)
	}
	for _, c := range []struct {
		channel  string
		from, to string
		since    string
		spoken   bool
	}{
		{"#project-x", "11:58:00", "13:10:07", "12:00:00", true}, // begins when the bridge came
		{"#PROJECT-x", "13:20:00", "13:30:00", "13:20:00", true}, // told for this connection
		{"#alerts", "12:05:00", "13:10:00", "12:05:00", false},   // nobody spoke but the bridge, an agent and the server
		{"#empty", "12:05:00", "13:10:00", "12:05:00", false},
	} {
		if since, spoken := r.Missed(c.channel, at(c.from), at(c.to)); !since.Equal(at(c.since)) || spoken != c.spoken {
			t.Errorf("Missed(%s, %s) = %v, %v, want %s, %v", c.channel, c.from, since, spoken, c.since, c.spoken)
		}
	}
	want := []string{"I do not know what was said here from 12:00 to 13:10 UTC. Say again what an agent should know."}
	if got := r.told(t, "#project-x"); !slices.Equal(got, want) {
		t.Errorf("in the channel, people were told %q, want %q", got, want)
	}
	if got := r.told(t, "#alerts"); !slices.Equal(got, []string{"ann: fine"}) {
		t.Errorf("in #alerts, people were told %q", got)
	}
	if got := span(at("12:00:01"), at("12:00:05")); got != "from 12:00:01 to 12:00:05" {
		t.Errorf("a short span is %q", got)
	}
	if got := span(at("23:59:01"), at("23:59:01").Add(time.Hour)); got != "from Nov 20 23:59 to Nov 21 00:59" {
		t.Errorf("a span over midnight is %q", got)
	}
}
