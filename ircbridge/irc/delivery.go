package irc

import (
	"context"
	"errors"
	"sync"
)

// A Priority determines the queue in which a message waits. Messages for people and
// messages for channels have separate queues. In each of these two groups, a queue of
// lower priority waits until every queue of higher priority is empty.
type Priority int

// Alerts are sent before answers to people, and answers before agents' output.
const (
	Output Priority = iota
	Answer
	Alert
	priorities = int(Alert) + 1
)

// A Kind describes how a message is sent.
type Kind int

// Talk is a PRIVMSG. Emote is a PRIVMSG with a CTCP ACTION, as from /me. A program must
// never answer a Notice.
const (
	Talk Kind = iota
	Notice
	Emote
)

// An Outgoing is a message to send.
type Outgoing struct {
	Target   string // a channel or a nick
	Text     string // any text; the client masks it, makes it plain and splits it
	Kind     Kind
	Priority Priority
	As       string            // the nick to post the message under, by RELAYMSG, if the server supports it
	Tags     map[string]string // client tags such as +draft/reply, for the first line or batch; dropped if the server accepts none
}

// A PieceState is the known state of one line or batch of a delivery.
type PieceState int

const (
	Waiting PieceState = iota // nothing was written
	Written                   // it was written, so the server may have received it
	Proven                    // the server has handled it
	Bounced                   // the server refused it
)

// A Piece is the part of a message in one line or one multiline batch.
type Piece struct {
	Text  string
	State PieceState
	MsgID string // the server's id, or "" if it sends none
}

// A Delivery tracks a message until its arrival is proven. The proof is the message's
// echo or the labeled answer. If there is neither, the proof is the PONG to a PING that
// was written after the message, because a server answers in order. It is safe for
// concurrent use.
type Delivery struct {
	done chan struct{}

	mu     sync.Mutex
	pieces []Piece
	open   int // the number of pieces whose fate is unknown
	err    error
}

func newDelivery(pieces []string) *Delivery {
	d := &Delivery{done: make(chan struct{}), open: len(pieces)}
	for _, text := range pieces {
		d.pieces = append(d.pieces, Piece{Text: text})
	}
	return d
}

// refusedDelivery returns a delivery that has already failed.
func refusedDelivery(err error) *Delivery {
	d := &Delivery{done: make(chan struct{}), err: err}
	close(d.done)
	return d
}

// Done returns a channel that is closed when the fate of every piece is known. This
// happens, at the latest, when the connection ends.
func (d *Delivery) Done() <-chan struct{} { return d.done }

// Err returns nil until Done is closed. After that, it returns nil if everything was
// delivered. Otherwise it returns a [*Rejected] with the server's reason, [ErrUnproven]
// if the connection ended before a written piece was proven, or [ErrNotSent] if some
// pieces were not written and all written pieces are proven (see [Delivery.Pieces]). If
// the error is [ErrQueueFull], [ErrNoText], [ErrTooLong], [ErrTarget] or [ErrMessage], no
// piece was written.
func (d *Delivery) Err() error {
	select {
	case <-d.done:
		return d.err
	default:
		return nil
	}
}

// Wait waits until Done is closed, and returns Err. If ctx is done first, Wait returns
// ctx's error, and the message may still arrive.
func (d *Delivery) Wait(ctx context.Context) error {
	select {
	case <-d.done:
		return d.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Pieces returns the state of each piece. If the connection was cut, look for the pieces
// in the history before resending any of them.
func (d *Delivery) Pieces() []Piece {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]Piece(nil), d.pieces...)
}

func (d *Delivery) written(i int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.pieces[i].State == Waiting {
		d.pieces[i].State = Written
	}
}

func (d *Delivery) proven(i int, msgid string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p := &d.pieces[i]; p.State < Proven {
		p.State, p.MsgID = Proven, msgid
		d.settle(nil)
	}
}

func (d *Delivery) failed(i int, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p := &d.pieces[i]; p.State < Proven {
		p.State = Bounced
		d.settle(err)
	}
}

// dropped settles a piece that was never written.
func (d *Delivery) dropped(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.settle(err)
}

// cut settles a piece because the connection has ended.
func (d *Delivery) cut(i int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := ErrNotSent
	if d.pieces[i].State == Written {
		err = ErrUnproven
	}
	d.settle(err)
}

// hopeless reports whether the server refused a piece, so that the other pieces need not
// be sent.
func (d *Delivery) hopeless() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, refused := errors.AsType[*Rejected](d.err)
	return refused
}

// settle counts one piece as settled, and keeps the most important error. A refusal by
// the server is the most important, followed by a message that may have arrived, and then
// by a message that was not sent.
func (d *Delivery) settle(err error) {
	if weight(err) > weight(d.err) {
		d.err = err
	}
	d.open--
	if d.open == 0 {
		close(d.done)
	}
}

func weight(err error) int {
	switch err {
	case nil:
		return 0
	case ErrNotSent:
		return 1
	case ErrUnproven:
		return 2
	}
	return 3
}
