package claude

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
)

// steering tracks the lines that were written to the client after its prompt.
type steering struct {
	lines []steered
	until time.Time // after this time, an unread line will never be read; zero until open sets it
	// result is the time of the last tool result; zero if another tool has been called
	// since then.
	result time.Time
}

// steered is the state of one line. The client repeats a line when it has read it.
type steered struct {
	uuid  string
	aside bool // the turn does not wait for it
	taken bool
	// dropped means that the client was told to discard the line.
	dropped bool
	behind  int // the number of results before the client repeated the line
}

// steer sends the client the messages that have arrived for it.
func (r *follower) steer() {
	if !r.canTakeIn() {
		return
	}
	for s := range r.run.Messages() {
		r.steering.lines = append(r.steering.lines, steered{uuid: s.UUID, aside: s.Aside})
		r.run.Send(steerLine(s))
	}
}

// canTakeIn reports whether the client is working on its prompt and repeats the lines
// that it reads.
func (r *follower) canTakeIn() bool {
	return r.run.CanSend() && !r.seen.replay.IsZero() && r.own() == nil && !r.run.Ending() && !r.run.Stopped()
}

// repeated records a line that the client has repeated.
func (s *steering) repeated(uuid string, results int) {
	i := slices.IndexFunc(s.lines, func(l steered) bool { return l.uuid == uuid && !l.taken })
	if i >= 0 {
		s.lines[i].taken, s.lines[i].behind = true, results
	}
}

// open reports whether, after the given number of results, any line is still waiting for
// its answer. The first call that finds a line for which the turn waits sets s.until. A
// line that is not repeated by that time was not read.
func (s *steering) open(results int, now time.Time, patience time.Duration) bool {
	if !slices.ContainsFunc(s.lines, func(l steered) bool { return l.taken || !l.aside }) {
		return false
	}
	if s.until.IsZero() {
		s.until = now.Add(patience)
	}
	return slices.ContainsFunc(s.lines, func(l steered) bool {
		return !l.taken && !l.aside && now.Before(s.until) || l.taken && l.behind >= results
	})
}

// steeredDone returns the UUIDs of the lines that the client read before a successful
// result.
func (r *follower) steeredDone() []string {
	var done []string
	results := r.run.Account.Results()
	for _, l := range r.steering.lines {
		if l.taken && l.behind < len(results) && (!results[l.behind].IsError || answered(&results[l.behind])) {
			done = append(done, l.uuid)
		}
	}
	return done
}

// dropAfter is how long a line that does not justify a turn waits after the last tool
// result. After that, the line is dropped unless another tool was called. A client
// (2.1.197 and 2.1.330) reads new lines within 20 ms of the result of its last running
// tool. It reads later lines after the next tool call, or as the prompt of another turn.
const dropAfter = 200 * time.Millisecond

// called records the time of the last tool result in the main conversation.
func (s *steering) called(ev *streamjson.Event, now time.Time) {
	for _, b := range ev.Blocks {
		switch {
		case ev.Parent != "":
		case b.Kind == streamjson.BlockToolUse:
			s.result = time.Time{}
		case b.Kind == streamjson.BlockToolResult:
			s.result = now
		}
	}
}

// dropAt returns the time at which to drop the lines that do not justify a turn; zero
// means that there are no such lines.
func (s *steering) dropAt() time.Time {
	if s.result.IsZero() || !slices.ContainsFunc(s.lines, steered.droppable) {
		return time.Time{}
	}
	return s.result.Add(dropAfter)
}

func (l steered) droppable() bool { return l.aside && !l.taken && !l.dropped }

// dropQuestion is the prefix of the ids of our requests to drop a line.
const dropQuestion = "drop-"

// drop tells the client to drop the lines that do not justify a turn, once the time
// dropAt has been reached.
func (r *follower) drop(now time.Time) {
	at := r.steering.dropAt()
	if at.IsZero() || now.Before(at) || !r.canTakeIn() {
		return
	}
	for i, l := range r.steering.lines {
		if l.droppable() {
			r.steering.lines[i].dropped = true
			r.run.Send(fmt.Appendf(nil, `{"type":"control_request","request_id":%q,"request":{"subtype":"cancel_async_message","message_uuid":%q}}`+"\n", dropQuestion+l.uuid, l.uuid))
		}
	}
}

// dropAnswer handles the client's answer to a request from drop, and reports whether ev is
// such an answer. If the client has already begun to read the line, it answers that it did
// not drop it.
func (r *follower) dropAnswer(ev *streamjson.Event) bool {
	if ev.Kind != streamjson.KindControl || ev.Control == nil {
		return false
	}
	uuid, ok := strings.CutPrefix(ev.Control.RequestID, dropQuestion)
	if !ok {
		return false
	}
	i := slices.IndexFunc(r.steering.lines, func(l steered) bool { return l.uuid == uuid && l.dropped && !l.taken })
	if i >= 0 && bytes.Contains(ev.Raw, []byte(`"cancelled":true`)) {
		r.steering.lines = slices.Delete(r.steering.lines, i, i+1)
		if h := r.turn.Steering; h != nil && h.Dropped != nil {
			h.Dropped(strings.Clone(uuid))
		}
	}
	return true
}

// missing reports whether there are lines that the client has not repeated.
func (s *steering) missing() bool {
	return slices.ContainsFunc(s.lines, func(l steered) bool { return !l.taken })
}

// resume records the lines that an earlier daemon had written to a followed client.
func (s *steering) resume(uuids []string) {
	for _, uuid := range uuids {
		s.lines = append(s.lines, steered{uuid: uuid})
	}
}
