package irc

import "time"

// recent contains the keys of the last messages of one target.
type recent struct {
	ids   []string // oldest first
	known map[string]bool
	last  Mark
	id    Mark      // the newest mark with an id
	alive time.Time // the time up to which this client received the target's messages
}

func newRecent(marks []Mark) *recent {
	r := &recent{known: make(map[string]bool)}
	for _, m := range marks {
		r.add(m, false)
	}
	return r
}

// add adds a mark, and reports whether it is new. A live message without an id always
// counts as new, because a person may say the same thing twice in the same instant.
// played reports whether the message is from a history.
func (r *recent) add(m Mark, played bool) bool {
	key := m.key()
	known := key != "" && r.known[key]
	if known && (m.ID != "" || played) {
		return false
	}
	if key != "" && !known {
		r.known[key] = true
		r.ids = append(r.ids, key)
		if len(r.ids) > Remembered {
			delete(r.known, r.ids[0])
			r.ids = r.ids[1:]
		}
	}
	r.last = m
	if m.ID != "" && !m.Time.Before(r.id.Time) {
		r.id = m
	}
	return true
}
