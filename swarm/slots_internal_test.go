package swarm

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

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
