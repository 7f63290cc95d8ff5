package irctest

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// A Way is a direction of traffic through a [Proxy].
type Way int

const (
	Up   Way = iota // from the client to the server
	Down            // from the server to the client
)

// A Proxy sits between a client and a server and simulates the faults of a network. All
// methods are safe for concurrent use.
//
// Stalled bytes are delivered later, even if the sender has hung up in the meantime. If
// the sender hangs up with an RST, they are discarded. The other side detects the end of
// the connection only when bytes can pass again.
type Proxy struct {
	Addr string // address to which clients connect

	l      net.Listener
	server string
	wg     sync.WaitGroup

	mu      sync.Mutex
	links   map[*link]bool // the open connections
	streams []*bytes.Buffer
	refuse  bool
	faults  [2]fault
	armed   [2]trigger
	changed chan struct{} // closed when the faults change
	counts  Counts
	over    bool // the test has ended
}

// Counts contains the current counts of a [Proxy].
type Counts struct {
	Connections int    // connections that clients have opened
	Refused     int    // how many of Connections were closed immediately
	Stand       int    // connections that are open now
	Left        int    // connections on which the client has hung up
	Ended       int    // connections on which the server has hung up first
	Cut, Reset  int    // connections
	MidLine     [2]int // connections that [Proxy.CutAfter] ended
	Held        [2]int // bytes that were held temporarily
	Swallowed   [2]int // bytes
	Single      [2]int // bytes that were passed one at a time
	Late        [2]int // pieces that were delayed
}

// A trigger fires after a number of pieces that contain a PRIVMSG.
type trigger struct {
	after  int
	strike func() // nil if there is no trigger
}

type fault struct {
	stall   bool
	swallow bool // the end of a connection is not passed on either
	trickle bool
	delay   time.Duration
	cutIn   int // cut after this many bytes; 0 means never
}

// A link is one connection with its two sides.
type link struct {
	sides  [2]*net.TCPConn // the connection to the client, and the one to the server
	stream *bytes.Buffer   // the bytes that the client has received
	dead   [2]bool         // discards all bytes until the connection ends; the proxy's mutex guards dead, left and late
	left   bool            // the client has hung up first
	ended  bool            // the server has hung up first
	late   bool            // bytes from the client are held
	gone   chan struct{}   // closed when the link ends
	once   sync.Once
}

// NewProxy starts a proxy that listens until the test ends and forwards connections to
// server.
func NewProxy(t testing.TB, server string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Addr: l.Addr().String(), l: l, server: server, links: make(map[*link]bool), changed: make(chan struct{})}
	p.wg.Go(p.accept)
	t.Cleanup(func() {
		_ = l.Close()
		p.change(func() {
			p.over = true
			p.end(false)
		})
		p.wg.Wait()
	})
	return p
}

// Cut closes every connection in both directions, as a server does when it exits.
func (p *Proxy) Cut() {
	p.change(func() {
		p.counts.Cut += len(p.links)
		p.end(false)
	})
}

// Reset closes every connection with an RST.
func (p *Proxy) Reset() {
	p.change(func() {
		p.counts.Reset += len(p.links)
		p.end(true)
	})
}

// Stall holds all bytes in one direction until [Proxy.Heal]. It does not close
// connections, and it also affects new ones.
func (p *Proxy) Stall(w Way) { p.change(func() { p.faults[w].stall = true }) }

// Swallow discards all bytes in one direction while the writer assumes that they have
// been sent. It affects the current connections until they close, because a stream cannot
// continue after a gap.
func (p *Proxy) Swallow(w Way) {
	p.change(func() {
		p.faults[w].swallow = true
		for l := range p.links {
			l.dead[w] = true
		}
	})
}

// Lose closes the current connections on the client's side only. Bytes from the client
// that are in transit are delivered after [Proxy.Heal], as with a server that keeps
// reading from a dead connection.
func (p *Proxy) Lose() {
	p.change(func() {
		for l := range p.links {
			l.late, l.dead[Down] = true, true
			_ = l.sides[Up].CloseWrite()
		}
	})
}

// Trickle passes bytes in one direction one at a time until [Proxy.Heal].
func (p *Proxy) Trickle(w Way) { p.change(func() { p.faults[w].trickle = true }) }

// Delay delays all bytes in one direction by d until [Proxy.Heal].
func (p *Proxy) Delay(w Way, d time.Duration) { p.change(func() { p.faults[w].delay = d }) }

// CutAfter closes a connection after n more bytes in one direction. It adjusts n by one
// byte if the cut would be at the end of a line, so the cut is always within a line.
func (p *Proxy) CutAfter(w Way, n int) { p.change(func() { p.faults[w].cutIn = n }) }

// Refuse closes new connections immediately until [Proxy.Heal].
func (p *Proxy) Refuse() { p.change(func() { p.refuse = true }) }

// Heal removes all faults. A connection whose bytes are being discarded does not recover.
func (p *Proxy) Heal() {
	p.change(func() {
		p.refuse = false
		p.faults = [2]fault{}
		for l := range p.links {
			l.late = false
		}
	})
}

// OnText makes the proxy call f, which causes a fault, while a message is in transit. The
// proxy calls f after the given number of pieces that contain a PRIVMSG have passed in
// that direction, when the next such piece has reached the proxy but has not been
// forwarded. Closed connections, and those on which the client has hung up, do not count.
// The returned channel is closed after the call.
func (p *Proxy) OnText(w Way, after int, f func()) (struck <-chan struct{}) {
	done := make(chan struct{})
	p.change(func() {
		p.armed[w] = trigger{after, func() {
			f()
			close(done)
		}}
	})
	return done
}

// Counts returns the current counts.
func (p *Proxy) Counts() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.counts
	c.Stand = len(p.links)
	return c
}

// Connections returns the number of connections that clients have opened so far.
func (p *Proxy) Connections() int { return p.Counts().Connections }

// Brought returns the bytes that the client has received on each connection, in the order
// of the connections.
func (p *Proxy) Brought() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []string
	for _, s := range p.streams {
		all = append(all, s.String())
	}
	return all
}

// change changes the faults. All changes must use it, because it makes stalled
// connections check the faults again.
func (p *Proxy) change(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
	close(p.changed)
	p.changed = make(chan struct{})
}

// end closes every connection. The caller must hold the mutex.
func (p *Proxy) end(reset bool) {
	for l := range p.links {
		p.hangUp(l, reset)
	}
}

// hangUp closes a connection. The caller must hold the mutex.
func (p *Proxy) hangUp(l *link, reset bool) {
	l.once.Do(func() {
		delete(p.links, l)
		close(l.gone)
		for _, side := range l.sides {
			if reset {
				_ = side.SetLinger(0)
			}
			_ = side.Close()
		}
	})
}

func (p *Proxy) accept() {
	for {
		nc, err := p.l.Accept()
		if err != nil {
			return
		}
		client := nc.(*net.TCPConn)
		p.mu.Lock()
		p.counts.Connections++
		refuse := p.refuse
		if refuse {
			p.counts.Refused++
		}
		p.mu.Unlock()
		if refuse {
			_ = client.Close()
			continue
		}
		nc, err = net.Dial("tcp", p.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		l := &link{sides: [2]*net.TCPConn{client, nc.(*net.TCPConn)}, stream: &bytes.Buffer{}, gone: make(chan struct{})}
		p.mu.Lock()
		p.links[l] = true
		p.streams = append(p.streams, l.stream)
		if p.over {
			p.hangUp(l, false)
		}
		p.mu.Unlock()
		p.wg.Go(func() { p.pass(l, Up) })
		p.wg.Go(func() { p.pass(l, Down) })
	}
}

// pass forwards the bytes from one side. It continues to read during a stall, to detect
// whether the sender hangs up.
func (p *Proxy) pass(l *link, w Way) {
	pieces, takenBack := make(chan []byte, 1024), make(chan struct{})
	p.wg.Go(func() {
		defer close(pieces)
		for {
			buf := make([]byte, 16<<10)
			n, err := l.sides[w].Read(buf)
			if n > 0 {
				select {
				case pieces <- buf[:n]:
				case <-l.gone:
					return
				}
			}
			if err != nil {
				p.mu.Lock()
				defer p.mu.Unlock()
				if !errors.Is(err, io.EOF) {
					close(takenBack)
				}
				p.ended(l, w)
				return
			}
		}
	})
	for data := range pieces {
		if !p.bring(l, data, w, takenBack) {
			break
		}
	}
	for { // passes on the end of the connection as soon as bytes can pass
		p.mu.Lock()
		f, changed := p.faults[w], p.changed
		if !f.stall && !f.swallow && !l.late {
			reset := false
			select {
			case <-takenBack:
				reset = true
			default:
			}
			p.hangUp(l, reset)
			p.mu.Unlock()
			return
		}
		p.mu.Unlock()
		select {
		case <-changed:
		case <-l.gone:
			return
		}
	}
}

// ended counts the end of a connection once, for the side that sends in the direction w. The
// caller must hold the lock.
func (p *Proxy) ended(l *link, w Way) {
	switch {
	case !p.links[l] || l.left || l.ended:
	case w == Up:
		l.left = true
		p.counts.Left++
	default:
		l.ended = true
		p.counts.Ended++
	}
}

// bring writes data to the other side and reports whether the connection can carry more.
func (p *Proxy) bring(l *link, data []byte, w Way, takenBack <-chan struct{}) bool {
	if strike := p.trigger(l, data, w); strike != nil {
		strike()
	}
	counted := false // whether the bytes have been counted as held
	for len(data) > 0 {
		p.mu.Lock()
		f, changed, dead := &p.faults[w], p.changed, l.dead[w]
		stall, delay := f.stall || w == Up && l.late, f.delay
		n, cut, cutIn := len(data), false, f.cutIn
		switch {
		case dead:
			p.counts.Swallowed[w] += n
		case stall:
			if !counted {
				p.counts.Held[w] += n
				counted = true
			}
		default:
			if f.trickle {
				n = 1
				p.counts.Single[w]++
			}
			if delay > 0 {
				p.counts.Late[w]++
			}
			n, cut = f.cut(data[:n])
		}
		p.mu.Unlock()
		switch {
		case dead:
			return true
		case stall:
			select {
			case <-changed:
			case <-takenBack:
			case <-l.gone:
				return false
			}
			select {
			case <-takenBack:
				return false
			default:
				continue
			}
		case delay > 0:
			time.Sleep(delay) // the delay is the simulated fault
		}
		if _, err := l.sides[1-w].Write(data[:n]); err != nil {
			if cut { // the connection had already ended, so the next one is cut
				p.change(func() { p.faults[w].cutIn = cutIn })
			}
			p.mu.Lock()
			p.ended(l, 1-w) // a write can fail before a read has noticed the end
			p.mu.Unlock()
			return false
		}
		p.mu.Lock()
		if w == Down {
			l.stream.Write(data[:n])
		}
		if cut {
			p.counts.MidLine[w]++
			p.hangUp(l, false)
		}
		p.mu.Unlock()
		data = data[n:]
	}
	return true
}

// trigger returns the function to call before data is forwarded, or nil.
func (p *Proxy) trigger(l *link, data []byte, w Way) func() {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := &p.armed[w]
	if t.strike == nil || l.left || !p.links[l] || !bytes.Contains(data, []byte("PRIVMSG")) {
		return nil
	}
	if t.after > 0 {
		t.after--
		return nil
	}
	strike := t.strike
	*t = trigger{}
	return strike
}

// cut returns how much of data to forward, and whether to close the connection
// afterwards.
func (f *fault) cut(data []byte) (n int, end bool) {
	n = len(data)
	switch {
	case f.cutIn == 0:
		return n, false
	case n < f.cutIn:
		f.cutIn -= n
		return n, false
	}
	n = f.cutIn
	if data[n-1] == '\n' {
		if n == 1 {
			return 1, false // cut after the next byte instead
		}
		n--
	}
	f.cutIn = 0
	return n, true
}
