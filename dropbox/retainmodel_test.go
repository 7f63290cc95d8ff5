package dropbox_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// An oldFile represents a filed message in the model of retention.
type oldFile struct {
	day  string
	size int64
	// whole means that there is a receipt, with or without its message. Only in that case
	// may the files be removed.
	whole bool
}

// Regardless of the store's contents, retention removes only finished messages that have a
// receipt and are more than seven days old. It removes the oldest messages first, and at
// least as many as the limits require. If a run is interrupted at a random step, a second
// run completes it.
func TestRetainModel(t *testing.T) {
	rounds := 60
	if long {
		rounds = 3000
	}
	for round := range rounds {
		rng := rand.New(rand.NewPCG(uint64(round), 7))
		now := time.Date(2026, 3, 1, rng.IntN(24), 0, 0, 0, time.UTC)
		dir := filepath.Join(fastFolder(t), ".dead-drop")
		if err := dropbox.Create(dir); err != nil {
			t.Fatal(err)
		}
		o := dropbox.Options{Now: func() time.Time { return now }}
		s := reopen(t, dir, o, "coder", "tester")
		files := scatter(t, s, now, rng)
		before := tree(t, dir)

		days, mb := rng.IntN(3)*10, int64(rng.IntN(3))
		if rng.IntN(2) == 0 { // the first run is interrupted at a random step
			n := 1 + rng.IntN(8)
			cut := reopen(t, dir, dropbox.Options{Now: o.Now, Step: func(dropbox.Step) error {
				if n--; n <= 0 {
					return errors.New("cut off")
				}
				return nil
			}})
			cut.Retain(days, mb)
		}
		if _, err := s.Retain(days, mb); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if err := retained(files, before, tree(t, dir), now, days, mb); err != nil {
			t.Errorf("round %d, Retain(%d, %d): %v", round, days, mb, err)
		}
		if n, err := s.Retain(days, mb); n != 0 || err != nil {
			t.Errorf("round %d: a second call removes %d, %v", round, n, err)
		}
		os.RemoveAll(filepath.Dir(dir))
	}
	tally(t, "retention", rounds)
}

// scatter puts messages into new/, cur/ and dead/, and finished messages into the day
// folders near the limits. It returns the finished messages, keyed by their paths without
// the suffix.
func scatter(t *testing.T, s *dropbox.Store, now time.Time, rng *rand.Rand) map[string]oldFile {
	t.Helper()
	for _, agent := range []string{"coder", "tester"} {
		b := mailbox(t, s, agent)
		for i := range 3 {
			deliver(t, s, agent, &dropbox.Message{Key: fmt.Sprint(i), Body: bodyOf("waits")})
		}
		claim(t, b, list(t, b)[0])
		if err := b.GiveUp(list(t, b)[0], "dead"); err != nil {
			t.Fatal(err)
		}
	}
	files := make(map[string]oldFile)
	for range 1 + rng.IntN(40) {
		age := rng.IntN(30)
		at := now.AddDate(0, 0, -age)
		day := at.Format("2006-01-02")
		agent := []string{"coder", "tester"}[rng.IntN(2)]
		e := dropbox.Entry{Created: at, ID: dropbox.NewID()}
		base := filepath.Join(agent, "done", day, e.Base())
		if err := os.MkdirAll(filepath.Join(s.Dir(), filepath.Dir(base)), 0o700); err != nil {
			t.Fatal(err)
		}
		f := oldFile{day: day}
		kind := rng.IntN(4)
		if kind > 0 { // the message
			f.size = int64(rng.IntN(200_000))
			f.whole = kind > 1
		} else {
			f.whole = true // a receipt alone
		}
		if kind > 0 {
			if err := truncated(filepath.Join(s.Dir(), base+".md"), f.size); err != nil {
				t.Fatal(err)
			}
		}
		if f.whole {
			if err := truncated(filepath.Join(s.Dir(), base+".receipt.yaml"), 1000); err != nil {
				t.Fatal(err)
			}
			f.size += 1000
		}
		files[base] = f
	}
	return files
}

// retained checks that the remaining files comply with the limits.
func retained(files map[string]oldFile, before, after []string, now time.Time, days int, mb int64) error {
	left := make(map[string]bool)
	for _, name := range after {
		left[name] = true
	}
	keep := now.AddDate(0, 0, -7).Format("2006-01-02")
	old := ""
	if days > 0 {
		old = now.AddDate(0, 0, -max(days, 7)).Format("2006-01-02")
	}
	for _, name := range before {
		base := strings.TrimSuffix(strings.TrimSuffix(name, ".md"), ".receipt.yaml")
		f, done := files[base]
		if !left[name] && (!done || !f.whole || f.day >= keep) {
			return fmt.Errorf("%s has gone", name)
		}
	}
	var total int64
	newestGone, oldestLeft := "", "9999"
	for base, f := range files {
		if !f.whole {
			continue
		}
		if !left[base+".receipt.yaml"] {
			if left[base+".md"] {
				return fmt.Errorf("%s has lost its receipt alone", base)
			}
			newestGone = max(newestGone, f.day)
			continue
		}
		if left[base+".md"] {
			total += f.size
		} else {
			total += 1000 // only the receipt exists after an interrupted run
		}
		if f.day < keep {
			oldestLeft = min(oldestLeft, f.day)
		}
		if f.day < old {
			return fmt.Errorf("%s is older than it may be", base)
		}
	}
	if newestGone > oldestLeft {
		return fmt.Errorf("something of %s has gone, and of %s is left", newestGone, oldestLeft)
	}
	if mb > 0 && total > mb<<20 && oldestLeft != "9999" {
		return fmt.Errorf("%d bytes are left, and some of them could go", total)
	}
	if days == 0 && mb == 0 && len(before) != len(after) {
		return errors.New("without a bound something has gone")
	}
	return nil
}
