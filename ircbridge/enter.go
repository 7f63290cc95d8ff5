package ircbridge

import (
	"fmt"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// inviteEvery is how often an invitation into a channel is followed: each costs a line.
const inviteEvery = 10 * time.Second

// staysIn is the reason for which a channel is not left.
const staysIn = "is a channel of the configuration, and the bridge stays there"

// enter asks the server to let us into a channel, now.
func (r *run) enter(rm *room) {
	rm.wanted, rm.asked = true, time.Now()
	rm.forgive()
	r.main.client.Join(r.channel(rm.name))
	r.saveJoined()
}

// forgive forgets that a channel did not let us in.
func (rm *room) forgive() { rm.failed, rm.why, rm.nextTry = "", "", time.Time{} }

// howBack says how we get into a channel again that does not let us in, for people.
func (rm *room) howBack(nick string) string {
	if rm.nextTry.IsZero() {
		return ""
	}
	return fmt.Sprintf("; tried again at %s UTC, or at once after /invite %s %s", rm.nextTry.Format("15:04"), nick, rm.name)
}

// tellAskers tells people who asked for a channel what came of it.
func (rm *room) tellAskers(said string) {
	askers := rm.askers
	rm.askers = nil
	for _, tell := range askers {
		tell(said)
	}
}

// joinFor joins a channel at the word of a person who may control; one that shut us out is
// tried at once. tell gets one line with what came of it, when that is known.
func (r *run) joinFor(name string, tell func(said string)) {
	if why := r.cannotBe(name); why != "" {
		tell(why)
		return
	}
	rm := r.room(name)
	if rm.joined {
		tell("I am in " + rm.name + " already.")
		return
	}
	rm.askers = append(rm.askers, tell)
	r.enter(rm)
}

// partFor leaves a channel at the word of a person who may control, and says in one line
// what came of it.
func (r *run) partFor(name string) (said string) {
	if why := r.cannotBe(name); why != "" {
		return why
	}
	rm := r.known(name)
	switch {
	case rm == nil || !rm.wanted:
		return "I am not in " + name + "."
	case rm.fixed:
		return rm.name + " " + staysIn + "."
	}
	r.leave(rm, "")
	return "I have left " + rm.name + "."
}

// cannotBe says why a name cannot be a channel's; "" when it can.
func (r *run) cannotBe(name string) string {
	if why := r.noChannel(name); why != "" {
		return why
	}
	if !r.isChannel(name) {
		return fmt.Sprintf("%q "+notChannel, name)
	}
	return ""
}

// invited follows an invitation: into a channel where we want to be, whoever invites, and
// into any other one when they may control.
func (r *run) invited(e irc.Invited) {
	now := time.Now()
	who := person(irc.Text{Nick: e.Nick, Source: e.Source})
	if r.main.state.Cap("account-tag") {
		who.Account = e.Account
	}
	rm := r.known(e.Channel)
	wanted := rm != nil && rm.wanted
	switch {
	case r.cannotBe(e.Channel) != "", wanted && (rm.joined || now.Sub(rm.invited) < inviteEvery):
		return
	case !wanted && !slices.Contains(rightsOf(r.Allow, who, r.fold(), r.where()), Control):
		r.Log.Info("invitation was not followed", keyNick, e.Nick, "source", e.Source, "account", e.Account, keyChannel, e.Channel)
		return
	}
	r.Log.Info("invitation was followed", keyNick, e.Nick, "account", e.Account, keyChannel, e.Channel)
	rm = r.room(e.Channel)
	rm.invited = now
	r.enter(rm)
}
