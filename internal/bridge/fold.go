package bridge

import (
	"fmt"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// After an outage, one line for each channel replaces the copies that nobody is waiting
// for, such as reports that turns began and ended. Otherwise the bridge would post old
// reports for a quarter of an hour.
const (
	foldAge  = 3 * time.Minute // newer copies are still news and are posted one by one
	foldKeep = 3               // how many of the newest copies are posted anyway
)

// foldUp runs once per connection. It looks for copies that were waiting before the
// connection began and are older than foldAge. For each channel with enough such copies,
// it delivers one message that replaces all but the newest of them. Each replaced copy is
// settled when it would have been posted; see [poster.folded]. After a crash, the next
// fold finds the remaining copies again. It delivers a second message only if the newest
// copy to be replaced is a different one.
func (o *poster) foldUp() {
	connection, since := o.link.Connection()
	if o.foldedFor == connection {
		return
	}
	if err := o.plan.list(); err != nil {
		return // takeOff reports the error
	}
	o.foldedFor = connection
	limit := time.Now().Add(-foldAge)
	if since.Before(limit) {
		limit = since
	}
	waiting := map[string][]waiter{}
	for _, e := range o.plan.entries {
		if e.Priority != dropbox.Low || e.Begun > 0 || !e.Created.Before(limit) {
			continue
		}
		w, gone := o.plan.look(e)
		if key := strings.ToLower(w.target); !gone && w.passing && o.link.IsChannel(w.target) && o.folds[w.ID] == "" {
			waiting[key] = append(waiting[key], w)
		}
	}
	for _, list := range waiting {
		if len(list) <= foldKeep+1 { // replacing a single copy with one line would save nothing
			continue
		}
		list = list[:len(list)-foldKeep]
		last := list[len(list)-1]
		d, err := o.mail.deliver(o.mail.name, &dropbox.Message{
			From: o.mail.name, To: []string{o.mail.name}, Type: dropbox.Note, Priority: dropbox.Normal, Key: o.mail.name + "-fold-" + last.ID, Body: []byte(foldedText(list, o.mail.title)),
			Extra: Origin{Channel: last.target, About: last.ID}.Extra(o.mail.name),
		})
		if err != nil {
			o.rec.trouble("copies were not folded", err) // the copies are then posted
			continue
		}
		for _, w := range list {
			o.folds[w.ID] = d.ID
		}
		o.plan.lookAgain()
	}
}

// foldedText returns the text that replaces the copies.
func foldedText(list []waiter, title string) string {
	began, ended, others := 0, 0, 0
	for _, w := range list {
		switch w.announces {
		case Begun:
			began++
		case Ended, Failed:
			ended++
		default:
			others++
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
	switch {
	case others == 1:
		said = append(said, "1 other message was sent")
	case others > 1:
		said = append(said, fmt.Sprintf("%d other messages were sent", others))
	}
	last := len(said) - 1
	text := said[last]
	if last > 0 {
		text = strings.Join(said[:last], ", ") + " and " + text
	}
	return text + " while " + title + " was away: claude-swarm history AGENT\n"
}

func turns(n int) string {
	if n == 1 {
		return "1 turn"
	}
	return fmt.Sprintf("%d turns", n)
}

// folded returns the reason why a message is not posted separately, or "" if it must be
// posted.
func (o *poster) folded(id string) string {
	into, ok := o.folds[id]
	if !ok {
		return ""
	}
	delete(o.folds, id)
	return "it waited while " + o.mail.title + " was away, and is counted in " + into
}
