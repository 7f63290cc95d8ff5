package ircbridge

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// save writes the state.
func (r *run) save() {
	r.dirty, r.written = false, time.Now()
	s := &r.state
	s.At = r.written.UTC()
	if err := r.plan.list(); err != nil { // nothing else lists while there is no connection
		r.trouble("mailbox was not listed", err)
	}
	s.Waiting, s.Unproven = len(r.plan.entries), r.unproven()
	s.Halted = r.halted
	r.noteHeard()
	s.Questions = nil
	for _, q := range r.open {
		s.Questions = append(s.Questions, q.OpenQuestion)
	}
	s.Channels, s.Warnings = nil, nil
	for _, key := range slices.Sorted(maps.Keys(r.rooms)) {
		room := r.rooms[key]
		s.Channels = append(s.Channels, room.told(r.main))
		if room.why != "" {
			s.Warnings = append(s.Warnings, "not in "+room.name+": "+room.why+room.howBack(r.main.nick))
		}
	}
	for _, c := range s.Channels {
		if c.NotRelayed != "" {
			s.Warnings = append(s.Warnings, "in "+c.Name+" nothing is relayed: "+c.NotRelayed)
		}
	}
	if s.Wanted != "" && s.Connected {
		s.Warnings = append(s.Warnings, fmt.Sprintf("somebody else is called %s: the bridge is %s until that is free", s.Wanted, s.Nick))
	}
	for _, agent := range slices.Sorted(maps.Keys(r.others)) {
		if want, l := r.Nick(agent), r.others[agent]; l.up && !strings.HasPrefix(l.fold.Fold(want), l.fold.Fold(l.nick)) { // a server may cut it
			s.Warnings = append(s.Warnings, fmt.Sprintf("somebody else is called %s: the agent is %s until that is free", want, l.nick))
		}
	}
	if r.main.state.Bouncer {
		s.Warnings = append(s.Warnings, idlePermits(r.Allow)...)
	}
	if s.Instead != "" {
		s.Warnings = append(s.Warnings, s.Instead)
	}
	if err := writeState(r.Home, *s); err != nil {
		r.Log.Error("state was not written", keyErr, err)
	}
}
