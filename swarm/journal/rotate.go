package journal

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// keptTurns is the number of most recent turns that are kept. Together with the policy's
// days it limits the size of the folder.
const keptTurns = 1000

// RotateTurns removes the files of old turns: the turns older than days (0 means 30), and
// all except the keptTurns most recent turns. It keeps a turn whose process is still
// running, and a turn with a file that is less than an hour old. A client's output is
// kept for as long as the client's last turn.
func (h Home) RotateTurns(days int, now time.Time) error {
	if days == 0 {
		days = 30
	}
	entries, err := os.ReadDir(h.Turns())
	if err != nil {
		return err
	}
	type turn struct {
		name  string
		files []string
		last  time.Time
	}
	turns := map[string]*turn{}
	for _, e := range entries {
		name, _, _ := strings.Cut(e.Name(), ".")
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return err
		}
		t := turns[name]
		if t == nil {
			t = &turn{name: name}
			turns[name] = t
		}
		t.files = append(t.files, e.Name())
		if info.ModTime().After(t.last) {
			t.last = info.ModTime()
		}
	}
	all := make([]*turn, 0, len(turns))
	for _, t := range turns {
		all = append(all, t)
		if !slices.Contains(t.files, filepath.Base(h.nowFile(t.name))) {
			continue
		}
		if last, err := h.TurnOf(t.name); err == nil && turns[last] != nil && turns[last].last.After(t.last) {
			t.last = turns[last].last
		}
	}
	slices.SortFunc(all, func(a, b *turn) int { return cmp.Compare(b.last.UnixNano(), a.last.UnixNano()) })
	var errs []error
	for i, t := range all {
		age := now.Sub(t.last)
		if age < time.Hour || i < keptTurns && age < time.Duration(days)*24*time.Hour {
			continue
		}
		if rec, err := ReadRecord(h, t.name); err == nil && rec.Process.Alive() {
			continue
		}
		for _, f := range t.files {
			errs = append(errs, os.Remove(filepath.Join(h.Turns(), f)))
		}
	}
	return errors.Join(errs...)
}
