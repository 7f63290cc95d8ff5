package bridge

import (
	"cmp"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// leaveDone leaves the channels of conversations that are over. A conversation is over
// when two consecutive sweeps find no open message in it. The time between the sweeps
// lets people read the last messages.
func (r *run) leaveDone(now time.Time) {
	var done []ChannelState
	for _, ch := range r.link.Rooms().Joined() {
		if !ch.Fixed && r.o.Channels.taskOf(ch.Name) != "" {
			done = append(done, ch)
		}
	}
	if len(done) == 0 {
		r.threads = nil
		clear(r.idle)
		return
	}
	open, err := r.openThreads()
	if err != nil {
		r.rec.trouble("it is unknown which conversations are over", err)
		return
	}
	idle := map[string]time.Time{}
	for _, ch := range done {
		key := r.link.Fold(ch.Name)
		since, known := r.idle[key]
		switch {
		case open[r.o.Channels.taskOf(ch.Name)]:
		case !known:
			idle[key] = now
		case now.Sub(since) >= sweepEvery:
			r.link.Rooms().Leave(ch.Name)
		default:
			idle[key] = since
		}
	}
	r.idle = idle
}

// openThreads returns the conversations with an open message, that is, one that is
// waiting or claimed in a mailbox. A message to the lead counts only if it requests an
// answer.
func (r *run) openThreads() (map[string]bool, error) {
	open, known := map[string]bool{}, map[string]string{}
	err := r.mail.store.Unfinished(nil, func(box *dropbox.Mailbox, e dropbox.Entry) bool {
		key := box.Name() + " " + e.ID
		thread, ok := r.threads[key]
		if !ok {
			m, err := box.Read(e)
			if err != nil {
				return true // the file has been moved, or it is not a message
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
