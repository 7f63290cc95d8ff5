package mail

import (
	"fmt"
	"slices"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

func entry(t *testing.T, priority, n int) dropbox.Entry {
	t.Helper()
	e, err := dropbox.ParseName(fmt.Sprintf("%d-20261121T045102.%06dZ-aaaaaaaa%c%c.md", priority, n, 'a'+rune(n/26%26), 'a'+rune(n%26)))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestQueueMergesWhatEventsBring(t *testing.T) {
	var q Queue
	listings := 0
	list := func() ([]dropbox.Entry, error) {
		listings++
		return []dropbox.Entry{entry(t, 1, 1), entry(t, 1, 3)}, nil
	}
	q.Changed("")
	if err := q.Refresh(list); err != nil {
		t.Fatal(err)
	}
	q.Changed(entry(t, 1, 2).Name)
	q.Changed(entry(t, 0, 9).Name)
	q.Changed(entry(t, 1, 2).Name) // an event may be reported twice
	if err := q.Refresh(list); err != nil {
		t.Fatal(err)
	}
	var got []int
	for {
		e, ok := q.Head()
		if !ok {
			break
		}
		got = append(got, e.Created.Nanosecond()/1000)
		q.Remove(e)
	}
	if want := []int{9, 1, 2, 3}; !slices.Equal(got, want) || listings != 1 {
		t.Errorf("order %v after %d listings, want %v after 1", got, listings, want)
	}
}

func TestQueueListsAgainWhenTooMuchCame(t *testing.T) {
	var q Queue
	for n := range maxChanged + 1 {
		q.Changed(entry(t, 1, n).Name)
	}
	listed := false
	if err := q.Refresh(func() ([]dropbox.Entry, error) { listed = true; return nil, nil }); err != nil || !listed {
		t.Errorf("listed %v, %v", listed, err)
	}
}

// Until the folder is listed, new messages are counted from the events. A name that is no
// message's, or that is known, does not count.
func TestQueueCountsWhatEventsBring(t *testing.T) {
	var q Queue
	q.Add(entry(t, 1, 1))
	for _, name := range []string{entry(t, 0, 2).Name, entry(t, 1, 1).Name, "task.md", ".draft.md.swp", entry(t, 2, 3).Name} {
		q.Changed(name)
	}
	if w, want := q.Waiting(), (Waiting{Urgent: 1, Normal: 1, Low: 1}); w != want {
		t.Errorf("waiting = %+v, want %+v", w, want)
	}
}

func TestQueuePassesOverNotes(t *testing.T) {
	var q Queue
	note, task := entry(t, 1, 1), entry(t, 1, 2)
	q.Add(note)
	q.Add(task)
	q.MarkNote(note)
	if e, ok := q.Head(); !ok || e.ID != task.ID {
		t.Errorf("head = %v", e)
	}
	if n := q.Notes(16); len(n) != 1 || n[0].ID != note.ID {
		t.Errorf("notes = %v", n)
	}
	q.Remove(task)
	if _, ok := q.Head(); ok {
		t.Error("Head returned a note")
	}
	if w := q.Waiting(); w.Normal != 1 {
		t.Errorf("waiting = %+v", w)
	}
}

// After the next listing, the notes in a queue are still marked as notes, and the count
// equals the number of messages in the folder.
func TestQueueKnowsNotesAfterAListing(t *testing.T) {
	var q Queue
	note, task, gone := entry(t, 1, 1), entry(t, 2, 2), entry(t, 0, 3)
	folder := []dropbox.Entry{note, task, gone}
	list := func() ([]dropbox.Entry, error) { return folder, nil }
	for _, listing := range []struct {
		folder []dropbox.Entry
		notes  int
		want   Waiting
	}{
		{[]dropbox.Entry{gone, note, task}, 0, Waiting{Urgent: 1, Normal: 1, Low: 1}},
		{[]dropbox.Entry{gone, note, task}, 2, Waiting{Urgent: 1, Normal: 1, Low: 1}},
		{[]dropbox.Entry{note, task}, 1, Waiting{Normal: 1, Low: 1}},
		{[]dropbox.Entry{task}, 0, Waiting{Low: 1}},
	} {
		folder = listing.folder
		q.Changed("")
		if err := q.Refresh(list); err != nil {
			t.Fatal(err)
		}
		if e, ok := q.Head(); listing.notes > 0 && (!ok || e.ID != task.ID) {
			t.Errorf("head of %v = %v", folder, e)
		}
		if n := q.Notes(16); len(n) != listing.notes {
			t.Errorf("notes of %v = %v", folder, n)
		}
		if w := q.Waiting(); w != listing.want {
			t.Errorf("waiting of %v = %+v, want %+v", folder, w, listing.want)
		}
		q.MarkNote(note)
		q.MarkNote(gone)
	}
	q.Add(note)
	if _, ok := q.Head(); !ok || q.Waiting() != (Waiting{Normal: 1, Low: 1}) {
		t.Errorf("waiting = %+v after a note came back that is no longer known", q.Waiting())
	}
}
