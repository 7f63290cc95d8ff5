package view_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// family returns a task, a question sent during its turn, the answer, the result, and the
// copy of the result for IRC.
func family(at time.Time) []*view.TracedMessage {
	second := func(n int) time.Time { return at.Add(time.Duration(n) * time.Second) }
	return []*view.TracedMessage{
		{ID: "copycopyco", Copy: true, About: "resultresu", Created: second(10)},
		{ID: "resultresu", ReplyTo: "tasktaskta", Turn: "tasktaskta-1", Created: second(9)},
		{ID: "answeransw", ReplyTo: "questionqu", Turn: "questionqu-1", Created: second(5)},
		{ID: "tasktaskta", Created: second(0),
			Attempts: []journal.Attempt{
				{Start: second(1), End: second(2), Outcome: "failed", Reason: "the API is overloaded", CostUSD: 0.01},
				{Start: second(3), End: second(8), Outcome: "done", Reason: "end_turn", CostUSD: 0.04},
			},
			Receipt: &journal.Receipt{Outcome: "done", ToolCalls: 5, Compactions: 1, Sent: []string{"questionqu"}}},
		{ID: "questionqu", Created: second(4),
			Attempts: []journal.Attempt{{Start: second(4), End: second(12), Outcome: "done", CostUSD: 0.02}}},
	}
}

func TestTraceAddsUp(t *testing.T) {
	at := time.Date(2026, 11, 21, 5, 12, 0, 0, time.UTC)
	trace := view.NewTrace("tasktaskta", family(at))
	want := &view.Trace{V: 1, Trace: "tasktaskta", Turns: 3, CostUSD: 0.07, Began: at, Ended: at.Add(12 * time.Second), Copies: 1}
	if diff := cmp.Diff(want, trace, cmpopts.IgnoreFields(view.Trace{}, "Messages", "Roots"), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Errorf("the trace (-want +got):\n%s", diff)
	}
	var list []string
	var walk func(in string, below []*view.TracedMessage)
	walk = func(in string, below []*view.TracedMessage) {
		for _, m := range below {
			list = append(list, in+m.ID)
			walk(in+"  ", m.Below)
		}
	}
	walk("", trace.Roots)
	if diff := cmp.Diff([]string{"tasktaskta", "  questionqu", "    answeransw", "  resultresu", "    copycopyco"}, list); diff != "" {
		t.Errorf("the tree (-want +got):\n%s", diff)
	}
}

func TestTurnsOfAMessage(t *testing.T) {
	at := time.Date(2026, 11, 21, 5, 12, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		message view.TracedMessage
		want    []view.TracedTurn
	}{
		"none, and a receipt": {view.TracedMessage{Receipt: &journal.Receipt{ToolCalls: 3}}, []view.TracedTurn{}},
		"no receipt": {
			view.TracedMessage{Attempts: []journal.Attempt{{Start: at, Outcome: "failed", Reason: "no space"}}},
			[]view.TracedTurn{{Attempt: journal.Attempt{Start: at, Outcome: "failed", Reason: "no space"}}},
		},
		"a failure, then done": {*family(at)[3], []view.TracedTurn{
			{Attempt: journal.Attempt{Start: at.Add(time.Second), End: at.Add(2 * time.Second), Outcome: "failed", Reason: "the API is overloaded", CostUSD: 0.01}},
			{Attempt: journal.Attempt{Start: at.Add(3 * time.Second), End: at.Add(8 * time.Second), Outcome: "done", CostUSD: 0.04}, ToolCalls: 5, Compactions: 1},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.message.Turns()); diff != "" {
				t.Errorf("Turns (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTraceParents(t *testing.T) {
	at := time.Date(2026, 11, 21, 5, 12, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		messages []*view.TracedMessage
		want     map[string]string // the parent of each message, by message id
	}{
		"what a turn sent": {family(at), map[string]string{
			"tasktaskta": "", "questionqu": "tasktaskta", "answeransw": "questionqu", "resultresu": "tasktaskta", "copycopyco": "resultresu",
		}},
		"what came first is not below what came later": {[]*view.TracedMessage{
			{ID: "a", ReplyTo: "b", Created: at},
			{ID: "b", ReplyTo: "a", Created: at.Add(time.Second)},
		}, map[string]string{"a": "", "b": "a"}},
		"two that name each other at one moment": {[]*view.TracedMessage{
			{ID: "a", ReplyTo: "b", Created: at},
			{ID: "b", ReplyTo: "a", Created: at},
		}, map[string]string{"a": "b", "b": ""}},
		"itself":              {[]*view.TracedMessage{{ID: "a", ReplyTo: "a", Created: at}}, map[string]string{"a": ""}},
		"one that was purged": {[]*view.TracedMessage{{ID: "a", ReplyTo: "gone", Created: at}}, map[string]string{"a": ""}},
	} {
		t.Run(name, func(t *testing.T) {
			got := map[string]string{}
			for _, m := range view.NewTrace("x", tc.messages).Messages {
				got[m.ID] = m.Parent
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("parents (-want +got):\n%s", diff)
			}
		})
	}
}

// In the tree, the offers of a publication are below it, regardless of whether a person or
// an agent in a turn published it.
func TestOffersAreBranchesOfTheirPublication(t *testing.T) {
	at := time.Date(2026, 11, 21, 5, 12, 0, 0, time.Local)
	for _, turn := range []string{"", "tasktaskta-1"} {
		messages := []*view.TracedMessage{
			{ID: "tasktaskta", From: "lead", To: "boss", Created: at.Add(-time.Second)},
			{ID: "publishpub", From: "boss", To: "topics", Turn: turn, Created: at},
			{ID: "offeroffer", From: "boss", To: "coder", Turn: turn, Offer: "publishpub", Created: at.Add(time.Millisecond)},
			{ID: "urgenturge", From: "boss", To: "coder", Turn: turn, Offer: "publishpub", Created: at.Add(time.Minute)},
			{ID: "resultresu", From: "coder", To: "boss", Turn: "urgenturge-1", ReplyTo: "publishpub", Created: at.Add(2 * time.Minute)},
		}
		if turn != "" {
			messages[0].Receipt = &journal.Receipt{Sent: []string{"publishpub"}}
		}
		parents := map[string]string{}
		for _, m := range view.NewTrace("tasktaskta", messages).Messages {
			parents[m.ID] = m.Parent
		}
		want := map[string]string{"tasktaskta": "", "publishpub": "", "offeroffer": "publishpub", "urgenturge": "publishpub", "resultresu": "urgenturge"}
		if turn != "" {
			want["publishpub"] = "tasktaskta"
		}
		if diff := cmp.Diff(want, parents); diff != "" {
			t.Errorf("published in turn %q, parents (-want +got):\n%s", turn, diff)
		}
	}
}
