package irc

import (
	"log/slog"
	"time"
)

// A protocol is one connection without its socket. It contains the session, the lines
// that are waiting to be written, and the timers. It does not read from a socket or
// start a goroutine. The connection passes it received messages (handle) and the time
// (runTimers), and takes lines from its outbox. The connection's mutex guards the
// protocol.
type protocol struct {
	cfg   Config
	mask  *Masker
	log   *slog.Logger
	bell  chan struct{} // wakes the writer
	ready chan struct{} // closed at the end of the registration

	st     session
	out    *outbox
	timers timers
}

// timers are the times at which a connection must act. The writer checks them.
type timers struct {
	heard    time.Time // when the last line arrived, or when a wait for the consumer ended
	pinged   time.Time // when a PING was sent after that; zero if no PING was sent
	asked    time.Time // when the last PING was sent, to measure the lag
	blocked  bool      // the reader is waiting for its consumer, so silence does not mean that the connection is dead
	nickAt   time.Time // when to request the wanted nick
	nickWait time.Duration
}

// alive is the token of the PING that checks the server.
const alive = "alive"

// hear records that a line has arrived.
func (t *timers) hear(now time.Time) { t.heard, t.pinged = now, time.Time{} }

// wake wakes the writer.
func (p *protocol) wake() {
	select {
	case p.bell <- struct{}{}:
	default: // the writer is already being woken
	}
}

// urgent queues a line ahead of all waiting entries. The line does not wait for the
// bucket. A message that cannot be written as a line is logged and dropped, because it
// indicates a bug in this package.
func (p *protocol) urgent(m Message) {
	line, err := m.Append(nil)
	if err != nil {
		p.log.Error("line was not written", "err", err)
		return
	}
	p.out.urgent = append(p.out.urgent, line)
	p.wake()
}

// bare queues a command whose answer no call is waiting for.
func (p *protocol) bare(m Message) {
	line, err := m.Append(nil)
	if err != nil || len(line) > p.st.lineLen(p.cfg.LineLen) {
		p.log.Error("line was not written", "command", m.Command, "err", err)
		return
	}
	p.out.push(&entry{data: line, lines: 1, command: m.Command, target: "", priority: Answer})
	p.wake()
}

// becomeReady ends the registration.
func (p *protocol) becomeReady() {
	if p.st.phase != Registering {
		return
	}
	p.st.phase = Registered
	p.out.bucket.atLeast(afterRegistration)
	p.timers.nickAt, p.timers.nickWait = time.Now().Add(p.cfg.NickAfter), p.cfg.NickAfter
	if mode := p.st.isup["BOT"]; p.cfg.Bot && mode != "" {
		p.bare(Msg("MODE", p.st.nick, "+"+mode))
	}
	close(p.ready)
	p.wake()
}

// nickFree makes the writer request the wanted nick as soon as the writer runs.
func (p *protocol) nickFree() {
	p.timers.nickAt = time.Time{}
	p.wake()
}
