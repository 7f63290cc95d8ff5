package ircbridge

import (
	"cmp"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// taskID is how long the id of a conversation is.
const taskID = 10

// taskOf is the conversation whose channel that is, by the name; "" is none.
func (c Channels) taskOf(channel string) string {
	before, after, ok := strings.Cut(strings.ToLower(c.Work), "{task-id}")
	name := strings.ToLower(channel)
	if !ok || len(name) != len(before)+taskID+len(after) || !strings.HasPrefix(name, before) || !strings.HasSuffix(name, after) {
		return ""
	}
	id := name[len(before) : len(before)+taskID]
	if strings.ContainsFunc(id, func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') }) {
		return ""
	}
	return id
}

// noChannelOf says of a copy for the channel of a conversation that there is none: it began
// with no task, or it is over. The channel is not joined for what is said elsewhere, too.
func (r *run) noChannelOf(w place) bool {
	if !w.copied || r.Channels.taskOf(w.target) == "" {
		return false
	}
	rm := r.known(w.target)
	return rm == nil || !rm.wanted
}

// leaveDone leaves the channels of conversations that are over: for as long as there is time
// between two looks no message of theirs waited or was worked on. A person who reads is left
// that time for the end of it.
func (r *run) leaveDone(now time.Time) {
	var rooms []*room
	for _, rm := range r.rooms {
		if rm.wanted && !rm.fixed && r.Channels.taskOf(rm.name) != "" {
			rooms = append(rooms, rm)
		}
	}
	if len(rooms) == 0 {
		r.threads = nil
		return
	}
	open, err := r.openThreads()
	if err != nil {
		r.trouble("it is not known which conversations are over", err)
		return
	}
	for _, rm := range rooms {
		switch {
		case open[r.Channels.taskOf(rm.name)]:
			rm.idle = time.Time{}
		case rm.idle.IsZero():
			rm.idle = now
		case now.Sub(rm.idle) >= sweepEvery:
			r.leave(rm, "")
		}
	}
}

// openThreads are the conversations of which something is to be done: a message waits or is
// claimed in a mailbox. What lies with the lead counts if it wants an answer.
func (r *run) openThreads() (map[string]bool, error) {
	open, known := map[string]bool{}, map[string]string{}
	err := r.Store.Unfinished(nil, func(box *dropbox.Mailbox, e dropbox.Entry) bool {
		key := box.Name() + " " + e.ID
		thread, ok := r.threads[key]
		if !ok {
			m, err := box.Read(e)
			if err != nil {
				return true // it has moved on, or is not a message
			}
			if thread = cmp.Or(m.Thread, m.ID); box.Name() == dropbox.Lead && !m.Type.WantsAnswer() {
				thread = ""
			}
		}
		known[key] = thread
		open[thread] = true
		return true
	})
	if err != nil {
		return nil, err
	}
	r.threads = known
	return open, nil
}
