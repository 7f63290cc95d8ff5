package irctest

import (
	"net"
	"sync"
	"testing"
	"time"
)

// A Way is a direction through a [Proxy].
type Way int

const (
	Up   Way = iota // from the client to the server
	Down            // from the server to the client
)

// A Proxy stands between a client and a server and breaks what passes. All
// methods are safe for several goroutines; a fault holds for the connections
// that stand and for those that come, until [Proxy.Heal].
type Proxy struct {
	Addr string // where clients connect

	l      net.Listener
	server string
	wg     sync.WaitGroup

	mu     sync.Mutex
	links  map[*link]bool
	refuse bool
	faults [2]fault
	healed chan struct{} // closed when the faults change
	count  int
}

type fault struct {
	stall   bool
	swallow bool
	trickle bool
	delay   time.Duration
	cutIn   int // cut after so many bytes; 0 is never
}

type link struct{ client, server *net.TCPConn }

// NewProxy listens until the test ends and passes on to server.
func NewProxy(t testing.TB, server string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Addr: l.Addr().String(), l: l, server: server, links: make(map[*link]bool), healed: make(chan struct{})}
	p.wg.Go(p.accept)
	t.Cleanup(func() {
		_ = l.Close()
		p.Cut()
		p.Heal()
		p.wg.Wait()
	})
	return p
}

// Cut ends every connection in both directions, as a server does that exits.
func (p *Proxy) Cut() { p.end(false) }

// Reset ends every connection with an RST.
func (p *Proxy) Reset() { p.end(true) }

// Stall lets nothing through in one direction, while the connection stands.
func (p *Proxy) Stall(w Way) { p.change(func() { p.faults[w].stall = true }) }

// Swallow takes everything in one direction and throws it away, so that the
// writer believes it was sent.
func (p *Proxy) Swallow(w Way) { p.change(func() { p.faults[w].swallow = true }) }

// Trickle writes single bytes.
func (p *Proxy) Trickle(w Way) { p.change(func() { p.faults[w].trickle = true }) }

// Delay holds everything in one direction for a while.
func (p *Proxy) Delay(w Way, d time.Duration) { p.change(func() { p.faults[w].delay = d }) }

// CutAfter ends the connection that lets n more bytes through in one
// direction, which may be in mid-line.
func (p *Proxy) CutAfter(w Way, n int) { p.change(func() { p.faults[w].cutIn = n }) }

// Refuse hangs up on new connections at once.
func (p *Proxy) Refuse() { p.change(func() { p.refuse = true }) }

// Heal takes all faults back.
func (p *Proxy) Heal() {
	p.change(func() {
		p.refuse = false
		p.faults = [2]fault{}
	})
}

// Connections is how many were made so far.
func (p *Proxy) Connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count
}

func (p *Proxy) change(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
	close(p.healed)
	p.healed = make(chan struct{})
}

func (p *Proxy) end(reset bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.end(reset)
	}
	close(p.healed)
	p.healed = make(chan struct{})
}

func (l *link) end(reset bool) {
	if reset {
		_ = l.client.SetLinger(0)
		_ = l.server.SetLinger(0)
	}
	_ = l.client.Close()
	_ = l.server.Close()
}

func (p *Proxy) accept() {
	for {
		client, err := p.l.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		p.count++
		refuse := p.refuse
		p.mu.Unlock()
		server, err := net.Dial("tcp", p.server)
		if refuse || err != nil {
			_ = client.Close()
			if err == nil {
				_ = server.Close()
			}
			continue
		}
		l := &link{client.(*net.TCPConn), server.(*net.TCPConn)}
		p.mu.Lock()
		p.links[l] = true
		p.mu.Unlock()
		var both sync.WaitGroup
		both.Go(func() { p.pass(l, l.client, l.server, Up) })
		both.Go(func() { p.pass(l, l.server, l.client, Down) })
		p.wg.Go(func() {
			both.Wait()
			p.mu.Lock()
			defer p.mu.Unlock()
			delete(p.links, l)
		})
	}
}

func (p *Proxy) pass(l *link, from, to *net.TCPConn, w Way) {
	defer l.end(false)
	buf := make([]byte, 16<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		if !p.write(l, to, buf[:n], w) {
			return
		}
	}
}

func (p *Proxy) write(l *link, to *net.TCPConn, data []byte, w Way) bool {
	for len(data) > 0 {
		p.mu.Lock()
		f, change, here := p.faults[w], p.healed, p.links[l]
		n := len(data)
		if f.trickle {
			n = 1
		}
		if f.cutIn > 0 {
			n = min(n, f.cutIn)
			p.faults[w].cutIn -= n
		}
		p.mu.Unlock()
		if f.stall {
			if !here {
				return false
			}
			<-change // also a cut rings it; the write then fails
			if _, err := to.Write(nil); err != nil {
				return false
			}
			p.mu.Lock()
			closed := !p.links[l]
			p.mu.Unlock()
			if closed {
				return false
			}
			continue
		}
		if f.delay > 0 {
			time.Sleep(f.delay)
		}
		if !f.swallow {
			if _, err := to.Write(data[:n]); err != nil {
				return false
			}
		}
		data = data[n:]
		if f.cutIn > 0 && f.cutIn == n {
			return false
		}
	}
	return true
}
