package bridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/durable"
)

// Silence is how long a reader may go without reading the channels before [Reader.CheckIn]
// gives advice.
const Silence = 10 * time.Minute

// A check records when a reader last read the channels, and when it last got advice.
type check struct {
	Since time.Time `json:"since"`         // when the reader last read or, if it never has, when CheckIn was first called
	Told  time.Time `json:"told,omitzero"` // when the reader last got advice
}

// CheckIn returns one line of advice for a reader who has not read for [Silence] while a
// channel that the bridge is in has unread lines. Otherwise it returns "". It gives the
// advice only once per period of silence. Neither the reader's own lines nor the bridge's
// own lines, such as the news that a turn began, count as unread. project is the channel
// that is read when none is named. tool reports whether the reader has the bridge's read
// tool, such as irc_read, in addition to the command line.
func (r Reader) CheckIn(now time.Time, project string, tool bool) (string, error) {
	c, err := r.check()
	switch {
	case err != nil:
		return "", err
	case c.Since.IsZero():
		return "", r.noteCheck(check{Since: now})
	case c.Told.After(c.Since), now.Sub(c.Since) < Silence:
		return "", nil
	}
	st, err := ReadState(r.Dir)
	if err != nil {
		return "", err
	}
	marks, err := r.marks()
	if err != nil {
		return "", err
	}
	where := ""
	for _, ch := range st.Channels {
		if len(r.Own) > 0 && !slices.ContainsFunc(r.Own, func(c string) bool { return strings.EqualFold(c, ch.Name) }) {
			continue
		}
		if !ch.Joined || where != "" && !strings.EqualFold(ch.Name, project) {
			continue
		}
		waits, err := r.waits(ch.Name, marks[fileName(ch.Name)], st.Nick)
		if err != nil {
			return "", err
		}
		if waits {
			where = ch.Name
		}
	}
	if where == "" {
		return "", nil
	}
	how := "an " + r.bridge() + "_read()"
	switch named := !strings.EqualFold(where, project); {
	case tool && named:
		how = fmt.Sprintf("an %s_read(%q)", r.bridge(), where)
	case named:
		how = fmt.Sprintf("a claude-swarm %s read %q", r.bridge(), where)
	case !tool:
		how = "a claude-swarm " + r.bridge() + " read"
	}
	line := fmt.Sprintf("[CORRECTION] You haven't checked your channels in %s. Consider doing %s to see if there's relevant input.", lasting(now.Sub(c.Since)), how)
	return line, r.noteCheck(check{Since: c.Since, Told: now})
}

// lasting formats a duration in whole minutes, or in hours or days if it is long.
func lasting(d time.Duration) string {
	switch {
	case d < 2*time.Hour:
		return fmt.Sprintf("%d minutes", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d hours", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// ownMark occurs in the JSON of every line that the bridge itself wrote, and in no other
// line, because quotes in a line's text are escaped.
var ownMark = []byte(`"own":true`)

// waits reports whether a channel has unread lines after a mark. bridge is the bridge's
// nick. Because waits is called at the beginning of every turn, it must be fast. It
// therefore parses the lines from the end and stops as soon as the answer is known.
func (r Reader) waits(channel string, mark int64, bridge string) (bool, error) {
	data, err := os.ReadFile(bufferFile(r.Dir, channel))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("read %s: %w", channel, err)
	}
	size := r.Size
	if size <= 0 {
		size = DefaultBufferSize
	}
	newest := true
	for data = data[:bytes.LastIndexByte(data, '\n')+1]; len(data) > 0 && size > 0; size-- {
		start := bytes.LastIndexByte(data[:len(data)-1], '\n') + 1
		raw := data[start:]
		data = data[:start]
		own := bytes.Contains(raw, ownMark)
		var l Line
		if own && !newest || json.Unmarshal(raw, &l) != nil || l.N == 0 {
			continue
		}
		if newest && mark > l.N {
			mark = 0 // the channel's file was deleted; see [Reader.New]
		}
		newest = false
		switch {
		case l.N <= mark:
			return false, nil
		case !own && !strings.EqualFold(l.Nick, bridge) && (l.Drop == "" || l.Nick != r.Name):
			return true, nil
		}
	}
	return false, nil
}

// looked records that the reader has just read the channels.
func (r Reader) looked() error {
	if r.Name == "" || r.Name == dropbox.Lead {
		return nil // this reader gets no advice
	}
	return r.noteCheck(check{Since: time.Now()})
}

func (r Reader) checkFile() string {
	return filepath.Join(r.Dir, "checks", fileName(r.Name)+".json")
}

func (r Reader) check() (c check, err error) {
	if err := durable.IgnoreDamage(durable.ReadJSON(r.checkFile(), &c)); err != nil {
		return check{}, fmt.Errorf("check when %s last read: %w", r.Name, err)
	}
	return c, nil
}

func (r Reader) noteCheck(c check) error {
	c.Since, c.Told = c.Since.UTC(), c.Told.UTC()
	if err := writeSmall(r.checkFile(), c); err != nil {
		return fmt.Errorf("record when %s last read: %w", r.Name, err)
	}
	return nil
}
