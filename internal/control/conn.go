package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime/debug"
	"sync"

	"github.com/claude-swarm/claude-swarm/internal/rights"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/whisper"
)

// A conn is the server's side of one connection.
type conn struct {
	s    *Server
	c    *net.UnixConn
	from peer
	out  chan any // frames, and lentWhispers

	mu      sync.Mutex
	streams map[string]context.CancelFunc
	pending int
}

func newConn(s *Server, c *net.UnixConn, from peer) *conn {
	return &conn{s: s, c: c, from: from, out: make(chan any, outQueue), streams: make(map[string]context.CancelFunc)}
}

// serve runs the connection until the client hangs up or ctx is done. serve returns only
// after all requests have ended. A request that is still waiting for a turn continues when
// the client hangs up. The connection stays open until then, because a client that has only
// shut down its side reads the answer.
func (c *conn) serve(ctx context.Context) {
	here, leave := context.WithCancel(ctx)
	defer leave()
	// Closing the connection unblocks both goroutines.
	stop := context.AfterFunc(ctx, func() { c.c.Close() })
	defer stop()

	written := make(chan struct{})
	go func() { // serve waits for this goroutine below
		defer close(written)
		c.write(here)
		leave() // also unblocks a reader that is waiting for the writer
		c.c.Close()
	}()
	var wg sync.WaitGroup
	if c.read(ctx, here, &wg) {
		c.endStreams()
		wg.Wait()
	}
	leave()
	<-written
	wg.Wait()
	for { // no goroutine sends frames any more
		select {
		case r := <-c.out:
			if w, ok := r.(lentWhispers); ok {
				w.written(0)
			}
		default:
			return
		}
	}
}

// lentWhispers are whispers in the queue. Each of them becomes a frame.
type lentWhispers struct {
	list    []whisper.Whisper
	written func(n int)
}

// write writes the frames, and reports how many it wrote.
func (l lentWhispers) write(to io.Writer) (err error) {
	n := 0
	defer func() { l.written(n) }()
	for _, w := range l.list {
		if err := writeFrame(to, whispered{typeWhisper, w.Type, w.Text}); err != nil {
			return err
		}
		n++
	}
	return nil
}

// write sends queued frames until the context is done, and then the frames that are still
// in the queue. A client that sends requests and then shuts down its side therefore still
// gets its answers.
func (c *conn) write(here context.Context) {
	err := writeFrame(c.c, hello{Type: typeHello, V: protocolVersion, Version: c.s.opts.Version})
	for err == nil {
		select {
		case r := <-c.out:
			err = writeFrame(c.c, r)
			continue
		case <-here.Done():
		}
		select {
		case r := <-c.out:
			err = writeFrame(c.c, r)
		default:
			return
		}
	}
}

// respond queues the whispers for the agent in whose turn the client is running, and then
// a response.
func (c *conn) respond(here context.Context, r reply) {
	if c.s.opts.Whispers != nil && c.s.opts.CallerOf != nil && c.from.pid != 0 {
		caller := func() (string, error) {
			who, err := c.whoCalls(nil)
			return who.Agent, err
		}
		if list, written := c.s.opts.Whispers(caller); len(list) > 0 && !c.send(here, lentWhispers{list, written}) {
			written(0)
		}
	}
	c.send(here, r)
}

// send queues a frame. It waits for a slow reader. If the connection has ended, it may
// drop the frame and return false.
func (c *conn) send(here context.Context, r any) bool {
	select {
	case c.out <- r:
		return true
	case <-here.Done():
		select { // the writer still sends the queued frames before it ends
		case c.out <- r:
			return true
		default:
			return false
		}
	}
}

// read handles the client's requests. It reports whether the client hung up, or at least
// shut down its side, rather than the connection being of no more use.
func (c *conn) read(ctx, here context.Context, wg *sync.WaitGroup) (hungUp bool) {
	lines := newLineReader(c.c)
	for {
		line, err := lines.next()
		if errors.Is(err, errTooLong) {
			c.send(here, answer("", nil, &Error{Code: CodeTooLong, Message: err.Error()}))
			continue
		} else if err != nil {
			return errors.Is(err, io.EOF) // otherwise, the daemon is ending
		}
		var req request
		if err := json.Unmarshal(line, &req); err != nil {
			c.send(here, answer(req.ID, nil, &Error{Code: CodeBadRequest, Message: "not a request: " + err.Error(),
				Hint: `one JSON object per line, such as {"type":"status","id":"1"}`}))
			continue
		}
		if !c.handle(ctx, here, wg, req) {
			return false
		}
	}
}

// endStreams ends the subscriptions of a client that has hung up.
func (c *conn) endStreams() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, cancel := range c.streams {
		cancel()
	}
}

// handle answers one request, or starts a goroutine that does so. It returns false when
// the connection must end.
func (c *conn) handle(ctx, here context.Context, wg *sync.WaitGroup, req request) bool {
	switch req.Type {
	case typeHello:
		if req.V != protocolVersion {
			c.send(here, answer("", nil, &Error{Code: CodeVersion,
				Message: fmt.Sprintf("the daemon (%s) speaks version %d of the protocol, not %d", c.s.opts.Version, protocolVersion, req.V),
				Hint:    "claude-swarm restart"}))
			return false
		}
		return true
	case typeCancel:
		c.mu.Lock()
		cancel := c.streams[req.ID]
		c.mu.Unlock()
		if cancel != nil { // the stream may have just ended
			cancel()
		}
		return true
	case reqSubscribe:
		c.subscribe(here, wg, req)
		return true
	case reqWhoAmI: // without whispers, because a program asks this for itself and shows the model nothing
		c.send(here, c.call(ctx, req))
		return true
	case reqStop, reqAbort, reqInterrupt:
		// These requests wait for a turn. They continue if the client hangs up, because a
		// client that stops waiting is not asking for the turn to be stopped more
		// forcefully.
		if !c.begin(here, req.ID) {
			return true
		}
		wg.Go(func() {
			defer c.end()
			r := c.call(ctx, req)
			c.respond(here, r)
		})
		return true
	}
	c.respond(here, c.call(ctx, req))
	return true
}

// begin counts a request that does not end immediately, and refuses it if there are too
// many such requests.
func (c *conn) begin(here context.Context, id string) bool {
	c.mu.Lock()
	full := c.pending >= maxPending
	if !full {
		c.pending++
	}
	c.mu.Unlock()
	if full {
		c.send(here, answer(id, nil, &Error{Code: CodeBusy, Message: fmt.Sprintf("more than %d requests at once", maxPending)}))
	}
	return !full
}

func (c *conn) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending--
}

// call passes a request to the daemon. A panic in the daemon becomes an error response to
// this request and has no other effect.
func (c *conn) call(ctx context.Context, req request) (r reply) {
	defer func() {
		if p := recover(); p != nil {
			c.s.log.Error("control request panicked", "type", req.Type, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			r = answer(req.ID, nil, &Error{Code: CodeFailed, Message: fmt.Sprintf("%s: internal error in the daemon: %v", req.Type, p),
				Hint: "see .claude-swarm/daemon.log"})
		}
	}()
	data, err := c.ask(ctx, req)
	return answer(req.ID, data, err)
}

func (c *conn) ask(ctx context.Context, req request) (any, error) {
	d := c.s.daemon
	if req.Type == reqWhoAmI {
		return c.whoCalls(&req.Claim)
	}
	by, err := c.orderedBy(req)
	if err != nil {
		return nil, err
	}
	req.By = by
	switch req.Type {
	case reqStart, reqStop, reqPause, reqResume, reqDrain, reqUndrain, reqAbort, reqInterrupt, reqCompact, reqClear:
		if req.Agent == "" {
			return nil, &Error{Code: CodeBadRequest, Message: req.Type + ": the agent is missing"}
		}
		if req.For < 0 {
			return nil, &Error{Code: CodeBadRequest, Message: req.Type + ": a negative time span"}
		}
	}
	switch req.Type {
	case reqStatus:
		return d.Status(req.Agents...)
	case reqStart:
		return nil, d.StartAgent(req.Agent, req.By)
	case reqStop:
		return d.StopAgent(ctx, req.Agent, req.By, req.Now)
	case reqPause:
		return nil, d.Pause(req.Agent, swarm.PauseOrder{By: req.By, Why: req.Why, For: req.For.duration(), Questions: req.Questions})
	case reqResume:
		if req.PauseOnly {
			return nil, d.LiftPause(req.Agent, req.By)
		}
		return nil, d.Resume(req.Agent, req.By)
	case reqDrain:
		return nil, d.Drain(req.Agent, req.By)
	case reqUndrain:
		return nil, d.Undrain(req.Agent, req.By)
	case reqAbort:
		return d.Abort(ctx, req.Agent, req.By, req.Why)
	case reqInterrupt:
		return d.Interrupt(ctx, req.Agent, req.By, req.Message)
	case reqCompact:
		return nil, d.Compact(req.Agent, req.By)
	case reqClear:
		return nil, d.Clear(req.Agent, req.By)
	case reqRaise:
		amount := budget.Of(req.USD, req.Turns, req.For.duration())
		if req.USD < 0 || req.Turns < 0 || req.For < 0 || amount.IsZero() {
			return nil, &Error{Code: CodeBadRequest, Message: req.Type + ": want an amount above 0: usd, turns or for"}
		}
		return d.RaiseBudget(req.Scope, amount, req.By)
	case reqReload:
		return d.Reload(ReloadOrder{By: req.By, PID: c.from.pid, Accept: req.Accept})
	case reqWhispers: // the whispers are sent before the response, as with every request
		return nil, nil
	case reqShutdown:
		d.Shutdown(req.By, req.Now)
		return nil, nil
	}
	return nil, &Error{Code: CodeUnknownType, Message: fmt.Sprintf("no request type %q", req.Type)}
}

// whoCalls returns the person or the agent at the other end of the connection. The error is
// an [*Error] with [CodeUntraced] if the daemon cannot find out.
func (c *conn) whoCalls(claim *journal.Claim) (journal.Caller, error) {
	switch {
	case c.s.opts.CallerOf == nil || !c.from.known:
		return journal.Caller{}, nil
	case c.from.pid == 0 && c.s.opts.Unseen != nil && c.s.opts.Unseen():
		return journal.Caller{}, nil
	case c.from.pid == 0:
		return journal.Caller{}, untraced("the daemon cannot see the process that asked, which runs in another container")
	}
	who, err := c.s.opts.CallerOf(c.from.pid, claim)
	switch {
	case err != nil:
		return who, untraced(err.Error())
	case c.from.opener.ended(): // its number may already belong to another process
		return journal.Caller{}, untraced("the program that opened the connection has ended, and cannot be identified")
	}
	return who, nil
}

func untraced(why string) error {
	return &Error{Code: CodeUntraced, Message: why, Hint: "type it in a terminal on the machine where the daemon runs"}
}

// orderedBy returns the name of the caller that gave an order. If the caller is running
// in a turn or an attached session of an agent, this is the agent's name, regardless of
// the name in the request. Otherwise it is the name in the request. orderedBy refuses an
// order for which the caller lacks the right.
func (c *conn) orderedBy(req request) (by string, err error) {
	entry, ok := rights.OfRequest(req.Type)
	if !ok {
		return "", &Error{Code: CodeUnknownType, Message: fmt.Sprintf("no request type %q", req.Type)}
	}
	if entry.Right == rights.Anyone {
		return req.By, nil
	}
	who, err := c.whoCalls(nil)
	switch {
	case err != nil:
		return "", err
	case who.Agent == "":
		return req.By, nil
	case entry.Right.Allows(rights.Caller{Agent: who.Agent, InTurn: who.InTurn()}):
		return who.Agent, nil
	case req.Type == reqPause && req.Agent == who.Agent: // it waits for a person's answer
		return who.Agent, nil
	}
	return "", &Error{Code: CodePerson, Message: fmt.Sprintf("only the lead may %s, not %s", entry.Doing, who.Agent),
		Hint: `claude-swarm send lead "why" --type question`}
}

// subscribe starts a stream. It sends a response, and then events until the client cancels the
// stream, the connection ends or the daemon closes the feed.
func (c *conn) subscribe(here context.Context, wg *sync.WaitGroup, req request) {
	c.mu.Lock()
	_, twice := c.streams[req.ID]
	c.mu.Unlock()
	if twice {
		c.send(here, answer(req.ID, nil, &Error{Code: CodeBadRequest, Message: fmt.Sprintf("id %q is in use by a stream", req.ID)}))
		return
	}
	if !c.begin(here, req.ID) {
		return
	}
	shown := c.shownTo()
	feed := c.s.daemon.Subscribe(swarm.Filter{Agent: req.Agent, Text: req.Text, Raw: req.Raw})
	stream, cancel := context.WithCancel(here)
	c.mu.Lock()
	c.streams[req.ID] = cancel
	c.mu.Unlock()
	c.send(here, answer(req.ID, nil, nil))
	wg.Go(func() {
		defer c.end()
		defer func() {
			feed.Close()
			cancel()
			c.mu.Lock()
			delete(c.streams, req.ID)
			c.mu.Unlock()
			c.send(here, reply{Type: typeEvent, ID: req.ID, End: true})
		}()
		for {
			select {
			case <-feed.Ready():
			case <-feed.Closed():
				c.events(stream, here, req.ID, feed, shown)
				return
			case <-stream.Done():
				return
			}
			c.events(stream, here, req.ID, feed, shown)
		}
	})
}

// shownTo returns a function that removes from an event what the caller may not read: the
// text of other agents, if the caller is an agent, and all text if the daemon cannot find
// out who the caller is.
func (c *conn) shownTo() func(swarm.FeedEvent) (swarm.FeedEvent, bool) {
	who, err := c.whoCalls(nil)
	return func(ev swarm.FeedEvent) (swarm.FeedEvent, bool) {
		if err == nil && (who.Agent == "" || who.Agent == ev.Agent && ev.Kind != swarm.FeedAlert) {
			return ev, true
		}
		ev.Text = ""
		return ev, ev.Kind != swarm.FeedPartial && ev.Kind != swarm.FeedRaw
	}
}

// events sends the events from the feed to the client. While events waits for a slow
// reader, the feed queues new events, and drops the oldest ones when its queue is full.
func (c *conn) events(stream, here context.Context, id string, feed Feed, shown func(swarm.FeedEvent) (swarm.FeedEvent, bool)) {
	for _, ev := range feed.Take() {
		if stream.Err() != nil {
			return
		}
		if ev, ok := shown(ev); ok {
			c.send(here, event(id, ev))
		}
	}
}

// writeFrame writes a frame as one line. It writes each whisper as a separate line.
func writeFrame(w io.Writer, frame any) error {
	if l, ok := frame.(lentWhispers); ok {
		return l.write(w)
	}
	data, err := json.Marshal(frame)
	if err != nil {
		return err
	}
	_, err = w.Write(append(data, '\n'))
	return err
}
