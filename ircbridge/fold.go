package ircbridge

import (
	"fmt"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// After an outage what merely tells that turns began and ended is said in one line for
// each channel: a telephone that buzzes for each would buzz for a quarter of an hour.
const (
	foldAge  = 3 * time.Minute // what is younger is news
	foldKeep = 3               // so many of the others are said anyway, the newest
)

// passing says whether a copy merely tells that a turn began or ended, and nobody waits
// for it. What came of a task that a person gave is awaited.
func passing(m *dropbox.Message, n Origin) bool {
	if n.About == "" || n.Do != "" || m.Priority != dropbox.Low || m.Type == dropbox.Question {
		return false
	}
	switch n.Announces {
	case Said, Begun, Failed:
		return true
	case Ended:
		return n.To != dropbox.Lead && n.To != dropbox.IRC
	}
	return false
}

// foldUp looks once in each connection for copies that waited since before it, and
// leaves a message that is said instead of them. Those are then settled one by one, when
// they would be said: see [run.folded]. A crash on the way forgets the fold; the next
// one finds the same copies and leaves no second message, unless some were settled.
func (r *run) foldUp() {
	if r.foldedFor == r.main.gen {
		return
	}
	if err := r.plan.list(); err != nil {
		return // takeOff complains
	}
	r.foldedFor = r.main.gen
	limit := time.Now().Add(-foldAge)
	if r.main.since.Before(limit) {
		limit = r.main.since
	}
	waiting := map[string][]waiter{}
	for _, e := range r.plan.entries {
		if e.Priority != dropbox.Low || e.Begun > 0 || !e.Created.Before(limit) {
			continue
		}
		w, gone := r.plan.look(e)
		if key := strings.ToLower(w.target); !gone && w.passing && r.isChannel(w.target) && r.folds[w.ID] == "" {
			waiting[key] = append(waiting[key], w)
		}
	}
	for _, list := range waiting {
		if len(list) <= foldKeep+1 { // the line about one line is a line, too
			continue
		}
		list = list[:len(list)-foldKeep]
		last := list[len(list)-1]
		d, err := r.deliver(dropbox.IRC, &dropbox.Message{
			From: dropbox.IRC, To: []string{dropbox.IRC}, Type: dropbox.Note, Priority: dropbox.Normal, Key: "irc-fold-" + last.ID, Body: []byte(foldedText(list)),
			Extra: Origin{Channel: last.target, About: last.ID}.Extra(),
		})
		if err != nil {
			r.trouble("copies were not folded", err) // and are said
			continue
		}
		for _, w := range list {
			r.folds[w.ID] = d.ID
		}
		r.plan.ring()
	}
}

// foldedText is what is said instead of copies.
func foldedText(list []waiter) string {
	began, ended := 0, 0
	for _, w := range list {
		if w.moment == Ended || w.moment == Failed {
			ended++
		} else {
			began++
		}
	}
	var said []string
	if began > 0 {
		said = append(said, turns(began)+" began")
	}
	switch {
	case ended > 0 && began > 0:
		said = append(said, fmt.Sprintf("%d ended", ended))
	case ended > 0:
		said = append(said, turns(ended)+" ended")
	}
	return strings.Join(said, " and ") + " while IRC was away: claude-swarm history AGENT\n"
}

func turns(n int) string {
	if n == 1 {
		return "1 turn"
	}
	return fmt.Sprintf("%d turns", n)
}

// folded says why a message is not said by itself; "" when it is.
func (r *run) folded(id string) string {
	into, ok := r.folds[id]
	if !ok {
		return ""
	}
	delete(r.folds, id)
	return "it waited while IRC was away, and is counted in " + into
}
