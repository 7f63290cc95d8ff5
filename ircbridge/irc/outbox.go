package irc

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Limits on the queues. A message for a full queue fails immediately with ErrQueueFull;
// no waiting message is dropped to make room.
const (
	maxWaiting       = 4096 // total number of pieces; twice as many for alerts
	maxWaitingTarget = 1024 // number of pieces for one target with one priority; alerts have no such limit
)

// barrierEvery is how many lines are written before a PING checks whether they arrived.
// It is small, because if the connection is cut, the fate of all these lines is unknown.
// barrierRest is the pause before the PING if no line is waiting.
const (
	barrierEvery = 4
	barrierRest  = 20 * time.Millisecond
)

// Limits on unanswered lines if there is no flood limit. ngircd 26.1 handles 3 commands
// at once and further commands a second later, so it is slower with more than two lines
// and their PING. It does not support labels; servers that support them handle more lines
// at once.
const (
	maxFlyingOff      = 2
	maxFlyingLabelled = 8
)

// An entry is data that is written in one piece. It is a line or a whole batch, in which no
// other command may appear.
type entry struct {
	data     []byte
	lines    int // how many tokens the entry costs; an entry that costs none does not wait for one
	command  string
	target   string // folded
	private  bool   // the target is a person
	text     string // the text as it appears in the echo
	priority Priority
	label    string
	delivery *Delivery // nil for a bare command
	piece    int
	call     *call // the call that Do made; otherwise nil

	number uint64 // numbers the entries in the order in which they are written, from 1
	at     time.Time
	over   bool
}

// An outbox contains the entries that are waiting to be written, and those that have been
// written but not proven yet. It belongs to a connection, whose mutex guards it.
type outbox struct {
	flood  Flood
	bucket bucket

	urgent  [][]byte // the registration, PONG, QUIT and the PING that checks the server; they do not wait for the bucket
	waiting [priorities]turns
	private [priorities]turns // messages for people; see peek
	spell   int               // number of private messages written since the channels had nothing waiting, or people had not

	lastPrivate bool // the entry that was written last is a private message

	flying   []*entry          // entries that have been written but not proven yet, in order
	bytes    int               // total size of flying
	labels   map[string]*entry // the entries that have not been answered yet, by label
	last     uint64            // number of the entry that was written last
	label    uint64            // the number in the newest label or batch reference
	barrier  uint64            // the newest PING proves the entries up to this number
	since    int               // number of entries without a label since the newest PING; the next PING proves them
	pingedAt time.Time
	wroteAt  time.Time
}

func newOutbox(f Flood, now time.Time) *outbox {
	f = f.withDefaults()
	return &outbox{flood: f, bucket: newBucket(f, now), labels: make(map[string]*entry)}
}

// turns contains a queue for each target. The targets take turns.
type turns struct {
	order []string
	queue map[string][]*entry
	n     int
}

func (t *turns) push(e *entry) {
	if t.queue == nil {
		t.queue = make(map[string][]*entry)
	}
	if len(t.queue[e.target]) == 0 {
		t.order = append(t.order, e.target)
	}
	t.queue[e.target] = append(t.queue[e.target], e)
	t.n++
}

func (t *turns) peek() *entry {
	if t.n == 0 {
		return nil
	}
	return t.queue[t.order[0]][0]
}

func (t *turns) pop() {
	target := t.order[0]
	rest := t.queue[target][1:]
	t.order = t.order[1:]
	t.n--
	if len(rest) == 0 {
		delete(t.queue, target)
		return
	}
	t.queue[target] = rest
	t.order = append(t.order, target)
}

func (o *outbox) size() int {
	n := 0
	for i := range o.waiting {
		n += o.waiting[i].n + o.private[i].n
	}
	return n
}

// of returns the queues for one kind of entry.
func (o *outbox) of(private bool, p Priority) *turns {
	if private {
		return &o.private[p]
	}
	return &o.waiting[p]
}

// room reports whether there is room for n more waiting pieces.
func (o *outbox) room(target string, private bool, p Priority, n int) bool {
	if p == Alert {
		return o.size() < 2*maxWaiting
	}
	return o.size()+n <= maxWaiting && len(o.of(private, p).queue[target])+n <= maxWaitingTarget
}

func (o *outbox) push(e *entry) {
	if e.label != "" {
		o.labels[e.label] = e
	}
	o.of(e.private, e.priority).push(e)
}

func (o *outbox) newLabel() string {
	o.label++
	return fmt.Sprintf("s%d", o.label)
}

// next returns the bytes that may be written now. If there are none, wait is the time
// until there is a token or until the PING is due. A wait of 0 means that there is nothing
// to write until the next event.
func (o *outbox) next(now time.Time) (data []byte, wait time.Duration) {
	for _, line := range o.urgent {
		data = append(data, line...)
		o.bucket.pay(1)
	}
	o.urgent = nil
	for len(data) < 32<<10 {
		e := o.peek()
		if e != nil && !o.flood.Off {
			if wait = o.bucket.wait(now); wait > 0 && e.lines > 0 {
				break
			}
			wait = 0
			if o.bytes > 0 && o.bytes+len(e.data) > o.flood.Window {
				if o.since > 0 {
					data = append(data, o.ping(now)...)
				}
				break // wait until the server has answered
			}
		}
		full := o.flood.Off && e != nil && (len(o.flying) >= maxFlyingLabelled || e.label == "" && len(o.flying) >= maxFlyingOff)
		if o.since > 0 && (e == nil || full || !o.flood.Off && o.since >= barrierEvery) {
			if wait = o.bucket.wait(now); wait > 0 && !o.flood.Off {
				break
			}
			if e == nil && !o.flood.Off {
				// More lines may follow immediately, and one PING can then prove all of
				// them.
				if wait = barrierRest - now.Sub(o.wroteAt); wait > 0 {
					break
				}
			}
			wait = 0
			data = append(data, o.ping(now)...)
			continue
		}
		if e == nil || full {
			break
		}
		o.pop(e)
		if e.delivery != nil {
			if e.delivery.hopeless() {
				o.forget(e)
				e.delivery.dropped(ErrNotSent)
				continue
			}
			e.delivery.written(e.piece)
		}
		o.last++
		o.wroteAt = now
		e.number, e.at = o.last, now
		o.flying = append(o.flying, e)
		o.bytes += len(e.data)
		o.bucket.pay(e.lines)
		if e.label == "" {
			o.since++
		}
		data = append(data, e.data...)
	}
	return data, wait
}

// privateFirst is the number of private messages that take precedence over messages for channels,
// because a person is waiting for them. After them, as in a page of many lines, the two kinds take
// turns.
const privateFirst = 3

// peek returns the next entry. Neither private messages nor those for channels wait for more than
// privateFirst entries of the other kind, and an alert for a channel waits for one.
func (o *outbox) peek() *entry {
	private, other := highest(&o.private), highest(&o.waiting)
	if private == nil || other != nil && o.lastPrivate && (o.spell >= privateFirst || other.priority == Alert && private.priority != Alert) {
		return other
	}
	return private
}

func highest(queues *[priorities]turns) *entry {
	for i := priorities - 1; i >= 0; i-- {
		if e := queues[i].peek(); e != nil {
			return e
		}
	}
	return nil
}

// pop removes the entry that peek returned.
func (o *outbox) pop(e *entry) {
	o.of(e.private, e.priority).pop()
	o.lastPrivate = e.private
	if o.spell++; highest(&o.waiting) == nil || !e.private && highest(&o.private) == nil {
		o.spell = 0
	}
}

func (o *outbox) forget(e *entry) {
	if e.label != "" {
		delete(o.labels, e.label)
	}
}

const pingPrefix = "proof-"

// ping returns a PING. Its PONG shows that the server has handled everything that was
// written before the PING.
func (o *outbox) ping(now time.Time) []byte {
	o.since = 0
	o.barrier = o.last
	o.pingedAt = now
	o.bucket.pay(1)
	return fmt.Appendf(nil, "PING :%s%d\r\n", pingPrefix, o.barrier)
}

// pong handles the answer to a ping; ok is false for any other PONG. lag is known only
// for the newest ping.
func (o *outbox) pong(token string, now time.Time) (lag time.Duration, ok bool) {
	digits, ok := strings.CutPrefix(token, pingPrefix)
	if !ok {
		return 0, false
	}
	var number uint64
	if _, err := fmt.Sscanf(digits, "%d", &number); err != nil || number > o.barrier {
		return 0, false
	}
	o.passed(number)
	if number == o.barrier {
		lag = now.Sub(o.pingedAt)
	}
	return lag, true
}

// passed marks all entries up to number as proven, because the server answers in order and
// would have reported a failure before this answer. A command with a label waits for its
// answer, which may arrive later.
func (o *outbox) passed(number uint64) {
	n := 0
	for ; n < len(o.flying) && o.flying[n].number <= number; n++ {
		e := o.flying[n]
		o.bytes -= len(e.data)
		switch {
		case e.delivery != nil:
			o.forget(e)
			e.delivery.proven(e.piece, "")
		case e.call != nil && e.label == "":
			e.call.finish(nil)
		}
	}
	o.flying = slices.Delete(o.flying, 0, n)
}

// prove settles an entry whose echo or answer has arrived, and all entries before it.
func (o *outbox) prove(e *entry, msgid string) {
	o.forget(e)
	if e.delivery != nil {
		e.delivery.proven(e.piece, msgid)
	}
	o.passed(e.number)
}

func (o *outbox) reject(e *entry, err error) {
	o.forget(e)
	if e.delivery != nil {
		e.delivery.failed(e.piece, err)
	}
	o.passed(e.number)
}

// find returns the oldest unproven entry that matches, or nil.
func (o *outbox) find(fits func(*entry) bool) *entry {
	for _, e := range o.flying {
		if fits(e) {
			return e
		}
	}
	return nil
}

// oldest returns the time when the oldest unproven line was written, or zero if all lines
// are proven.
func (o *outbox) oldest() time.Time {
	if len(o.flying) == 0 {
		return time.Time{}
	}
	return o.flying[0].at
}

// end settles every delivery and ends every call.
func (o *outbox) end(err error) {
	over := func(e *entry) {
		if e.over {
			return
		}
		e.over = true
		if e.delivery != nil {
			e.delivery.cut(e.piece)
		}
		if e.call != nil {
			e.call.finish(err)
		}
	}
	for _, e := range o.flying {
		over(e)
	}
	for e := o.peek(); e != nil; e = o.peek() {
		o.pop(e)
		over(e)
	}
	for _, e := range o.labels { // commands that the server has handled but whose answers are still missing
		over(e)
	}
	o.flying, o.labels = nil, nil
}
