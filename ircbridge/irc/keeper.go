package irc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxHeld is how many live messages of one target wait for its history.
const maxHeld = 5000

// ctcpEvery bounds how often a CTCP is answered.
const ctcpEvery = 10 * time.Second

// A keeper turns the messages of one connection after another into events. It
// belongs to the goroutine of [Client.Run].
type keeper struct {
	*Client
	rings   map[string]*ring // by folded peer; they outlive connections
	private time.Time        // until when we know all private talk, by the server's clock
}

// A visit is what a keeper knows of one connection.
type visit struct {
	*keeper
	conn    *Conn
	st      State // with nick and isupport as of the last message
	wishes  map[string]*wish
	fetched chan fetched
	held    map[string][]Message // live messages, by target whose history is being fetched
	caught  bool                 // the private talk is fetched
	ctcp    time.Time            // when one was answered
	wg      sync.WaitGroup       // of the fetches
}

// fetched is the history of a target, or why there is none.
type fetched struct {
	target   string // folded channel; "" for private talk
	name     string // as the server writes it; "" is the end of all private talk, and err why some is not known
	messages []Message
	byTime   bool // see [Conn.history]
	after    Mark // what they are asked for by; of a channel
	from, to time.Time
	err      error
}

// serve runs until the connection ends, and returns why.
func (k *keeper) serve(ctx context.Context, conn *Conn) error {
	v := &visit{
		keeper: k, conn: conn, st: conn.State(), wishes: make(map[string]*wish),
		fetched: make(chan fetched), held: make(map[string][]Message),
	}
	fetching, stopFetching := context.WithCancel(ctx)
	defer v.wg.Wait()
	defer stopFetching()
	defer v.leave()
	k.emit(ctx, Up{v.st})
	v.fetchPrivate(ctx, fetching)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		timer.Reset(v.enter(time.Now()))
		select {
		case m, ok := <-conn.Messages():
			if !ok {
				<-conn.Done()
				return errors.Join(conn.Err(), conn.Close(ctx, ""))
			}
			v.take(ctx, fetching, m)
		case f := <-v.fetched:
			v.caughtUp(ctx, f)
		case <-k.bell:
		case <-timer.C:
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
			defer cancel()
			return conn.Close(last, "")
		}
	}
}

// leave notes until when we heard what was said.
func (v *visit) leave() {
	now := time.Now()
	if v.caught {
		v.private = v.conn.State().Heard // a connection may be dead long before we see it
	}
	for key, w := range v.wishes {
		if w.state == in && v.held[key] == nil {
			v.ring(key).alive = now
		}
	}
}

// ring returns the ids of a peer, from the memory at first.
func (k *keeper) ring(key string) *ring {
	r := k.rings[key]
	if r == nil {
		marks, err := k.o.Memory.Marks(key)
		if err != nil {
			k.logger().Warn("marks were not read", "target", key, "err", err)
		}
		r = newRing(marks)
		k.rings[key] = r
	}
	return r
}

func (v *visit) take(ctx, fetching context.Context, m Message) {
	if isHistory(m.Tags["batch"]) && m.Command != "PRIVMSG" && m.Command != "NOTICE" {
		return // who came and went then
	}
	switch m.Command {
	case "005", "NICK", "001":
		v.st = v.conn.State()
	}
	fold := v.st.CaseMapping()
	own := fold.Same(m.Nick(), v.st.Nick)
	channel := m.Param(0)
	switch m.Command {
	case "PRIVMSG", "NOTICE":
		v.heard(ctx, m)
	case "JOIN":
		account := ""
		if len(m.Params) > 1 && m.Param(1) != "*" {
			account = m.Param(1)
		}
		v.emit(ctx, Joined{channel, m.Nick(), account, own})
		if own {
			v.entered(ctx, fetching, channel, messageTime(m, time.Now()))
		}
	case "PART":
		v.emit(ctx, Left{Channel: channel, Nick: m.Nick(), Reason: m.Param(1), Own: own})
		if own {
			v.parted(ctx, channel, nil)
		}
	case "KICK":
		own = fold.Same(m.Param(1), v.st.Nick)
		v.emit(ctx, Left{Channel: channel, Nick: m.Param(1), Reason: m.Param(2), By: m.Nick(), Own: own})
		if own {
			v.parted(ctx, channel, fmt.Errorf("kicked by %s: %s", m.Nick(), m.Param(2)))
		}
	case "QUIT":
		v.emit(ctx, Left{Nick: m.Nick(), Reason: m.Param(0), Own: own})
	case "NICK":
		// The state is newer than the message: it has the nick already.
		v.emit(ctx, Renamed{m.Nick(), m.Param(0), fold.Same(m.Param(0), v.st.Nick)})
	case "INVITE":
		if fold.Same(channel, v.st.Nick) {
			v.emit(ctx, Invited{Channel: m.Param(1), Nick: m.Nick(), Source: m.Source, Account: m.Tags["account"]})
		}
	case "MODE":
		if v.st.ISupport.IsChannel(channel) {
			v.emit(ctx, ModesChanged{channel, m.Nick()})
		}
	case "TOPIC":
		v.emit(ctx, TopicChanged{channel, m.Nick(), m.Param(1)})
	default:
		v.refused(ctx, m)
	}
}

// heard tells a text, or keeps it until the history before it is told.
func (v *visit) heard(ctx context.Context, m Message) {
	t, ok := newText(m, &v.st, time.Now())
	if !ok {
		v.answerCTCP(m)
		return
	}
	key := v.st.CaseMapping().Fold(t.Peer())
	if held, ok := v.held[key]; ok && !t.History {
		if len(held) < maxHeld {
			v.held[key] = append(held, m)
			return
		}
		v.release(ctx, key) // the history takes too long: its texts come behind
	}
	v.tell(ctx, key, t)
}

func (v *visit) tell(ctx context.Context, key string, t Text) {
	if v.ring(key).add(t.Mark(), t.History) {
		v.emit(ctx, t)
	}
}

func (v *visit) release(ctx context.Context, key string) {
	held := v.held[key]
	delete(v.held, key)
	for _, m := range held {
		if t, ok := newText(m, &v.st, time.Now()); ok {
			v.tell(ctx, key, t)
		}
	}
}

// answerCTCP answers VERSION and PING, now and then, and nothing else.
func (v *visit) answerCTCP(m Message) {
	command, args, ok := CTCP(m.Last())
	if !ok || m.Command != "PRIVMSG" || v.st.CaseMapping().Same(m.Nick(), v.st.Nick) || time.Since(v.ctcp) < ctcpEvery {
		return
	}
	answer := ""
	switch command {
	case "VERSION":
		answer = "VERSION claude-swarm"
	case "PING":
		answer = "PING " + args
	default:
		return
	}
	v.ctcp = time.Now()
	v.conn.tell(Msg("NOTICE", m.Nick(), "\x01"+strings.TrimSpace(answer)+"\x01"))
}

// entered begins to catch up with a channel after our own JOIN.
func (v *visit) entered(ctx, fetching context.Context, channel string, at time.Time) {
	key := v.st.CaseMapping().Fold(channel)
	v.joined(key, channel)
	r := v.ring(key)
	from := r.last
	if from == (Mark{}) {
		// The first time: there is nothing to catch up with, and this is where to begin.
		r.last = Mark{Time: at}
		v.emit(ctx, CaughtUp{channel})
		return
	}
	since := from.Time
	if r.alive.After(since) {
		since = r.alive
	}
	if v.conn.HistoryLimit() == 0 {
		v.emit(ctx, Gap{Target: channel, From: since, To: at})
		v.emit(ctx, CaughtUp{channel})
		return
	}
	v.held[key] = []Message{}
	v.fetch(fetching, fetched{target: key, name: channel, after: from, from: since, to: at})
}

// fetch gets a history without holding up what is said meanwhile.
func (v *visit) fetch(ctx context.Context, f fetched) {
	v.wg.Go(func() {
		f.messages, f.byTime, f.err = v.conn.history(ctx, f.name, f.after)
		select {
		case v.fetched <- f:
		case <-ctx.Done():
		}
	})
}

// fetchPrivate catches up with private talk, of which nobody tells a newcomer:
// the server names those who wrote, and then each history is asked for. Without
// history there is nothing to tell: who writes to an absent nick learns that.
func (v *visit) fetchPrivate(ctx, fetching context.Context) {
	from := v.private
	if marks, err := v.o.Memory.Marks(""); err == nil && len(marks) > 0 && from.IsZero() {
		from = marks[len(marks)-1].Time
	}
	if from.IsZero() || v.conn.HistoryLimit() == 0 {
		v.caughtUp(ctx, fetched{})
		return
	}
	v.wg.Go(func() {
		after := Mark{Time: from.Add(-overlap)}
		nicks, err := v.conn.PrivateSince(fetching, after.Time)
		for _, nick := range append(nicks, "") {
			f := fetched{name: nick, from: from}
			if nick == "" {
				f.err = err
			} else {
				f.messages, f.err = v.conn.History(fetching, nick, after)
			}
			select {
			case v.fetched <- f:
			case <-fetching.Done():
				return
			}
		}
	})
}

// caughtUp tells a history and then what was held back for it.
func (v *visit) caughtUp(ctx context.Context, f fetched) {
	if f.target != "" && f.byTime {
		known := v.knows(f)
		f.messages = since(f.messages, f.after)
		if !known && f.err == nil {
			if len(f.messages) > 0 {
				f.to = messageTime(f.messages[0], f.to)
			}
			if f.to.Before(f.from) {
				f.from = f.after.Time // by the server's clock, too
			}
			v.emit(ctx, Gap{Target: f.name, From: f.from, To: f.to})
		}
	}
	for _, m := range f.messages {
		t, ok := newText(m, &v.st, time.Now())
		if !ok {
			continue
		}
		t.History = true
		v.tell(ctx, v.st.CaseMapping().Fold(t.Peer()), t)
	}
	if v.conn.Err() != nil && (f.err != nil || f.name == "") {
		// What is held back stays untold, so that the mark stays where it is: the
		// next connection asks again from there.
		return
	}
	if f.err != nil {
		v.emit(ctx, Gap{Target: f.name, From: f.from, To: time.Now(), Err: f.err})
	}
	v.emit(ctx, CaughtUp{f.name})
	v.caught = v.caught || f.name == "" // all nicks are through
	if f.target != "" {
		v.release(ctx, f.target)
	}
}

// knows says whether a history reaches back to what we know, so that nothing is missing
// before it: a text of ours or of others is in it that we have. Where we know of none that
// should be, nothing can be said against it.
func (v *visit) knows(f fetched) bool {
	r := v.ring(f.target)
	if f.after.ID == "" && (r.id.ID == "" || r.id.Time.Before(f.after.Time)) {
		return true
	}
	return slices.ContainsFunc(f.messages, func(m Message) bool { return m.Tags["msgid"] != "" && r.known[m.Tags["msgid"]] })
}
