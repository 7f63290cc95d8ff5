package irc

import (
	"context"
	"fmt"
	"strings"
)

// maxAnswer bounds the messages that are kept as the answer to one command.
const maxAnswer = 10_000

// Send says texts to a target, one after another, as agents' output. See [Conn.Post].
func (c *Conn) Send(target string, text ...string) *Delivery {
	return c.Post(Outgoing{Target: target, Text: strings.Join(text, "\n")})
}

// Post queues a text and returns at once. The text is masked ([Masker]), made
// plain ([PlainText]) and split: into a multiline batch where the server has
// them and more than one line is needed, else into single lines, of which a
// blank one goes out as a space. Line ends at its end are left out.
//
// Every target has a separate queue, and they are served in turn, below the
// flood limit; what is for people goes before what is for channels. The queues are bounded; when they are full, the delivery fails
// with [ErrQueueFull]. A target that is neither a channel nor a nick fails with [ErrTarget].
func (c *Conn) Post(o Outgoing) *Delivery {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.st.phase != Registered || c.st.leaving {
		return refusedDelivery(ErrNotSent)
	}
	command, fixed := "PRIVMSG", []string{o.Target}
	if o.Kind == Notice {
		command = "NOTICE"
	}
	if o.As != "" && c.st.has("draft/relaymsg") {
		command, fixed = "RELAYMSG", []string{o.Target, o.As}
	}
	if strings.Contains(o.Target, ",") {
		return refusedDelivery(fmt.Errorf("%w: more than one target in %q", ErrMessage, o.Target))
	}
	if !c.st.isup.IsChannel(o.Target) && noNick(o.Target) {
		return refusedDelivery(fmt.Errorf("%w: %q", ErrTarget, o.Target))
	}
	text := strings.TrimRight(PlainText(c.mask.Mask(o.Text)), "\n")
	if strings.TrimSpace(text) == "" {
		return refusedDelivery(ErrNoText)
	}
	p := parcel{c: c, o: o, command: command, fixed: fixed, lines: Split(text, c.limit(o))}
	if c.st.has("message-tags") {
		p.tags = o.Tags
	}
	var err error
	maxBytes, maxLines, batches := c.st.multiline()
	if batches && len(p.lines) > 1 && o.Kind != Emote && command != "RELAYMSG" {
		err = p.batches(maxBytes, maxLines)
	} else {
		err = p.single()
	}
	if err != nil {
		return refusedDelivery(err)
	}
	target := c.st.fold.Fold(o.Target)
	private := !c.st.isup.IsChannel(o.Target)
	if !c.out.room(target, private, o.Priority, len(p.entries)) {
		return refusedDelivery(ErrQueueFull)
	}
	pieces := make([]string, len(p.entries))
	for i, e := range p.entries {
		pieces[i] = e.text
	}
	d := newDelivery(pieces)
	for i, e := range p.entries {
		e.delivery, e.piece, e.target, e.private, e.priority = d, i, target, private, o.Priority
		c.out.push(e)
	}
	c.ring()
	return d
}

// noNick says whether a target that is not a channel cannot be a nick either. Servers take such
// ones for masks of users or servers ($$*), for addresses (nick!user@host) or for the operators
// of a channel (@#channel), and those without labels do not say to which text a refusal belongs.
func noNick(target string) bool {
	return strings.TrimSpace(target) == "" || strings.ContainsAny(target, "!@$*?%")
}

// A parcel is a text on its way to be lines.
type parcel struct {
	c       *Conn
	o       Outgoing
	command string
	fixed   []string // parameters before the text
	tags    map[string]string
	lines   []Line
	entries []*entry
}

// line writes one line with tags added to those of the parcel.
func (p *parcel) line(dst []byte, text string, tags map[string]string) ([]byte, error) {
	if p.o.Kind == Emote && p.command == "PRIVMSG" {
		text = "\x01ACTION " + text + "\x01"
	}
	before := len(dst)
	dst, err := Message{Tags: tags, Command: p.command, Params: append(p.fixed[:len(p.fixed):len(p.fixed)], text)}.Append(dst)
	if err != nil {
		return dst, err
	}
	return dst, p.c.fits(dst[before:])
}

// fits refuses a line that the server would cut or hang up on.
func (c *Conn) fits(line []byte) error {
	rest := line
	if line[0] == '@' {
		end := strings.IndexByte(string(line), ' ') + 1
		if end > MaxTagsOut {
			return ErrTooLong
		}
		rest = line[end:]
	}
	if len(rest) > c.st.lineLen(c.cfg.LineLen) {
		return ErrTooLong
	}
	return nil
}

func (p *parcel) label(tags map[string]string) (string, map[string]string) {
	all := make(map[string]string, len(tags)+1)
	for key, value := range tags {
		all[key] = value
	}
	label := ""
	if p.c.st.has("labeled-response") {
		label = p.c.out.newLabel()
		all["label"] = label
	}
	return label, all
}

func (p *parcel) single() error {
	for _, l := range p.lines {
		if l.Text == "" {
			l.Text = " " // a line without text is refused by most servers
		}
		label, tags := p.label(p.tags)
		data, err := p.line(nil, l.Text, tags)
		if err != nil {
			return err
		}
		p.tags = nil
		p.entries = append(p.entries, &entry{data: data, lines: 1, command: p.command, text: l.Text, label: label})
	}
	return nil
}

func (p *parcel) batches(maxBytes, maxLines int) error {
	for _, lines := range Batches(p.lines, maxBytes, maxLines) {
		if strings.Trim(Join(lines), "\n") == "" {
			continue // a batch of blank lines only is refused
		}
		p.c.out.label++
		ref := fmt.Sprintf("m%d", p.c.out.label)
		label, tags := p.label(p.tags)
		data, err := Message{Tags: tags, Command: "BATCH", Params: []string{"+" + ref, "draft/multiline", p.o.Target}}.Append(nil)
		for i, l := range lines {
			if err != nil {
				return err
			}
			tags := map[string]string{"batch": ref}
			if l.Concat && i > 0 {
				tags["draft/multiline-concat"] = ""
			}
			data, err = p.line(data, l.Text, tags)
		}
		if err == nil {
			data, err = Msg("BATCH", "-"+ref).Append(data)
		}
		if err != nil {
			return err
		}
		lines[0].Concat = false
		p.tags = nil
		p.entries = append(p.entries, &entry{
			data: data, lines: 1 + len(data)/LineLen, // as ergo counts it
			command: p.command, text: Join(lines), label: label,
		})
	}
	return nil
}

// Limit is how many bytes of text arrive whole in one line of o: what is left
// of a line when the server has put our source before it.
func (c *Conn) Limit(o Outgoing) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.limit(o)
}

func (c *Conn) limit(o Outgoing) int {
	source := c.st.sourceLen()
	if o.As != "" && c.st.has("draft/relaymsg") {
		// The server writes this nick and a user and host of its own choice.
		source = len(o.As) + len("!") + 10 + len("@") + 63
	}
	n := c.st.lineLen(c.cfg.LineLen) - len(":") - source - len(" PRIVMSG ") - len(o.Target) - len(" :") - len("\r\n")
	if o.Kind == Emote {
		n -= len("\x01ACTION \x01")
	}
	return n
}

// A call waits for the answer to a command.
type call struct {
	answer []Message
	err    error
	done   chan struct{}
}

func (k *call) finish(err error) {
	select {
	case <-k.done:
	default:
		k.err = err
		close(k.done)
	}
}

// Do writes a command and waits until the server is through with it. With
// labeled-response the answer is exactly what the server said to it; without,
// it is every numeric and FAIL until the PONG to a PING after it, among which
// may be some of another cause. The error is a [*Rejected] where the answer
// holds a failure, [ErrClosed] and others as of [Conn.Err] when the connection
// ends, or that of ctx.
//
// The answer is seen in [Conn.Messages] too (but for histories), so whoever
// reads that must not wait here: the reader would wait for them.
func (c *Conn) Do(ctx context.Context, m Message) ([]Message, error) {
	k := &call{done: make(chan struct{})}
	c.mu.Lock()
	e, err := c.command(m)
	if err == nil {
		e.call = k
		c.out.push(e)
		c.ring()
	}
	c.mu.Unlock()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Command, err)
	}
	select {
	case <-k.done:
	case <-ctx.Done():
		c.mu.Lock()
		c.out.forget(e)
		k.finish(ctx.Err())
		c.mu.Unlock()
	}
	c.mu.Lock()
	// The reader may still add to the answer of a call that was given up.
	answer, err := k.answer[:len(k.answer):len(k.answer)], k.err
	c.mu.Unlock()
	if err == nil && e.label == "" {
		for _, a := range answer {
			if r := rejected(a); r != nil && concerns(r, a, m, c.State().CaseMapping()) {
				err = r
				break
			}
		}
	}
	if err != nil {
		return answer, fmt.Errorf("%s: %w", m.Command, err)
	}
	return answer, nil
}

// command makes the entry of a bare command; with mu held.
func (c *Conn) command(m Message) (*entry, error) {
	switch {
	case c.err != nil:
		return nil, c.err
	case c.st.phase != Registered || c.st.leaving:
		return nil, ErrNotSent
	case !c.out.room("", false, Answer, 1):
		return nil, ErrQueueFull
	}
	e := &entry{lines: 1, command: strings.ToUpper(m.Command), priority: Answer}
	if c.st.has("labeled-response") {
		e.label = c.out.newLabel()
		tags := map[string]string{"label": e.label}
		for key, value := range m.Tags {
			tags[key] = value
		}
		m.Tags = tags
	}
	var err error
	if e.data, err = m.Append(nil); err != nil {
		return nil, err
	}
	return e, c.fits(e.data)
}

// concerns says whether a failure without a label is one of our command.
func concerns(r *Rejected, answer, m Message, fold CaseMapping) bool {
	if answer.Command == "FAIL" {
		return answer.Param(0) == m.Command || answer.Param(0) == "*"
	}
	if r.Target == "" || strings.EqualFold(r.Target, m.Command) {
		return true
	}
	for _, p := range m.Params {
		if fold.Same(p, r.Target) {
			return true
		}
	}
	return false
}
