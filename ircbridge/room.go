package ircbridge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// joinPatience is how long the link waits for a server to let us into a channel or to
// refuse.
const joinPatience = time.Minute

// askAgain is the pause before the next attempt to join a channel that did not let us in.
const askAgain = 10 * time.Minute

// maxMembers is the maximum number of a channel's members that the state lists.
const maxMembers = 200

// A room is a channel that the bridge is in, or wants to be in.
//
//	wanted --JOIN of ours--> joined --history--> caught up: may be spoken in
//	   \--refused several times--> failed, and tried again now and then
type room struct {
	name    string
	fixed   bool // named in the options
	wanted  bool
	joined  bool
	entered bool // we were in the channel once, so we do not give it up if it refuses us
	caught  bool
	failed  string    // why the channel does not let us in; messages for it are given up
	why     string    // for people: why we are not in the channel
	nextTry time.Time // the time of the next attempt after failures; zero means unknown
	asked   time.Time
	invited time.Time            // when we last accepted an invitation
	joiners []func(bridge.Entry) // called when it is known whether we are in the channel
	bare    string               // with [StyleRelay]: why no text is relayed in this channel
	stale   bool                 // a member joined or left, or a mode changed, since we last requested the modes
}

// rooms are the channels of a link. The bridge's goroutine owns them.
type rooms struct {
	l   *link
	all map[string]*room // by folded name
}

var _ bridge.Rooms = (*rooms)(nil)

// room returns the room of a channel, creating the room if necessary.
func (r *rooms) room(name string) *room {
	key := strings.ToLower(name)
	if r.l.main != nil {
		key = r.l.Fold(name)
	}
	rm := r.all[key]
	if rm == nil {
		fixed := slices.ContainsFunc(r.l.o.fixed(), func(f string) bool { return strings.EqualFold(f, name) })
		rm = &room{name: name, fixed: fixed}
		r.all[key] = rm
	}
	return rm
}

// regroup stores the rooms under their names as folded by the current server.
func (r *rooms) regroup() {
	old := r.all
	r.all = make(map[string]*room, len(old))
	for _, rm := range old {
		if have := r.all[r.l.Fold(rm.name)]; have != nil {
			have.wanted, have.fixed, have.entered = have.wanted || rm.wanted, have.fixed || rm.fixed, have.entered || rm.entered
			have.joiners = append(have.joiners, rm.joiners...)
			continue
		}
		rm.asked = time.Now()
		r.all[r.l.Fold(rm.name)] = rm
	}
}

// noChannel returns the reason why no channel on this server can have the given name, or
// "" if the name is allowed.
func (r *rooms) noChannel(name string) string {
	switch most := r.l.main.state.ISupport.Number("CHANNELLEN", 200); {
	case strings.ContainsAny(name, " ,\x07") || strings.ContainsFunc(name, func(c rune) bool { return c < ' ' }):
		return fmt.Sprintf("%q "+notAName, name)
	case len(name) > most:
		return fmt.Sprintf(longName+" %d bytes, and the server allows %d", len(name), most)
	}
	return ""
}

// want makes us join a channel, even one that we had given up.
func (r *rooms) want(rm *room) {
	if rm.wanted && rm.failed == "" {
		return
	}
	r.enter(rm)
}

// leave leaves a channel for good.
func (r *rooms) leave(rm *room, reason string) {
	rm.wanted = false
	for _, c := range r.l.others {
		c.client.Part(rm.name, reason)
	}
	r.l.main.client.Part(rm.name, reason)
	rm.joined, rm.caught = false, false
	rm.forgive()
	if !rm.fixed {
		delete(r.all, r.l.Fold(rm.name))
	}
	r.noteJoined()
}

// known returns the room of a channel, or nil if the link does not know the channel.
func (r *rooms) known(name string) *room { return r.all[r.l.Fold(name)] }

// handle handles events about channels.
func (r *rooms) handle(e irc.Event) {
	switch e := e.(type) {
	case irc.Joined:
		rm := r.known(e.Channel)
		if rm == nil {
			return // the server has forced us to join this channel; the library leaves it
		}
		rm.stale = !e.Own // the server sends the names with our own JOIN
		if e.Own {
			rm.joined, rm.entered = true, true
			rm.forgive()
			rm.tell(bridge.Entry{In: true, Name: rm.name})
		}
	case irc.Left:
		if e.Channel == "" {
			for _, rm := range r.all {
				rm.stale = true
			}
			return
		}
		rm := r.known(e.Channel)
		if rm == nil {
			return
		}
		rm.stale = true
		if e.Own {
			rm.joined, rm.caught, rm.asked = false, false, time.Now()
			if e.By != "" {
				rm.why = fmt.Sprintf("kicked by %s: %s", e.By, e.Reason)
				r.l.o.Log.Warn("kicked", keyChannel, e.Channel, "by", e.By, keyWhy, e.Reason)
			}
		}
	case irc.Failed:
		if rm := r.known(e.Channel); rm != nil {
			r.giveUp(rm, e.Err, e.Retry)
		}
	case irc.Invited:
		r.invited(e)
	case irc.Gap:
		what := "what was said in between is not known"
		if e.Target == "" {
			what = "what was said privately in between is not known"
		} else if r.known(e.Target) != nil {
			since, spoken := r.l.host.Missed(e.Target, e.From, e.To)
			if !spoken {
				return
			}
			e.From = since
		}
		args := []any{keyChannel, e.Target, "from", e.From.UTC(), "to", e.To.UTC()}
		if e.Err != nil {
			args = append(args, keyErr, e.Err)
		}
		r.l.o.Log.Info(what, args...)
	case irc.ModesChanged:
		if rm := r.known(e.Channel); rm != nil {
			rm.stale, rm.bare = true, "" // we may be an operator now
		}
	case irc.TopicChanged: // nothing to do, because the state contains the topic
	}
}

// caughtUp records that we know all lines that were sent to a channel while we were away.
func (r *rooms) caughtUp(e irc.CaughtUp) {
	rm := r.known(e.Target)
	if rm == nil {
		return // the target is a person, or a channel that we have left
	}
	rm.caught = rm.joined
}

// giveUp records that a channel does not let us in. The library retries after the
// duration retry, or never if retry is 0. Messages for the channel are given up.
func (r *rooms) giveUp(rm *room, err error, retry time.Duration) {
	now := time.Now()
	if rm.failed == "" {
		r.l.o.Log.Warn("not let into a channel", keyChannel, rm.name, keyErr, err, "retry", retry)
	}
	why := strings.Replace(err.Error(), rm.name+": ", "", 1) // the error may contain the channel's name
	rm.failed, rm.why, rm.asked, rm.nextTry = why, why, now, time.Time{}
	if retry > 0 {
		rm.nextTry = now.Add(retry).UTC()
	}
	if !rm.fixed && !rm.entered { // the next message for the channel makes us rejoin it
		rm.wanted, rm.nextTry = false, time.Time{}
		r.l.main.client.Part(rm.name, "")
		r.noteJoined()
	}
	rm.tell(bridge.Entry{
		Name: rm.name, Why: err.Error(),
		Advice: fmt.Sprintf("%s does not let me in: %s. To let me in immediately: /invite %s %s", rm.name, why, r.l.main.nick, rm.name),
	})
	r.l.host.LookAgain()
}

// tell passes the outcome to all callers that are waiting for a channel.
func (rm *room) tell(e bridge.Entry) {
	joiners := rm.joiners
	rm.joiners = nil
	for _, then := range joiners {
		then(e)
	}
}

// release tells all callers that are waiting for a channel that the outcome is unknown.
func (rm *room) release() { rm.tell(bridge.Entry{Dropped: true, Name: rm.name}) }

// overdue gives up a channel if the server does not answer the JOIN, and retries later.
// It deletes a failed channel that is no longer wanted.
func (r *rooms) overdue(now time.Time) {
	for key, rm := range r.all {
		switch {
		case rm.failed == "" || !rm.nextTry.IsZero() || now.Sub(rm.asked) < askAgain:
		case rm.wanted:
			r.enter(rm)
		default:
			delete(r.all, key)
		}
		if rm.wanted && !rm.joined && rm.failed == "" && rm.why == "" && r.l.main.up && now.Sub(rm.asked) > joinPatience {
			r.giveUp(rm, errors.New("the server did not answer the request to join"), 0)
		}
	}
}

// inOrder returns the rooms in the order in which to join them: those in the options, of which
// the project's channel is the first, and then the others by name.
func (r *rooms) inOrder() []*room {
	fixed := r.l.o.fixed()
	place := func(rm *room) int {
		if i := slices.IndexFunc(fixed, func(f string) bool { return strings.EqualFold(f, rm.name) }); i >= 0 {
			return i
		}
		return len(fixed)
	}
	return slices.SortedFunc(maps.Values(r.all), func(a, b *room) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), strings.Compare(a.name, b.name))
	})
}

// askModes requests the ranks of a channel's members. The server sends them with our JOIN, so
// they are requested only after a change.
func (r *rooms) askModes(rm *room) {
	if !rm.joined || !r.l.main.up {
		return
	}
	rm.stale = false
	name, client := rm.name, r.l.main.client
	r.l.host.Do(func() func() {
		ctx, cancel := context.WithTimeout(r.l.stop, joinPatience)
		defer cancel()
		if _, err := client.Do(ctx, irc.Msg("NAMES", name)); err != nil { // the connection keeps the ranks
			return nil // the next change causes another request
		}
		return r.l.host.Changed
	})
}

// told returns the room in the form used in the state.
func (rm *room) told(main *connection) bridge.Channel {
	c := bridge.Channel{Name: rm.name, Joined: rm.joined, Why: rm.why, NextTry: rm.nextTry, NotRelayed: rm.bare}
	conn, ok := main.client.Conn()
	if !ok || !rm.joined {
		return c
	}
	nicks, topic, _ := conn.Members(rm.name)
	ranks := conn.Ranks(rm.name)
	c.Topic = topic
	if len(nicks) > maxMembers {
		nicks, c.More = nicks[:maxMembers], len(nicks)-maxMembers
	}
	for _, nick := range nicks {
		c.Members = append(c.Members, bridge.Member{Nick: nick, Modes: ranks[main.fold.Fold(nick)]})
	}
	return c
}

// noteJoined passes the channels that people asked for to the host, so that the host can
// store them. It leaves out the channels in the options.
func (r *rooms) noteJoined() {
	var names []string
	for _, rm := range r.all {
		if rm.wanted && !rm.fixed {
			names = append(names, rm.name)
		}
	}
	slices.Sort(names)
	r.l.host.Noted(names)
}
