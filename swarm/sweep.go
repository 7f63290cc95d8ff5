package swarm

import (
	"context"
	"fmt"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

func (s *Swarm) sweepEvery() time.Duration {
	if s.opts.Sweep == 0 {
		return 30 * time.Second
	}
	return s.opts.Sweep
}

// groundAgain is the time between two checks for the folder that contains all mailboxes
// while that folder is missing. No event reports its return.
const groundAgain = time.Second

// sweep checks all folders at intervals, because events can be lost. It also tidies up.
func (s *Swarm) sweep(ctx context.Context, w *dropbox.Watcher, ground *ground) {
	defer func() { s.mail.Note(ground.close()) }()
	// Each agent recovers its own mailbox, but no agent works in the lead's mailbox.
	if box, err := s.store.Mailbox(dropbox.Lead); err == nil {
		s.mail.Note(box.Recover())
	}
	work := follower{store: s.store, tokens: s.tokens, mail: s.mail, notices: s.notices, plan: s.Plan, log: s.log, waits: unclaimed{}}
	work.followUp(time.Now())
	s.budget.settleOver()
	s.stuckHolds.settleFreed()
	cleaner := cleaner{store: s.store, home: s.home, plan: s.Plan, log: s.log}
	every := s.sweepEvery()
	t := time.NewTimer(every)
	defer t.Stop()
	tidied, swept := time.Time{}, time.Now()
	census := newCensus(s.store, s.notices, s.Plan, s.members, s.log)
	var away departure
	heard := s.hearOthers(0)
	for {
		if now := time.Now(); now.Sub(tidied).Abs() >= time.Hour {
			tidied = now
			cleaner.tidy(now)
		}
		lost := false
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			select {
			case <-s.lost:
				lost = true
			default:
			}
		case <-s.lost:
			lost = true
		}
		if lost && !afterDeletions(ctx, s.lost) {
			return
		}
		t.Reset(every)
		away.check(s.folder, time.Now(), s.opts.Moved)
		wrong := ground.check()
		if wrong != "" {
			s.notices.Trouble.Set("ground", wrong)
			t.Reset(min(every, groundAgain))
			if !lost && time.Since(swept) < every {
				continue
			}
		} else {
			s.notices.Trouble.Clear("ground")
		}
		swept = time.Now()
		if err := s.countAttached(); err != nil {
			s.log.Warn("turns of attached sessions could not be counted", keyErr, err)
		}
		s.restore()
		heard = s.hearOthers(heard)
		soon := census.check(swept)
		runner.ReapAdopted()
		s.notices.Trouble.Mend()
		s.mail.Note(s.holds.CatchUp())
		s.strays.listLead()
		s.strays.listBusy()
		s.notices.Announcer.Count(s.store)
		s.mail.Note(s.notices.Quiet.Tell(time.Now()))
		s.strays.tellStrays(time.Now())
		s.strays.tellLitter(time.Now())
		s.TellGone()
		if w != nil {
			s.watches(w.Rewatch())
		}
		if soon {
			t.Reset(min(every, vanishedAgain))
		}
		work.followUp(time.Now())
		s.budget.settleOver()
		s.stuckHolds.settleFreed()
		s.tasks.moved() // people, and the hooks of attached sessions, move mail too
		s.wakeAgents()
	}
}

// watches reports how many mailboxes are not watched, and why.
func (s *Swarm) watches(missing int, err error) {
	if missing == 0 && err == nil {
		s.notices.Trouble.Clear("watch")
		return
	}
	which := "the mailboxes"
	if missing > 0 {
		which = fmt.Sprintf("%d of the mailboxes", missing)
	}
	s.notices.Trouble.Set("watch", fmt.Sprintf("%s cannot be watched: %v; they are checked every %v", which, err, s.sweepEvery()))
}
