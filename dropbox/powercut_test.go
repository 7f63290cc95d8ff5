package dropbox_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// long reports whether the long variants of the tests were requested.
var long = os.Getenv("SWARM_TORTURE") != ""

// fastFolder returns a new folder, in memory if possible. These tests count the steps
// that a store performs on a disk, so they do not need a real disk.
func fastFolder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "dropbox-*")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// A power cut after any step of any program leaves a usable store: every guarantee holds,
// and no file is incomplete or duplicated.
func TestPowerCut(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for name, programs := range map[string][]program{
		"one writer":    {sends("a", 3)},
		"three writers": {sends("a", 3), sends("b", 3), sends("c", 3)},
		"a turn":        {sends("a", 2), works(3)},
		"batches":       {sendsTogether("a", 3), worksTogether(2)},
		"two batches":   {sendsTogether("a", 2), sendsTogether("b", 2), tidies},
		"a person":      {sends("a", 3), meddles(6)},
		"the lead":      {reads},
		"tidied":        {sends("a", 4), sends("b", 4), tidies},
		"batch killed":  {killed(sendsTogether("a", 3)), killed(worksTogether(3)), sendsTogether("b", 2), worksTogether(3), tidies},
		"killed":        {killed(sends("a", 3)), killed(sends("b", 3)), killed(works(6)), killed(tidies), sends("c", 3), works(6), tidies},
		"no hard links": {
			without(dropbox.OpLink, sends("a", 3)), without(dropbox.OpLink, sends("b", 3)),
			without(dropbox.OpLink, works(3)), without(dropbox.OpLink, tidies),
		},
		"no rename that refuses": {
			without(dropbox.OpMove, sends("a", 3)), without(dropbox.OpMove, sends("b", 3)),
			without(dropbox.OpMove, works(3)), without(dropbox.OpMove, meddles(3)),
		},
		"all at once": {sends("a", 3), sends("b", 2), works(6), meddles(6), reads, takesIn},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seeds, most := uint64(3), 8
			if len(programs) > 2 {
				seeds = 1
			}
			if long {
				seeds, most = 20, 40
			}
			images := 0
			for seed := range seeds {
				images += cutEverywhere(t, seed, most, programs)
			}
			tally(t, "power cut, "+name, images)
		})
	}
	t.Run("killed, then cut", func(t *testing.T) {
		t.Parallel()
		every, most := 5, 3
		if long {
			every, most = 1, 40
		}
		images := 0
		for n := 1; n < 36; n += every {
			images += cutEverywhere(t, uint64(n), most, []program{twice(n)})
		}
		tally(t, "power cut after kill -9", images)
	})
}

// tally reports the number of injected faults. If one of them had lost or duplicated a
// message, the test would have failed. The output of `go test -json` contains the numbers
// as attributes.
func tally(t *testing.T, fault string, injected int) {
	t.Helper()
	lost := 0
	if t.Failed() {
		lost = 1
	}
	t.Attr("fault", fault)
	t.Attr("injected", strconv.Itoa(injected))
	t.Attr("failed", strconv.Itoa(lost))
}

// cutEverywhere records the programs once and cuts the power at each step.
func cutEverywhere(t *testing.T, seed uint64, most int, programs []program) (images int) {
	t.Helper()
	scratch := fastFolder(t)
	dir := filepath.Join(scratch, ".dead-drop")
	if err := dropbox.Create(dir); err != nil {
		t.Fatal(err)
	}
	s := reopen(t, dir, dropbox.Options{}, "coder")
	for _, name := range []string{"drop-1", "drop-2"} {
		// Each drop has a key, because an image does not preserve the inode numbers of
		// files.
		drop(t, s, "coder", name+".md", "---\nkey: "+name+"\n---\n"+string(bodyOf(name)))
	}
	rec := record(t, dir, seed, programs...)
	rng := rand.New(rand.NewPCG(seed, 99))
	for n := 0; ; n++ {
		all := append(rec.disk.kindImages(), rec.disk.strictImages(most, rng)...)
		for i, im := range all {
			images++
			at := filepath.Join(scratch, fmt.Sprintf("%d-%d", n, i))
			if err := rec.disk.materialise(at, im); err != nil {
				t.Fatal(err)
			}
			if err := rec.judge(t, at, n); err != nil {
				t.Errorf("seed %d, cut after %d of %d steps, image %d: %v\nthe last steps:\n%s\nleft:\n%s",
					seed, n, len(rec.events), i, err, rec.last(n), rec.disk.describe(im))
				return images
			}
			if err := os.RemoveAll(at); err != nil {
				t.Fatal(err)
			}
		}
		if n == len(rec.events) {
			return images
		}
		if err := rec.disk.apply(rec.events[n]); err != nil {
			t.Fatal(err)
		}
	}
}

// last returns a description of the steps before a cut.
func (rec *recording) last(n int) string {
	var b strings.Builder
	for _, e := range rec.events[max(0, n-12):n] {
		fmt.Fprintf(&b, "\t%v\n", e.Step)
	}
	return b.String()
}

// A hope describes the permitted states and the counts of a message after a cut.
type hope struct {
	places        []dropbox.State
	begun, failed int
}

// hopes returns the hope for each message, given all facts up to the n-th event.
func (rec *recording) hopes(n int) map[string]*hope {
	hopes := make(map[string]*hope)
	purged := make(map[string]bool)
	for i, f := range rec.facts {
		if f.at > n {
			break
		}
		h := hopes[f.name]
		if h == nil {
			h = &hope{places: []dropbox.State{nowhere}}
			hopes[f.name] = h
		}
		switch {
		case f.counted:
			h.begun, h.failed = f.begun, f.failed
		case f.accepted:
			if !purged[f.name] {
				h.places = slices.DeleteFunc(h.places, func(p dropbox.State) bool { return p == nowhere })
			}
		case f.call:
			h.places = append(h.places, f.to)
			purged[f.name] = purged[f.name] || f.to == nowhere
		default:
			h.places = []dropbox.State{f.to}
			for _, later := range rec.facts[f.of+1 : i] {
				if later.call && later.name == f.name {
					h.places = append(h.places, later.to)
				}
			}
		}
	}
	return hopes
}

// judge opens the store that a cut left behind, performs the steps of a daemon's start,
// and returns the faults that it then finds.
func (rec *recording) judge(t *testing.T, dir string, n int) error {
	s, err := dropbox.Open(dir, dropbox.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := startAgain(s); err != nil {
		return fmt.Errorf("the next start: %w", err)
	}
	b, err := s.Mailbox("coder")
	if err != nil {
		return err
	}
	strays, err := b.Drops().List()
	if err != nil {
		return err
	}
	for _, st := range strays {
		if _, err := b.Drops().TakeIn(st, dropbox.Defaults{From: "lead"}); err != nil {
			return err
		}
	}
	hopes := rec.hopes(n)
	if err := compare(s, hopes); err != nil {
		return err
	}
	// A sender that repeats its call gets the correct result and does not duplicate the
	// message.
	for name, h := range hopes {
		if !strings.HasPrefix(name, "key-") {
			continue
		}
		d, err := s.Deliver("coder", &dropbox.Message{From: "tester", Key: name, Body: bodyOf(name)})
		if err != nil {
			return fmt.Errorf("%s delivered again: %w", name, err)
		}
		there, err := whereIs(s)
		if err != nil {
			return err
		}
		was := !slices.Contains(h.places, nowhere)
		if was && !d.Duplicate {
			return fmt.Errorf("%s was accepted, and delivered again as a new message", name)
		}
		if places := there[name]; len(places) > 1 || len(places) == 0 && was {
			return fmt.Errorf("%s was delivered again, and is in %v", name, places)
		}
	}
	return nil
}

// startAgain performs the first steps of a daemon.
func startAgain(s *dropbox.Store) error {
	b, err := s.Mailbox(dropbox.Lead)
	if err != nil {
		return err
	}
	if err := b.Recover(); err != nil {
		return err
	}
	if b, err = s.Mailbox("coder"); err != nil {
		return err
	}
	if err := takeUp(b); err != nil {
		return err
	}
	if _, err := b.Clean(time.Now().Add(2 * time.Hour)); err != nil {
		return err
	}
	for _, folder := range []string{"tmp", "cur"} {
		left, err := os.ReadDir(filepath.Join(s.Dir(), "coder", folder))
		if err != nil || len(left) > 0 {
			return fmt.Errorf("left in %s: %v, %w", folder, left, err)
		}
	}
	if strangers, err := s.Strangers(); err != nil || len(strangers) > 0 {
		return fmt.Errorf("left in the store: %v, %w", strangers, err)
	}
	return nil
}

// A place is the state in which a message was found, with its counts.
type place struct {
	state         dropbox.State
	begun, failed int
}

// whereIs finds all messages in the store by their names and checks that each is complete.
func whereIs(s *dropbox.Store) (map[string][]place, error) {
	there := make(map[string][]place)
	for f, err := range s.All() {
		if err != nil {
			return nil, err
		}
		m, err := s.Load(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Path, err)
		}
		name, ok := nameOf(m.Body)
		if !ok {
			return nil, fmt.Errorf("%s is not whole", f.Path)
		}
		for _, a := range m.Attachments {
			if file, err := s.OpenAttachment(a); err != nil {
				return nil, fmt.Errorf("%s: %w", f.Path, err)
			} else {
				file.Close()
			}
		}
		there[name] = append(there[name], place{f.State, f.Entry.Begun, f.Entry.Failed})
		b, err := s.Mailbox(f.Mailbox)
		if err != nil {
			return nil, err
		}
		if f.State == dropbox.Done && f.Mailbox == "coder" {
			if r, err := b.Receipt(f.Entry); err != nil || string(r) != "receipt of "+name+"\n" {
				return nil, fmt.Errorf("%s has the receipt %q: %w", f.Path, r, err)
			}
		} else if has, err := b.HasReceipt(f.Entry); has || err != nil {
			return nil, errors.Join(fmt.Errorf("%s has a receipt", f.Path), err)
		}
	}
	return there, nil
}

// compare checks the store against the hopes.
func compare(s *dropbox.Store, hopes map[string]*hope) error {
	there, err := whereIs(s)
	if err != nil {
		return err
	}
	for name, h := range hopes {
		places := there[name]
		if len(places) > 1 {
			return fmt.Errorf("%s is there %d times: %v", name, len(places), places)
		}
		is := place{state: nowhere}
		if len(places) == 1 {
			is = places[0]
		}
		if !slices.Contains(h.places, is.state) {
			return fmt.Errorf("%s is in %q, want it in %q", name, is.state, h.places)
		}
		if is.state == dropbox.Waiting && (is.begun < h.begun || is.failed < h.failed) {
			return fmt.Errorf("%s is counted %d.%d, want %d.%d", name, is.begun, is.failed, h.begun, h.failed)
		}
	}
	for name, places := range there {
		if hopes[name] == nil && !strings.HasPrefix(name, "drop-") {
			return fmt.Errorf("%s is in %v, and nobody sent it", name, places)
		}
	}
	return nil
}
