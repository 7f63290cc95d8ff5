package budget

import (
	"cmp"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A Reservation is the part of the budget that is reserved for a turn.
type Reservation struct {
	Turn
	amount Amount // the initial amount
	rest   Amount // the part that is not yet settled
	turn   string // the restored turn, if no ledger line has settled it yet; otherwise ""
}

// USD returns the cap of the turn's client, in US dollars; 0 means no cap.
func (r *Reservation) USD() float64 { return r.amount.Dollars() }

// Time returns the maximum duration of the turn; 0 means no limit.
func (r *Reservation) Time() time.Duration {
	if r == nil {
		return 0
	}
	return r.amount.Span()
}

// Note writes the reservation into the turn's record, for the next daemon. For a nil
// reservation it does nothing.
func (r *Reservation) Note(rec *journal.Record) {
	if r == nil {
		return
	}
	rec.ReservedUSD, rec.ReservedTurns, rec.ReservedSeconds = r.amount.Dollars(), int(r.amount[Turns]), r.amount.Span().Seconds()
}

// A Block explains why no turn may start in a scope.
type Block struct {
	Scope
	Unit   Unit      // the unit that is used up
	Spent  Amount    // in the scope
	Cap    Amount    // of the scope
	Own    Amount    // the cap without the raises that people added
	Waits  bool      // the remaining amount is reserved, so the turn may start once another turn has ended
	Answer Answer    // the person's answer; "" if there is none
	Until  time.Time // the end of the day; zero if the scope is not daily
	// Question is the question about the scope that was open at that time.
	Question Question
}

// share returns the part of the remaining amount that one turn gets. The parameter "of"
// is the number of turns that may start. If enough remains, the share is at least a
// sixteenth of the cap, because a turn that uses up its share has to start over.
func share(rest, limit int64, of int) int64 {
	return max(rest/int64(max(1, of)), min(rest, limit/16))
}

// turnsAtOnce returns how many turns can run concurrently in the scope. The parameter
// "of" is the number of turns that may start. An agent runs only one turn at a time.
func (s Scope) turnsAtOnce(of int) int {
	if s.Kind == KindAgent || s.Kind == KindTurn {
		return 1
	}
	return of
}

// Reserve reserves an amount for a turn that is about to start. The parameter "of" is the
// number of turns that may start now. If there is no cap, it reserves nothing, and both
// results are nil. If the turn may not start, the [Block] explains why.
func (b *Book) Reserve(t Turn, of int) (*Reservation, *Block) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if block := b.check(t); block != nil {
		return nil, block
	}
	r, bounded := &Reservation{Turn: t, amount: Amount{Turns: 1}}, false
	if b.rules.judges(t.Agent) {
		r.amount[Turns] = 0
	}
	for _, s := range t.scopes() {
		limit := b.limit(s, t.Agent)
		if limit.IsZero() || b.passes(s, t.Message) {
			continue
		}
		bounded = true
		rest := limit.less(b.used(s)).less(b.reserved(s))
		for _, u := range []Unit{USD, Time} {
			if limit[u] == 0 || u == USD && b.flatly(t.Agent) {
				continue
			}
			part := share(rest[u], limit[u], s.turnsAtOnce(of))
			if s.Kind == KindSwarm && b.rules.Judge != "" && !b.rules.judges(t.Agent) {
				part = min(part, rest[u]-rest[u]/16)
			}
			if u == USD {
				part -= part % cent
			}
			part = max(part, min(least[u], rest[u]))
			if r.amount[u] == 0 || part < r.amount[u] {
				r.amount[u] = part
			}
		}
	}
	if !bounded {
		return nil, nil
	}
	r.rest = r.amount
	b.open[r] = true
	return r, nil
}

// Restore restores the reservation that is in the record of an unfinished turn.
func (b *Book) Restore(rec *journal.Record) {
	b.mu.Lock()
	defer b.mu.Unlock()
	amount := Of(rec.ReservedUSD, rec.ReservedTurns, time.Duration(rec.ReservedSeconds*float64(time.Second)))
	b.open[&Reservation{Turn: Turn{Agent: rec.Agent, Message: cmp.Or(rec.Message, rec.Turn), Trace: cmp.Or(rec.Trace, rec.Message)}, amount: amount, rest: amount, turn: rec.Turn}] = true
}

// Unsettled returns an agent's restored turns that no ledger line has settled.
func (b *Book) Unsettled(agent string) (turns []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for r := range b.open {
		if r.Agent == agent && r.turn != "" {
			turns = append(turns, r.turn)
		}
	}
	return turns
}

// Release ends the reservations of an agent once its turns are filed. It reports whether
// the agent had any.
func (b *Book) Release(agent string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	before := len(b.open)
	for r := range b.open {
		if r.Agent == agent {
			delete(b.open, r)
			b.version++
		}
	}
	return len(b.open) < before
}

// used returns how much of its cap a scope has used. It is 0 for a scope of [KindTurn],
// because each turn gets the whole cap. The caller holds the mutex.
func (b *Book) used(s Scope) Amount {
	if s.Kind == KindTurn {
		return Amount{}
	}
	return b.spentIn(s)
}

// passes reports whether a person has allowed a message one more turn in a scope. The
// caller holds the mutex.
func (b *Book) passes(s Scope, message string) bool {
	_, ok := b.saidOf(s).Passes[message]
	return ok
}

// block returns why no turn may start in a scope, or nil if one may start. The caller
// holds the mutex.
func (b *Book) block(s Scope, t Turn, limit Amount) *Block {
	used := b.spentIn(s)
	full, taken := over(limit, used), over(limit, b.used(s).plus(b.reserved(s)))
	if b.flatly(t.Agent) {
		dollars := func(u Unit) bool { return u == USD }
		full, taken = slices.DeleteFunc(full, dollars), slices.DeleteFunc(taken, dollars)
	}
	of := b.saidOf(s)
	block := &Block{Scope: s, Spent: used, Cap: limit, Own: b.rules.cap(s, t.Agent), Answer: of.Answer, Question: b.question(s)}
	if s.Daily() {
		block.Until = b.rules.NextDay(b.now())
	}
	switch {
	case len(full) > 0:
		block.Unit = full[0]
	case len(taken) > 0:
		block.Unit, block.Waits = taken[0], true
	default:
		return nil
	}
	return block
}

// Check returns why a turn may not start, or nil if it may.
func (b *Book) Check(t Turn) *Block {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.check(t)
}

// check implements Check. If several scopes block the turn, it prefers a scope at its cap
// to a scope whose remaining amount is reserved. The caller holds the mutex.
func (b *Book) check(t Turn) (waits *Block) {
	for _, s := range t.scopes() {
		limit := b.limit(s, t.Agent)
		if limit.IsZero() || b.passes(s, t.Message) {
			continue
		}
		block := b.block(s, t, limit)
		if block != nil && !block.Waits {
			return block
		} else if waits == nil {
			waits = block
		}
	}
	return waits
}

// Open returns the number of turns that have a reservation.
func (b *Book) Open() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.open)
}
