package client_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/client"
)

// An agent can ask the bridge to join any channel, but to leave only one that the
// configuration does not name: there, people write to the agents.
func TestTheBridgeStaysInAConfiguredChannel(t *testing.T) {
	s := newSwarm(t, "coder")
	chat := s.as("coder").Chat()
	if _, _, err := chat.Tell(bridge.DoPart, "#Ops", ""); !is[*client.StaysError](err) {
		t.Errorf("leaving a configured channel: %v, want a StaysError", err)
	}
	if got, _ := s.onIRC(t); len(got) != 0 {
		t.Errorf("the bridge gets %+v", got)
	}
	for _, x := range []struct {
		do       bridge.Do
		name, at string
		text     string
		want     string
	}{
		{bridge.DoJoin, "ops", "#ops", "", string(bridge.DoJoin) + " #ops\n"},
		{bridge.DoPart, "other", "#other", "", string(bridge.DoPart) + " #other\n"},
		{bridge.DoTopic, "", "#dev", "the release", "the release\n"},
	} {
		if _, at, err := chat.Tell(x.do, x.name, x.text); err != nil || at != x.at {
			t.Errorf("%s %s: at %q, %v, want %s", x.do, x.name, at, err, x.at)
			continue
		}
		got, texts := s.onIRC(t)
		if last := len(got) - 1; got[last].Do != x.do || got[last].Channel != x.at || texts[last] != x.want {
			t.Errorf("%s %s: the bridge gets %+v %q", x.do, x.name, got[last], texts[last])
		}
	}
}

// A question to the first who answers goes to each of several places; any other question
// goes to one.
func TestAQuestionToSeveralPlaces(t *testing.T) {
	s := newSwarm(t, "coder")
	chat := s.as("coder").Chat()
	ask := func(to, answerers string) (*client.Inquired, error) {
		return chat.Inquire(client.Inquiry{To: to, Text: "Which port?", Answerers: answerers, Patience: time.Minute})
	}
	for _, to := range []string{"#dev,#ops", "#dev, #dev", "", " , "} {
		answerers := client.ByFirst
		if to == "#dev,#ops" {
			answerers = client.ByHuman
		} else if to == "" {
			to = ","
		}
		if in, err := ask(to, answerers); err == nil {
			t.Errorf("asking %q by %s: %+v, want an error", to, answerers, in)
		}
	}
	if got, _ := s.onIRC(t); len(got) != 0 {
		t.Fatalf("questions that were refused reached the bridge: %+v", got)
	}
	in, err := ask("#dev, ops", client.ByFirst)
	if err != nil || !slices.Equal(in.At, []string{"#dev", "#ops"}) || len(in.Sent) != 2 {
		t.Fatalf("Inquire = %+v, %v", in, err)
	}
	var asked, alerts []string
	got, texts := s.onIRC(t)
	for i, o := range got {
		if o.Announces == bridge.Alert {
			alerts = append(alerts, o.Channel)
		} else if asked = append(asked, o.Channel); texts[i] != "Which port?\n" {
			t.Errorf("%s is asked %q", o.Channel, texts[i])
		}
	}
	if !slices.Equal(asked, in.At) || !slices.Equal(alerts, []string{"#alerts"}) {
		t.Errorf("asked in %q, alerts in %q, want each once, and one alert", asked, alerts)
	}
}

// The first answer ends a question, and the other places are told.
func TestTheFirstAnswerCounts(t *testing.T) {
	s := newSwarm(t, "coder")
	in, err := s.as("coder").Chat().Inquire(client.Inquiry{To: "#dev,#ops", Text: "Which port?", Answerers: client.ByFirst, Patience: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	lead := s.as(dropbox.Lead)
	forged := &dropbox.Message{From: dropbox.Lead, To: []string{"coder"}, Type: dropbox.Result, ReplyTo: in.Sent[1].ID, Body: []byte("1\n")}
	if _, err := s.Store.Deliver("coder", forged); err != nil {
		t.Fatal(err)
	}
	if _, err := lead.Send(&dropbox.Message{To: []string{"coder"}, Type: dropbox.Result, ReplyTo: in.Sent[1].ID, Body: []byte("8080\n")}); err != nil {
		t.Fatal(err)
	}
	got, err := in.Await(t.Context())
	if err != nil || string(got.Body) != "8080\n" || got.At != "#ops" || got.By.Nick != dropbox.Lead || got.Note != "" {
		t.Fatalf("Await = %+v, %v, want the proven answer in #ops", got, err)
	}
	told := map[string]int{}
	origins, texts := s.onIRC(t)
	for i, o := range origins {
		if strings.Contains(texts[i], "has already answered "+in.Sent[0].ID+", in #ops") {
			told[o.Channel]++
		}
	}
	if len(told) != 1 || told["#dev"] != 1 {
		t.Errorf("told in %v, want once in #dev", told)
	}
	if left := s.waiting(t, "coder"); len(left) != 1 || left[0].Proof != "" {
		t.Errorf("%d messages are left, want only the forged one", len(left))
	}
}

// If nobody answers a question in time, the asker continues and people learn of it. A
// caller that gives up itself gets its own error.
func TestAQuestionThatNobodyAnswers(t *testing.T) {
	s := newSwarm(t, "coder")
	ask := func(patience time.Duration) *client.Inquired {
		t.Helper()
		in, err := s.as("coder").Chat().Inquire(client.Inquiry{To: "#dev", Text: "Which port?", Patience: patience})
		if err != nil {
			t.Fatal(err)
		}
		return in
	}
	timeouts := func() (n int) {
		_, texts := s.onIRC(t)
		for _, text := range texts {
			if strings.HasPrefix(text, "[TIMEOUT] coder got no answer to \"Which port?\" in #dev") {
				n++
			}
		}
		return n
	}
	if got, err := ask(time.Millisecond).Await(t.Context()); got != nil || err != nil || timeouts() != 1 {
		t.Errorf("Await = %+v, %v and %d notices, want no answer and one notice", got, err, timeouts())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := ask(time.Minute).Await(ctx); got != nil || err != context.Canceled || timeouts() != 1 {
		t.Errorf("Await = %+v, %v and %d notices, want %v and no other notice", got, err, timeouts(), context.Canceled)
	}
}
