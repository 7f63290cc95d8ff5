package ircbridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// joinPatience is how long a server may take to let us into a channel, or to say no.
const joinPatience = time.Minute

// askAgain is how long a channel is left alone that did not let us in.
const askAgain = 10 * time.Minute

// maxMembers is how many members of a channel the state names.
const maxMembers = 200

// A room is a channel that the bridge is in, or wants to be in.
//
//	wanted --JOIN of ours--> joined --history--> caught up: may be spoken in
//	   \--refused 5 times--> failed, and tried again now and then
type room struct {
	name    string
	fixed   bool // of the options
	wanted  bool
	joined  bool
	entered bool // we were in it once, so it is not given up when it shuts us out
	caught  bool
	failed  string    // why it does not let us in; messages for it are given up
	why     string    // for people: why we are not in it
	nextTry time.Time // after it has failed; zero is not known
	asked   time.Time
	idle    time.Time           // of the channel of a task: since when nothing of that is open
	invited time.Time           // when we followed an invitation
	joiners []*flight           // requests that wait until we are in
	askers  []func(said string) // people who wait for it
	modes   map[string]string
	bare    string // with [StyleRelay]: why nothing is relayed here
	stale   bool   // somebody came or went since modes were asked for
}

// room returns what is known of a channel.
func (r *run) room(name string) *room {
	key := strings.ToLower(name)
	if r.main != nil {
		key = r.fold().Fold(name)
	}
	rm := r.rooms[key]
	if rm == nil {
		fixed := slices.ContainsFunc(r.fixed(), func(f string) bool { return strings.EqualFold(f, name) })
		rm = &room{name: name, fixed: fixed}
		r.rooms[key] = rm
	}
	return rm
}

// regroup orders the rooms by what the server takes for one name.
func (r *run) regroup() {
	old := r.rooms
	r.rooms = make(map[string]*room, len(old))
	for _, rm := range old {
		if have := r.rooms[r.fold().Fold(rm.name)]; have != nil {
			have.wanted, have.fixed, have.entered = have.wanted || rm.wanted, have.fixed || rm.fixed, have.entered || rm.entered
			have.joiners, have.askers = append(have.joiners, rm.joiners...), append(have.askers, rm.askers...)
			continue
		}
		rm.asked = time.Now()
		r.rooms[r.fold().Fold(rm.name)] = rm
	}
}

// isChannel says whether a target is a channel on this server.
func (r *run) isChannel(target string) bool {
	if r.main.gen == 0 {
		return isChannel(target)
	}
	return r.main.state.ISupport.IsChannel(target)
}

// noChannel says why a name cannot be a channel's; "" when it can.
func (r *run) noChannel(name string) string {
	switch most := r.main.state.ISupport.Number("CHANNELLEN", 200); {
	case strings.ContainsAny(name, " ,\x07") || strings.ContainsFunc(name, func(c rune) bool { return c < ' ' }):
		return fmt.Sprintf("%q "+notAName, name)
	case len(name) > most:
		return fmt.Sprintf(longName+" %d bytes, and the server takes %d", len(name), most)
	}
	return ""
}

// want sees to it that we get into a channel, also when it was given up before.
func (r *run) want(rm *room) {
	if rm.wanted && rm.failed == "" {
		return
	}
	r.enter(rm)
}

// leave leaves a channel for good.
func (r *run) leave(rm *room, reason string) {
	rm.wanted = false
	for _, l := range r.others {
		l.client.Part(rm.name, reason)
	}
	r.main.client.Part(rm.name, reason)
	rm.joined, rm.caught = false, false
	rm.forgive()
	if !rm.fixed {
		delete(r.rooms, r.fold().Fold(rm.name))
	}
	r.saveJoined()
}

// known is what is known of a channel, nil for one that we do not want to be in.
func (r *run) known(name string) *room { return r.rooms[r.fold().Fold(name)] }

// takeRoom deals with what happened to channels.
func (r *run) takeRoom(e irc.Event) {
	switch e := e.(type) {
	case irc.Joined:
		rm := r.known(e.Channel)
		if rm == nil {
			return // the server put us there; the library leaves again
		}
		rm.stale = true
		if e.Own {
			rm.joined, rm.entered = true, true
			rm.forgive()
			joiners := rm.joiners
			rm.joiners = nil
			for _, f := range joiners {
				r.settle(f, outcomeJoined)
			}
			rm.tellAskers("I am in " + rm.name + " now.")
		}
	case irc.Left:
		if e.Channel == "" {
			for _, rm := range r.rooms {
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
				r.Log.Warn("kicked", keyChannel, e.Channel, "by", e.By, keyWhy, e.Reason)
			}
		}
	case irc.Failed:
		if rm := r.known(e.Channel); rm != nil {
			r.giveUpRoom(rm, e.Err, e.Retry)
		}
	case irc.Invited:
		r.invited(e)
	case irc.Gap:
		what := "what was said in between is not known"
		if e.Target == "" {
			what = "private talk in between is not known"
		}
		args := []any{keyChannel, e.Target, "from", e.From.UTC(), "to", e.To.UTC()}
		if e.Err != nil {
			args = append(args, keyErr, e.Err)
		}
		r.Log.Info(what, args...)
	case irc.ModesChanged:
		if rm := r.known(e.Channel); rm != nil {
			rm.stale, rm.bare = true, "" // we may be an operator now
		}
	case irc.TopicChanged: // the state shows it
	}
}

// caughtUp notes that what was said in a channel while we were away is known.
func (r *run) caughtUp(e irc.CaughtUp) {
	rm := r.known(e.Target)
	if rm == nil {
		return // a person, or a channel that we have left
	}
	rm.caught = rm.joined
	r.askModes(rm)
}

// giveUpRoom notes that a channel does not let us in; the library tries again after retry,
// 0 is never. What is to be said there is given up.
func (r *run) giveUpRoom(rm *room, err error, retry time.Duration) {
	now := time.Now()
	if rm.failed == "" {
		r.Log.Warn("not let into a channel", keyChannel, rm.name, keyErr, err, "retry", retry)
	}
	why := strings.Replace(err.Error(), rm.name+": ", "", 1) // the server's words begin with it
	rm.failed, rm.why, rm.asked, rm.nextTry = why, why, now, time.Time{}
	if retry > 0 {
		rm.nextTry = now.Add(retry).UTC()
	}
	if !rm.fixed && !rm.entered { // whoever has something to say there asks again
		rm.wanted, rm.nextTry = false, time.Time{}
		r.main.client.Part(rm.name, "")
		r.saveJoined()
	}
	joiners := rm.joiners
	rm.joiners = nil
	for _, f := range joiners {
		r.giveUp(f, notJoined+err.Error())
	}
	rm.tellAskers(fmt.Sprintf("%s does not let me in: %s. To let me in at once: /invite %s %s", rm.name, why, r.main.nick, rm.name))
	r.plan.ring()
}

// releaseJoiners puts requests back that wait for a channel.
func (r *run) releaseJoiners(rm *room) {
	joiners := rm.joiners
	rm.joiners = nil
	for _, f := range joiners {
		r.release(f)
	}
	rm.askers = nil // the connection ended, and with it what is said to people
}

// overdue gives up channels about which the server says nothing at all, and asks again
// for those later; of what let us in never, it forgets that.
func (r *run) overdue(now time.Time) {
	for key, rm := range r.rooms {
		switch {
		case rm.failed == "" || !rm.nextTry.IsZero() || now.Sub(rm.asked) < askAgain:
		case rm.wanted:
			r.enter(rm)
		default:
			delete(r.rooms, key)
		}
		if rm.wanted && !rm.joined && rm.failed == "" && rm.why == "" && r.main.up && now.Sub(rm.asked) > joinPatience {
			r.giveUpRoom(rm, errors.New("the server does not say whether we may"), 0)
		}
	}
}

// askModes asks who has which rank in a channel.
func (r *run) askModes(rm *room) {
	if !rm.joined || !r.main.up {
		return
	}
	rm.stale = false
	name, client, support, fold := rm.name, r.main.client, r.main.state.ISupport, r.fold()
	r.do(func() func() {
		ctx, cancel := context.WithTimeout(r.ctx, joinPatience)
		defer cancel()
		answer, err := client.Do(ctx, irc.Msg("NAMES", name))
		if err != nil {
			return nil // it is asked again after the next change
		}
		modes := map[string]string{}
		for _, m := range answer {
			if m.Command != "353" || !fold.Same(m.Param(2), name) {
				continue
			}
			for nick := range strings.FieldsSeq(m.Last()) {
				nick, _, _ = strings.Cut(nick, "!")
				bare := strings.TrimLeft(nick, rankSigns(support))
				modes[fold.Fold(bare)] = strings.TrimSuffix(nick, bare)
			}
		}
		return func() { rm.modes, r.dirty = modes, true }
	})
}

// rankSigns are the signs before the nicks of those who have a rank.
func rankSigns(s irc.ISupport) string {
	if _, signs, ok := strings.Cut(s["PREFIX"], ")"); ok {
		return signs
	}
	return "~&@%+"
}

// told is the room as the state tells it.
func (rm *room) told(l *link) Channel {
	c := Channel{Name: rm.name, Joined: rm.joined, Why: rm.why, NextTry: rm.nextTry, NotRelayed: rm.bare}
	conn, ok := l.client.Conn()
	if !ok || !rm.joined {
		return c
	}
	nicks, topic, _ := conn.Members(rm.name)
	c.Topic = topic
	if len(nicks) > maxMembers {
		nicks, c.More = nicks[:maxMembers], len(nicks)-maxMembers
	}
	for _, nick := range nicks {
		c.Members = append(c.Members, Member{Nick: nick, Modes: rm.modes[l.fold.Fold(nick)]})
	}
	return c
}

func joinedFile(home string) string { return filepath.Join(home, folder, "joined.json") }

// readJoined reads which channels were asked for, besides those of the options.
func readJoined(home string) ([]string, error) {
	data, err := os.ReadFile(joinedFile(home))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var names []string
	if err := json.Unmarshal(data, &names); err != nil {
		return nil, nil // broken by hand: whoever needs a channel asks again
	}
	return names, nil
}

func (r *run) saveJoined() {
	names := []string{}
	for _, rm := range r.rooms {
		if rm.wanted && !rm.fixed {
			names = append(names, rm.name)
		}
	}
	slices.Sort(names)
	if err := keep(joinedFile(r.Home), names); err != nil {
		r.trouble("channels were not noted", err)
	}
}

// levelOf says how loud the end of a connection is logged: the tries after it are not.
func levelOf(e irc.Down) slog.Level {
	if e.Was {
		return slog.LevelWarn
	}
	return slog.LevelDebug
}
