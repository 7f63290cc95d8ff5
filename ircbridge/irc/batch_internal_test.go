package irc

import (
	"fmt"
	"strings"
	"testing"
)

func batchStart(ref, kind, parent string) Message {
	m := Message{Command: "BATCH", Params: []string{"+" + ref, kind}, Tags: map[string]string{}}
	if parent != "" {
		m.Tags["batch"] = parent
	}
	return m
}

func batchEnd(ref string) Message { return Message{Command: "BATCH", Params: []string{"-" + ref}} }

func said(ref, text string) Message {
	return Message{Command: "PRIVMSG", Params: []string{"#x", text}, Tags: map[string]string{"batch": ref}}
}

// If a server opens too many batches, none of their lines is treated as new, because the
// lines could be old orders from a history.
func TestTooManyBatches(t *testing.T) {
	for _, open := range []int{maxBatches, maxRefs} {
		t.Run(fmt.Sprint(open), func(t *testing.T) {
			var b batches
			for n := range open {
				b.add(batchStart(fmt.Sprint(n), "chathistory", ""))
			}
			drops := 0
			for _, m := range []Message{batchStart("late", "chathistory", ""), said("late", "coder: an old order"), batchEnd("late")} {
				done, alone, dropped := b.add(m)
				if done != nil || alone {
					t.Errorf("%s of a batch too many: done %v, alone %v", m.Command, done, alone)
				}
				if dropped {
					drops++
				}
			}
			if drops == 0 {
				t.Error("the dropped batch is not counted")
			}
			if _, alone, _ := b.add(Message{Command: "PRIVMSG", Params: []string{"#x", "now"}}); !alone {
				t.Error("a message without a batch was dropped")
			}
			if done, _, _ := b.add(batchEnd("0")); done == nil {
				t.Error("an earlier batch was dropped")
			}
		})
	}
}

// The size limit of a batch includes its nested batches and the tags of its messages.
func TestABatchThatIsTooLarge(t *testing.T) {
	half := strings.Repeat("x", maxBatchBytes/2)
	for name, inner := range map[string]func() Message{
		"text": func() Message { return said("in", half) },
		"tags": func() Message {
			m := said("in", "short")
			m.Tags["+big"] = half
			return m
		},
	} {
		t.Run(name, func(t *testing.T) {
			var b batches
			b.add(batchStart("out", "chathistory", ""))
			for range 3 {
				b.add(batchStart("in", "netjoin", "out"))
				b.add(inner())
				b.add(batchEnd("in"))
			}
			if held := len(b["out"].members); held != 0 {
				t.Errorf("the outer batch holds %d messages of half its limit each", held)
			}
			if done, _, dropped := b.add(batchEnd("out")); done != nil || !dropped {
				t.Errorf("done %v, dropped %v, want a dropped batch", done != nil, dropped)
			}
		})
	}
}

// After a part, a channel whose join was refused is no longer reported.
func TestAPartForgetsARefusal(t *testing.T) {
	w := newWanted([]Channel{{Name: "#a"}})
	w.fail("#A", "invite only")
	w.remove("#a", ASCII)
	if len(w.failed) != 0 {
		t.Errorf("after the part %v failed", w.failed)
	}
}

// A RAM returns at most as many marks as the [Memory] interface permits.
func TestMarksAreBounded(t *testing.T) {
	var r RAM
	for n := range Remembered + 500 {
		if err := r.Add("#x", Mark{ID: fmt.Sprint(n)}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := r.Marks("#x")
	if err != nil || len(got) != Remembered || got[len(got)-1].ID != fmt.Sprint(Remembered+499) {
		t.Errorf("%d marks, %v, want the last %d", len(got), err, Remembered)
	}
}
