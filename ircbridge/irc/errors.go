package irc

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
)

// Connection errors and message errors. The errors in the second group tell the caller
// whether the message may be sent again.
var (
	ErrConfig  = errors.New("cannot connect as configured") // no connection was attempted, the password would have been sent in the clear, or the server does not allow the nick
	ErrSASL    = errors.New("the server refused the login") // never retried
	ErrNoSASL  = errors.New("the server accepts no logins") // for now; it will accept logins when its services are running again
	ErrTimeout = errors.New("the server stopped responding")
	ErrClosed  = errors.New("the connection was closed") // by us

	ErrInternal = errors.New("internal error") // a panic in one of the connection's goroutines; the log has the stack

	ErrNotSent   = errors.New("not sent")                            // nothing was written except pieces that are proven; the others can be sent again
	ErrUnproven  = errors.New("sent, but not known to have arrived") // the message was written before the connection was cut, so it may have arrived
	ErrQueueFull = errors.New("too much is waiting to be sent")      // nothing was written
	ErrNoText    = errors.New("there is no text in the message")     // nothing was written, because the server would answer 412
	ErrTooLong   = errors.New("the line is too long for the server") // nothing was written, because the server would answer 417
	ErrTarget    = errors.New("neither a channel nor a nick")        // nothing was written
)

// silentEnd replaces the text of io.EOF, which means that the server hung up without
// giving a reason.
type silentEnd struct{}

func (silentEnd) Error() string { return "the server hung up without giving a reason" }
func (silentEnd) Unwrap() error { return io.EOF }

// A Refused is the reason that a server gave before it hung up: an ERROR, a KILL or a
// numeric during registration.
type Refused struct {
	Code string // ERROR, KILL or the numeric
	Text string
}

func (e *Refused) Error() string { return fmt.Sprintf("the server says %s: %s", e.Code, e.Text) }

// A Rejected is the server's refusal of a message or a command. It is a numeric from 400
// to 599, 716 for a person who accepts no private messages, or FAIL with its code. The
// message was not delivered.
type Rejected struct {
	Code   string // the numeric, such as 404, or the code of a FAIL, such as MULTILINE_MAX_BYTES
	Target string // the refused target; may be ""
	Text   string
}

func (e *Rejected) Error() string {
	if e.Target == "" {
		return fmt.Sprintf("%s (%s)", e.Text, e.Code)
	}
	return fmt.Sprintf("%s: %s (%s)", e.Target, e.Text, e.Code)
}

// rejected returns the failure that a message reports, or nil if it reports none.
func rejected(m Message) *Rejected {
	switch {
	case m.Command == "FAIL": // FAIL command code context… :text
		r := &Rejected{Code: m.Param(1), Text: m.Last()}
		if len(m.Params) > 3 {
			r.Target = m.Param(2)
		}
		return r
	case len(m.Command) == 3 && (m.Command[0] == '4' || m.Command[0] == '5') || m.Command == "716": // 404 us target :text
		r := &Rejected{Code: m.Command, Text: m.Last()}
		if len(m.Params) > 2 {
			r.Target = m.Param(1)
		}
		return r
	}
	return nil
}

// A connectError is an error from net or tls, in a form that people can read. It omits
// the address and the system call that net adds.
type connectError struct {
	addr string
	err  error
}

func (e *connectError) Error() string {
	reason := e.err
	if op, ok := errors.AsType[*net.OpError](reason); ok && op.Op == "dial" {
		reason = op.Err
	}
	if call, ok := errors.AsType[*os.SyscallError](reason); ok {
		reason = call.Err
	}
	return fmt.Sprintf("connect to %s: %v", e.addr, reason)
}

func (e *connectError) Unwrap() error { return e.err }
