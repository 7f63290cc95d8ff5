package swarm

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

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
	var q queue
	listings := 0
	list := func() ([]dropbox.Entry, error) {
		listings++
		return []dropbox.Entry{entry(t, 1, 1), entry(t, 1, 3)}, nil
	}
	q.ring("")
	if err := q.refresh(list); err != nil {
		t.Fatal(err)
	}
	q.ring(entry(t, 1, 2).Name)
	q.ring(entry(t, 0, 9).Name)
	q.ring(entry(t, 1, 2).Name) // an event may come twice
	if err := q.refresh(list); err != nil {
		t.Fatal(err)
	}
	var got []int
	for {
		e, ok := q.head()
		if !ok {
			break
		}
		got = append(got, e.Created.Nanosecond()/1000)
		q.remove(e)
	}
	if want := []int{9, 1, 2, 3}; !slices.Equal(got, want) || listings != 1 {
		t.Errorf("order %v after %d listings, want %v after 1", got, listings, want)
	}
}

func TestQueueListsAgainWhenTooMuchCame(t *testing.T) {
	var q queue
	for n := range maxRung + 1 {
		q.ring(entry(t, 1, n).Name)
	}
	listed := false
	if err := q.refresh(func() ([]dropbox.Entry, error) { listed = true; return nil, nil }); err != nil || !listed {
		t.Errorf("listed %v, %v", listed, err)
	}
}

func TestQueuePassesOverNotes(t *testing.T) {
	var q queue
	note, task := entry(t, 1, 1), entry(t, 1, 2)
	q.add(note)
	q.add(task)
	q.markNote(note)
	if e, ok := q.head(); !ok || e.ID != task.ID {
		t.Errorf("head = %v", e)
	}
	if n := q.notes(16); len(n) != 1 || n[0].ID != note.ID {
		t.Errorf("notes = %v", n)
	}
	q.remove(task)
	if _, ok := q.head(); ok {
		t.Error("a note is worked on by itself")
	}
	if w := q.waiting(); w.Normal != 1 {
		t.Errorf("waiting = %+v", w)
	}
}

// What is known to ride along is known after the next listing too, as long as it is
// there, and the count is that of the folder.
func TestQueueKnowsNotesAfterAListing(t *testing.T) {
	var q queue
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
		q.ring("")
		if err := q.refresh(list); err != nil {
			t.Fatal(err)
		}
		if e, ok := q.head(); listing.notes > 0 && (!ok || e.ID != task.ID) {
			t.Errorf("head of %v = %v", folder, e)
		}
		if n := q.notes(16); len(n) != listing.notes {
			t.Errorf("notes of %v = %v", folder, n)
		}
		if w := q.waiting(); w != listing.want {
			t.Errorf("waiting of %v = %+v, want %+v", folder, w, listing.want)
		}
		q.markNote(note)
		q.markNote(gone)
	}
	q.add(note)
	if _, ok := q.head(); !ok || q.waiting() != (Waiting{Normal: 1, Low: 1}) {
		t.Errorf("waiting = %+v after a note came back, which is known no more", q.waiting())
	}
}

func TestSlotsServeByOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(1)
		if err := s.acquire(t.Context(), "0", nil); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var got []string
		var wg sync.WaitGroup
		names := []string{"1-b", "0-z", "2-a", "1-a"}
		rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range names {
			wg.Go(func() {
				if err := s.acquire(context.Background(), name, nil); err != nil {
					t.Error(err)
				}
				mu.Lock()
				got = append(got, name)
				mu.Unlock()
				s.release()
			})
		}
		gone, leave := context.WithCancel(t.Context())
		wg.Go(func() {
			if s.acquire(gone, "0-first", nil) == nil {
				t.Error("a waiter that left got a slot")
			}
		})
		synctest.Wait()
		leave()
		synctest.Wait()
		s.release()
		wg.Wait()
		if want := []string{"0-z", "1-a", "1-b", "2-a"}; !slices.Equal(got, want) {
			t.Errorf("served %v, want %v", got, want)
		}
		if s.free != 1 {
			t.Errorf("%d slots free at the end, want 1", s.free)
		}
	})
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
		t.Error("a plain subscription asks for lines only")
	}
}
