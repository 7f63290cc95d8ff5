package ircbridge

import (
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// provenWithin and clockSkew limit the difference between the known time of a message and
// the time at which another process sent it.
const (
	provenWithin = 2 * time.Minute // the longest wait for a proof; the library ends the connection before this time has passed
	clockSkew    = time.Minute     // the difference between the server's clock and ours
)

// A memory tells the library which messages were handled. These are the messages in the
// buffers. Its methods only read files, so any goroutine can call them.
type memory struct{ dir string }

// Marks implements [irc.Memory].
func (m memory) Marks(target string) ([]irc.Mark, error) {
	if target == "" {
		return m.private()
	}
	lines, err := bridge.Buffered(m.dir, target)
	if err != nil {
		return nil, err
	}
	lines = lines[max(0, len(lines)-irc.Remembered):]
	var own, heard []irc.Mark
	for _, l := range lines {
		m := irc.Mark{ID: l.MsgID, Time: l.At}
		if l.Drop != "" || l.Own {
			own = append(own, m)
			continue
		}
		if m.ID == "" {
			m.Sum = irc.Sum(l.Nick, strings.TrimPrefix(l.Text, "* "+l.Nick+" ")) // without the prefix that marks an emote
		}
		heard = append(heard, m)
	}
	marks := append(own, heard...)
	if len(own) > 0 {
		known := own[len(own)-1].Time.Add(-ownBehind)
		if len(heard) == 0 || known.After(heard[len(heard)-1].Time) {
			marks = append(marks, irc.Mark{Time: known})
		}
	}
	return marks, nil
}

// ownBehind determines which lines are known if the buffer contains one of our lines.
// These are all lines that people wrote in the channel more than ownBehind before our
// line. Our line enters the buffer when it is proven. A line that a person wrote shortly
// before our line may be handled after that, or never if this process is killed.
const ownBehind = provenWithin + clockSkew

// private returns the time up to which all private messages are known. If no bridge has
// recorded that time, private returns the time of the newest private line.
func (m memory) private() ([]irc.Mark, error) {
	st, err := bridge.ReadState(m.dir)
	if err != nil {
		return nil, err
	}
	if !st.Heard.IsZero() {
		return []irc.Mark{{Time: st.Heard}}, nil
	}
	lines, err := bridge.Reader{Dir: m.dir}.Newest()
	if err != nil {
		return nil, err
	}
	var newest time.Time
	for _, last := range lines {
		if !isChannel(last.Channel) && last.At.After(newest) {
			newest = last.At
		}
	}
	if newest.IsZero() {
		return nil, nil
	}
	return []irc.Mark{{Time: newest}}, nil
}

// privateMemory is the memory of an agent's connection, which receives only private
// messages.
type privateMemory struct{ memory }

// Marks implements [irc.Memory].
func (m privateMemory) Marks(target string) ([]irc.Mark, error) {
	if isChannel(target) {
		return nil, nil
	}
	return m.memory.Marks(target)
}

// Add implements [irc.Memory]. It does nothing, because the buffer already contains the
// mark.
func (memory) Add(string, irc.Mark) error { return nil }
