package audit

import (
	"maps"
	"path"
	"strings"
	"time"
)

const dayLayout = "2006-01-02"

// A memory lists the recorded files that are still relevant: those in the most recent
// day folders of done/, and all files that can change. It does not grow with the
// history. Paths are relative to the mailboxes.
type memory struct {
	since string           // earlier days in done/ are recorded and no longer listed
	open  map[string]bool  // folders of earlier days in which a receipt is missing, such as coder/done/2026-11-21
	done  map[string]bool  // the recorded files of the days that are listed
	kept  map[string]stamp // the recorded files in board/ and dead/, version and .gitignore
}

// A stamp identifies one state of a file's content.
type stamp struct {
	size    int64
	changed time.Time
	blob    string // git's object name for the content
	// rested means that the last change is older than one tick of the file system's
	// clock. Within the same tick, a second change might go unnoticed.
	rested bool
}

// rest is at least as long as one tick of any file system's clock.
const rest = 2 * time.Second

func newMemory() memory {
	return memory{open: map[string]bool{}, done: map[string]bool{}, kept: map[string]stamp{}}
}

// listed reports whether a day's folder in done/ must be read.
func (m *memory) listed(folder string) bool {
	return path.Base(folder) >= m.since || m.open[folder]
}

// forgetDone makes the next comparison start from scratch. The memory keeps the files
// seen in board/ and dead/, so that the audit still notices if one of them is removed.
func (m *memory) forgetDone() {
	m.since = ""
	clear(m.open)
	clear(m.done)
}

// settle ends a pass that recorded everything. From now on, only the open days and the
// days since the day before the pass are listed.
func (m *memory) settle(looked time.Time, open map[string]bool) {
	m.since = looked.UTC().AddDate(0, 0, -1).Format(dayLayout)
	m.open = open
	maps.DeleteFunc(m.done, func(name string, _ bool) bool { return !m.listed(path.Dir(name)) })
}

// follow adds to the memory the files that another audit has recorded on the branch. It
// returns false if finished mail was removed from the branch, because the memory is then no
// longer valid.
func (m *memory) follow(added, gone []string) bool {
	for _, name := range gone {
		if isDone(name) {
			return false
		}
	}
	for _, name := range added {
		if isDone(name) && m.listed(path.Dir(name)) {
			m.done[name] = true
		}
	}
	return true
}

// isDone reports whether a path has the form coder/done/2026-11-21/NAME.
func isDone(name string) bool {
	parts := strings.Split(name, "/")
	return len(parts) == 4 && parts[1] == "done" && isDay(parts[2])
}

func isDay(name string) bool {
	_, err := time.Parse(dayLayout, name)
	return err == nil
}
