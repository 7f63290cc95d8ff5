package irc

import (
	"strings"
	"time"
)

// playbackPause is how long a playback may be silent. A bouncer sends its lines at once, so
// after that time the end of the playback was lost.
const playbackPause = time.Minute

// playbacks are the playbacks of a bouncer that marks old lines neither with a batch nor with
// a time, as old versions of ZNC do: it sends "Buffer Playback..." before them, and "Playback
// Complete." after them, from a nick that no person can have. They map the folded target to
// the time of the last line.
type playbacks map[string]time.Time

// old reports whether a message for a target is a part of a playback.
func (p playbacks) old(target string, m Message, now time.Time) bool {
	last, playing := p[target]
	if m.Nick() == "***" {
		switch text := m.Last(); {
		case strings.HasPrefix(text, "Buffer Playback"):
			p[target] = now
			return true
		case strings.HasPrefix(text, "Playback Complete"):
			delete(p, target)
			return true
		}
	}
	if !playing {
		return false
	}
	if now.Sub(last) > playbackPause {
		delete(p, target)
		return false
	}
	p[target] = now
	return true
}
