package irc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
)

// goodbye is how long the client waits for the server to hang up after QUIT.
const goodbye = 2 * time.Second

// maxHeld is the maximum number of live messages of one target that can wait for the
// target's history.
const maxHeld = 5000

// ctcpEvery is the minimum time between two answers to CTCP requests.
const ctcpEvery = 10 * time.Second

// A translator converts the messages of successive connections to events. It belongs to
// the goroutine of [Client.Run].
type translator struct {
	o       Options
	log     *slog.Logger
	events  events
	wanted  *wanted
	recents map[string]*recent // by folded peer; kept across connections
	private time.Time          // all private messages up to this time, by the server's clock, are known
}

// A connTranslator is a translator for one connection.
type connTranslator struct {
	*translator
	conn    *Conn
	st      State // as of the last message that changed the nick or isupport
	rejoin  rejoiner
	fetched chan fetched
	held    map[string][]Message // live messages that are waiting for the history of their target, by target
	played  playbacks
	caught  bool           // all private messages have been fetched
	ctcp    time.Time      // when a CTCP request was last answered
	wg      sync.WaitGroup // waits for the fetches
}

// serve runs until the connection ends, and returns the reason why it ended.
func (tr *translator) serve(ctx context.Context, conn *Conn) error {
	v := &connTranslator{
		translator: tr, conn: conn, st: conn.State(),
		rejoin:  rejoiner{conn: conn, o: tr.o, wanted: tr.wanted, wishes: make(map[string]*wish)},
		fetched: make(chan fetched), held: make(map[string][]Message), played: make(playbacks),
	}
	fetching, stopFetching := context.WithCancel(ctx)
	defer conn.wg.Wait()
	defer conn.end(ErrClosed) // has an effect only after a panic
	defer v.wg.Wait()
	defer stopFetching()
	defer v.leave()
	tr.events.emit(ctx, Up{v.st})
	v.fetchPrivate(ctx, fetching)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		timer.Reset(v.rejoin.enter(time.Now(), v.st.ISupport))
		select {
		case m, ok := <-conn.Messages():
			if !ok {
				<-conn.Done()
				return errors.Join(conn.Err(), conn.Close(ctx, ""))
			}
			v.handle(ctx, fetching, m)
		case f := <-v.fetched:
			v.handleReceived(ctx, fetching) // the server sent these before the end of the history
			v.caughtUp(ctx, f)
		case <-tr.wanted.changed:
		case <-timer.C:
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
			defer cancel()
			return conn.Close(last, "")
		}
	}
}

// handleReceived handles the messages that have been received but not handled yet.
func (v *connTranslator) handleReceived(ctx, fetching context.Context) {
	for {
		select {
		case m, ok := <-v.conn.Messages():
			if !ok {
				return // serve finds the end, too
			}
			v.handle(ctx, fetching, m)
		default:
			return
		}
	}
}

// leave records the time up to which this client received the messages of its channels
// and its private messages.
func (v *connTranslator) leave() {
	now := time.Now()
	if v.caught {
		v.private = v.conn.State().Heard // a connection may be dead long before it ends
	}
	for _, key := range v.rejoin.in() {
		if v.held[key] == nil {
			v.recent(key).alive = now
		}
	}
}

// recent returns the last messages of a peer. On the first call for a peer, it reads them
// from the [Memory].
func (tr *translator) recent(key string) *recent {
	r := tr.recents[key]
	if r == nil {
		marks, err := tr.o.Memory.Marks(key)
		if err != nil {
			tr.log.Warn("marks were not read", "target", key, "err", err)
		}
		r = newRecent(marks)
		tr.recents[key] = r
	}
	return r
}

// handle converts one message to events.
func (v *connTranslator) handle(ctx, fetching context.Context, m Message) {
	if isHistory(m.Tags["batch"]) && m.Command != "PRIVMSG" && m.Command != "NOTICE" {
		return // an old JOIN or a similar message
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
		v.events.emit(ctx, Joined{channel, m.Nick(), account, own})
		if own {
			v.entered(ctx, fetching, channel, messageTime(m, time.Now()))
		}
	case "PART":
		v.events.emit(ctx, Left{Channel: channel, Nick: m.Nick(), Reason: m.Param(1), Own: own})
		if own {
			v.parted(ctx, channel, nil)
		}
	case "KICK":
		own = fold.Same(m.Param(1), v.st.Nick)
		v.events.emit(ctx, Left{Channel: channel, Nick: m.Param(1), Reason: m.Param(2), By: m.Nick(), Own: own})
		if own {
			v.parted(ctx, channel, fmt.Errorf("kicked by %s: %s", m.Nick(), m.Param(2)))
		}
	case "QUIT":
		v.events.emit(ctx, Left{Nick: m.Nick(), Reason: m.Param(0), Own: own})
	case "NICK":
		// The state is newer than the message, so it already contains the new nick.
		v.events.emit(ctx, Renamed{m.Nick(), m.Param(0), fold.Same(m.Param(0), v.st.Nick)})
	case "INVITE":
		if fold.Same(channel, v.st.Nick) {
			v.events.emit(ctx, Invited{Channel: m.Param(1), Nick: m.Nick(), Source: m.Source, Account: m.Tags["account"]})
		}
	case "MODE":
		if v.st.ISupport.IsChannel(channel) {
			v.events.emit(ctx, ModesChanged{channel, m.Nick()})
		}
	case "TOPIC":
		v.events.emit(ctx, TopicChanged{channel, m.Nick(), m.Param(1)})
	default:
		v.failed(ctx, v.rejoin.refused(m, v.st.CaseMapping()))
	}
}

// parted records that this client has left a channel; err is nil if it left on request.
func (v *connTranslator) parted(ctx context.Context, channel string, err error) {
	key := v.st.CaseMapping().Fold(channel)
	was, failed := v.rejoin.parted(key, err)
	if was {
		v.recent(key).alive = time.Now()
	}
	v.failed(ctx, failed)
}

func (v *connTranslator) failed(ctx context.Context, f *Failed) {
	if f != nil {
		v.events.emit(ctx, *f)
	}
}

// heard emits a message, or holds it back while the preceding history is being fetched.
func (v *connTranslator) heard(ctx context.Context, m Message) {
	t, ok := newText(m, &v.st, time.Now())
	if !ok {
		v.answerCTCP(m)
		return
	}
	if v.played.old(v.st.CaseMapping().Fold(m.Param(0)), m, time.Now()) {
		t.History = true
	}
	key := v.st.CaseMapping().Fold(t.Peer())
	if held, ok := v.held[key]; ok && !t.History {
		if len(held) < maxHeld {
			v.held[key] = append(held, m)
			return
		}
		v.release(ctx, key) // the history is taking too long, so its messages will follow these
	}
	v.tell(ctx, key, t)
}

// tell emits a message, unless it is already known.
func (v *connTranslator) tell(ctx context.Context, key string, t Text) {
	if v.recent(key).add(t.Mark(), t.History) {
		v.events.emit(ctx, t)
	}
}

// holds reports whether a message of a history is also held back as a live one. The server
// sends both if somebody speaks between our JOIN and the request for the history. The live
// one counts, because it can be obeyed.
func (v *connTranslator) holds(key string, t Text) bool {
	if t.MsgID == "" {
		return false
	}
	return slices.ContainsFunc(v.held[key], func(m Message) bool { return m.Tags["msgid"] == t.MsgID })
}

// release emits the messages that were held back for a history.
func (v *connTranslator) release(ctx context.Context, key string) {
	held := v.held[key]
	delete(v.held, key)
	for _, m := range held {
		if t, ok := newText(m, &v.st, time.Now()); ok {
			v.tell(ctx, key, t)
		}
	}
}

// answerCTCP answers VERSION and PING, at most once per ctcpEvery. It does not answer
// other requests.
func (v *connTranslator) answerCTCP(m Message) {
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
