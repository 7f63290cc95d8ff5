package ircbridge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// inviteEvery is the minimum time between two accepted invitations to the same channel.
// The limit is needed because the link must send a line to accept an invitation.
const inviteEvery = 10 * time.Second

// enter immediately asks the server to let us into a channel.
func (r *rooms) enter(rm *room) {
	rm.wanted, rm.asked = true, time.Now()
	rm.forgive()
	r.l.main.client.Join(r.l.o.channel(rm.name))
	r.noteJoined()
}

// forgive clears the record that a channel did not let us in.
func (rm *room) forgive() { rm.failed, rm.why, rm.nextTry = "", "", time.Time{} }

// howBack tells people how the bridge can rejoin a channel that does not let it in.
func (rm *room) howBack(nick string) string {
	if rm.nextTry.IsZero() {
		return ""
	}
	return fmt.Sprintf("; next try at %s UTC, or immediately after /invite %s %s", rm.nextTry.Format("15:04"), nick, rm.name)
}

// Channel implements [bridge.Rooms].
func (r *rooms) Channel(name string) (bridge.ChannelState, bool) {
	rm := r.known(name)
	if rm == nil {
		return bridge.ChannelState{}, false
	}
	return r.channelState(rm), true
}

func (r *rooms) channelState(rm *room) bridge.ChannelState {
	return bridge.ChannelState{Name: rm.name, Fixed: rm.fixed, Wanted: rm.wanted, In: rm.joined, Topic: rm.told(r.l.main).Topic}
}

// Joined implements [bridge.Rooms].
func (r *rooms) Joined() (all []bridge.ChannelState) {
	for _, rm := range r.all {
		if rm.wanted {
			all = append(all, r.channelState(rm))
		}
	}
	return all
}

// MaySay implements [bridge.Rooms].
func (r *rooms) MaySay(channel string, begun bool) bool {
	rm := r.room(channel)
	r.want(rm)
	return rm.joined && rm.caught && (!begun || !r.l.lingers(channel))
}

// Shut implements [bridge.Rooms].
func (r *rooms) Shut(channel string) string {
	if why := r.noChannel(channel); why != "" {
		return why
	}
	if rm := r.known(channel); rm != nil && rm.failed != "" {
		return notLetIn + rm.name + ": " + rm.failed
	}
	return ""
}

// Join implements [bridge.Rooms].
func (r *rooms) Join(name string, now bool, then func(bridge.Entry)) {
	rm := r.room(name)
	if now {
		rm.joiners = append(rm.joiners, then)
		r.enter(rm)
		return
	}
	r.want(rm)
	if rm.joined {
		then(bridge.Entry{In: true, Name: rm.name})
		return
	}
	rm.joiners = append(rm.joiners, then)
}

// Leave implements [bridge.Rooms].
func (r *rooms) Leave(name string) { r.leave(r.room(name), "") }

// SetTopic implements [bridge.Rooms].
func (r *rooms) SetTopic(channel, text string, then func(error)) {
	if most := r.l.main.state.ISupport.Number("TOPICLEN", 390); len(text) > most {
		text = irc.Split(text, most)[0].Text
	}
	client := r.l.main.client
	r.l.host.Do(func() func() {
		ctx, cancel := context.WithTimeout(r.l.stop, joinPatience)
		defer cancel()
		_, err := client.Do(ctx, irc.Msg("TOPIC", channel, text))
		if refused, ok := errors.AsType[*irc.Rejected](err); ok {
			err = &bridge.RefusedError{Reason: refused.Error()}
		} else if errors.Is(err, irc.ErrMessage) || errors.Is(err, irc.ErrTooLong) {
			err = &bridge.ImpossibleError{Err: err}
		}
		return func() { then(err) }
	})
}

// CannotBe implements [bridge.Rooms].
func (r *rooms) CannotBe(name string) string {
	if why := r.noChannel(name); why != "" {
		return why
	}
	if !r.l.IsChannel(name) {
		return fmt.Sprintf("%q "+notChannel, name)
	}
	return ""
}

// invited accepts an invitation. Any person may invite the bridge to a wanted channel,
// but only a person with the "control" right may invite it to another channel.
func (r *rooms) invited(e irc.Invited) {
	now := time.Now()
	who := personOf(e.Nick, e.Source)
	if r.l.main.state.Cap("account-tag") {
		who.Account = e.Account
	}
	rm := r.known(e.Channel)
	wanted := rm != nil && rm.wanted
	switch {
	case r.CannotBe(e.Channel) != "", wanted && (rm.joined || now.Sub(rm.invited) < inviteEvery):
		return
	case !wanted && !r.l.host.MayControl(who):
		r.l.o.Log.Info("invitation was not accepted", keyNick, e.Nick, "source", e.Source, "account", e.Account, keyChannel, e.Channel)
		return
	}
	r.l.o.Log.Info("invitation was accepted", keyNick, e.Nick, "account", e.Account, keyChannel, e.Channel)
	rm = r.room(e.Channel)
	rm.invited = now
	r.enter(rm)
}
