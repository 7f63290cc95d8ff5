package control

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/whisper"
)

// A Daemon answers the requests. *swarm.Swarm has most of the methods; the program adds the
// others. All methods must be safe for concurrent use.
type Daemon interface {
	Status(names ...string) (swarm.Status, error)
	StartAgent(agent, by string) error
	StopAgent(ctx context.Context, agent, by string, now bool) (*swarm.Cut, error)
	Pause(agent string, o swarm.PauseOrder) error
	Resume(agent, by string) error
	LiftPause(agent, by string) error
	Drain(agent, by string) error
	Undrain(agent, by string) error
	Abort(ctx context.Context, agent, by, why string) (swarm.Cut, error)
	Interrupt(ctx context.Context, agent, by, urgent string) (swarm.Cut, error)
	Compact(agent, by string) error
	Clear(agent, by string) error
	RaiseBudget(scope string, by budget.Amount, who string) (budget.Row, error)
	Subscribe(f swarm.Filter) Feed
	Reload(o ReloadOrder) (swarm.Changes, error)
	// Shutdown begins to shut down the daemon and returns immediately. If now is set, it
	// also ends running turns.
	Shutdown(by string, now bool)
}

// A ReloadOrder is an order to read the configuration again.
type ReloadOrder struct {
	By     string // the name of who gave it
	PID    int    // the process that gave it; 0 if that is unknown
	Signal bool   // it was given by a signal, whose sender is unknown
	Accept bool   // apply the configuration even if rights grow while turns are running, or by a signal
}

// A Feed is a subscription to events; see [swarm.Subscription].
type Feed interface {
	Ready() <-chan struct{}
	Closed() <-chan struct{}
	Take() []swarm.FeedEvent
	Close()
}

// The limits of a server. It refuses requests that do not end immediately if there are
// already maxPending of them.
const (
	maxPending = 64 // simultaneous streams and requests that wait for a turn, on one connection
	outQueue   = 64 // frames that are waiting for a slow reader; while the queue is full, the client's requests also wait
)

// Options configures a Server. The zero value is ready to use.
type Options struct {
	Version string       // the version of the program
	Log     *slog.Logger // nil means no log
	// CallerOf, if set, finds the person or the agent for whom a process runs. An order
	// from a process of an agent counts as the agent's, regardless of the name in the
	// request. If claim is nil, CallerOf reads the claim from the environment with which
	// the process was started. CallerOf must be safe for concurrent use.
	CallerOf func(pid int, claim *journal.Claim) (journal.Caller, error)
	// Unseen, if set, reports whether a process that the daemon cannot see acts for a person.
	// Otherwise, all its orders are refused. The daemon sees every process of its turns, also
	// those in a PID namespace of their own. Unseen must be safe for concurrent use.
	Unseen func() bool
	// Whispers, if set, lends the supervisor's whispers for the agent in whose turn or
	// attached session a process is running. It calls caller to find the agent. The server
	// sends the whispers before the next response, and then calls written exactly once,
	// with the number of whispers that it sent.
	Whispers func(caller func() (agent string, err error)) (lent []whisper.Whisper, written func(n int))
}

// A peer is the user and the process at the other end of a connection. pid is 0 if the
// daemon cannot see the process, which then runs in another container.
type peer struct {
	uid, pid int
	known    bool // false if this system does not say who is at the other end
	opener   opener
}

// A Server answers requests on the control socket.
type Server struct {
	daemon Daemon
	opts   Options
	log    *slog.Logger

	places places
}

// NewServer returns a server; [Server.Serve] starts it.
func NewServer(d Daemon, o Options) *Server {
	log := o.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Server{daemon: d, opts: o, log: log, places: places{callerOf: o.CallerOf}}
}

// Serve answers requests on l until ctx is done. It then closes l and all connections,
// and returns when all their goroutines have ended. Closing l earlier only prevents new
// connections. Connected clients notice that the daemon has ended when their connections
// end.
func (s *Server) Serve(ctx context.Context, l *net.UnixListener) error {
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	var wg sync.WaitGroup
	defer wg.Wait()
	for delay := time.Duration(0); ; {
		c, err := l.AcceptUnix()
		switch {
		case err == nil:
			delay = 0
		case errors.Is(err, net.ErrClosed):
			<-ctx.Done()
			return nil
		default: // the process has probably run out of file descriptors; some may be closed soon
			delay = min(max(2*delay, 10*time.Millisecond), time.Second)
			s.log.Warn("control connection not accepted", "err", err)
			select {
			case <-time.After(delay):
			case <-ctx.Done():
			}
			continue
		}
		from, leave, err := s.admit(c)
		if err != nil {
			s.log.Warn("control connection refused", "err", err)
			refuse(c, err)
			continue
		}
		wg.Go(func() {
			defer leave()
			newConn(s, c, from).serve(ctx)
		})
	}
}

// admit checks the user at the other end and the number of connections. The caller must
// call leave when the connection has ended.
func (s *Server) admit(c *net.UnixConn) (from peer, leave func(), err error) {
	if from, err = peerOf(c); err != nil {
		return from, nil, err
	}
	if from.known && from.uid != os.Geteuid() && from.uid != 0 {
		from.opener.close()
		return from, nil, &Error{Code: CodeFailed, Message: "this daemon belongs to another user"}
	}
	free, err := s.places.admit(from.pid)
	if err != nil {
		from.opener.close()
		return from, nil, err
	}
	return from, func() { free(); from.opener.close() }, nil
}

// refuse tells a client why it is refused and closes the connection. It waits at most 100
// ms for the client.
func refuse(c *net.UnixConn, why error) {
	if c.SetWriteDeadline(time.Now().Add(100*time.Millisecond)) == nil {
		_ = writeFrame(c, answer("", nil, why)) // the client may already be gone
	}
	c.Close()
}
