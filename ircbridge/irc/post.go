package irc

import (
	"fmt"
	"strings"
)

// post implements [Conn.Post].
func (p *protocol) post(o Outgoing) *Delivery {
	if p.st.phase != Registered || p.st.leaving {
		return refusedDelivery(ErrNotSent)
	}
	command, fixed := "PRIVMSG", []string{o.Target}
	if o.Kind == Notice {
		command = "NOTICE"
	}
	if o.As != "" && p.st.has("draft/relaymsg") {
		command, fixed = "RELAYMSG", []string{o.Target, o.As}
	}
	if strings.Contains(o.Target, ",") {
		return refusedDelivery(fmt.Errorf("%w: more than one target in %q", ErrMessage, o.Target))
	}
	if !p.st.isup.IsChannel(o.Target) && noNick(o.Target) {
		return refusedDelivery(fmt.Errorf("%w: %q", ErrTarget, o.Target))
	}
	text := strings.TrimRight(PlainText(p.mask.Mask(o.Text)), "\n")
	if strings.TrimSpace(text) == "" {
		return refusedDelivery(ErrNoText)
	}
	pc := parcel{proto: p, o: o, command: command, fixed: fixed, lines: Split(text, p.limit(o))}
	if p.st.has("message-tags") {
		pc.tags = o.Tags
	}
	var err error
	maxBytes, maxLines, batches := p.st.multiline()
	if batches && len(pc.lines) > 1 && o.Kind != Emote && command != "RELAYMSG" {
		err = pc.batches(maxBytes, maxLines)
	} else {
		err = pc.single()
	}
	if err != nil {
		return refusedDelivery(err)
	}
	target := p.st.fold.Fold(o.Target)
	private := !p.st.isup.IsChannel(o.Target)
	if !p.out.room(target, private, o.Priority, len(pc.entries)) {
		return refusedDelivery(ErrQueueFull)
	}
	pieces := make([]string, len(pc.entries))
	for i, e := range pc.entries {
		pieces[i] = e.text
	}
	d := newDelivery(pieces)
	for i, e := range pc.entries {
		e.delivery, e.piece, e.target, e.private, e.priority = d, i, target, private, o.Priority
		p.out.push(e)
	}
	p.wake()
	return d
}

// noNick reports whether a target that is not a channel also cannot be a nick. A server
// may interpret such a target as a user or server mask ($$*), an address (nick!user@host)
// or a channel's operators (@#channel). The check is needed because a server without
// labels does not report which message it refuses.
func noNick(target string) bool {
	return strings.TrimSpace(target) == "" || strings.ContainsAny(target, "!@$*?%")
}

// A parcel is a message that is being converted to lines.
type parcel struct {
	proto   *protocol
	o       Outgoing
	command string
	fixed   []string // parameters before the text
	tags    map[string]string
	lines   []Line
	entries []*entry
}

// line appends one line with the given tags to dst. The error is [ErrTooLong] or
// [ErrMessage].
func (pc *parcel) line(dst []byte, text string, tags map[string]string) ([]byte, error) {
	if pc.o.Kind == Emote && pc.command == "PRIVMSG" {
		text = "\x01ACTION " + text + "\x01"
	}
	before := len(dst)
	dst, err := Message{Tags: tags, Command: pc.command, Params: append(pc.fixed[:len(pc.fixed):len(pc.fixed)], text)}.Append(dst)
	if err != nil {
		return dst, err
	}
	return dst, pc.proto.fits(dst[before:])
}

// fits returns [ErrTooLong] for a line that the server would cut or refuse.
func (p *protocol) fits(line []byte) error {
	rest := line
	if line[0] == '@' {
		end := strings.IndexByte(string(line), ' ') + 1
		if end > MaxTagsOut {
			return ErrTooLong
		}
		rest = line[end:]
	}
	if len(rest) > p.st.lineLen(p.cfg.LineLen) {
		return ErrTooLong
	}
	return nil
}

func (pc *parcel) label(tags map[string]string) (string, map[string]string) {
	all := make(map[string]string, len(tags)+1)
	for key, value := range tags {
		all[key] = value
	}
	label := ""
	if pc.proto.st.has("labeled-response") {
		label = pc.proto.out.newLabel()
		all["label"] = label
	}
	return label, all
}

func (pc *parcel) single() error {
	for _, l := range pc.lines {
		if l.Text == "" {
			l.Text = " " // most servers refuse a line without text
		}
		label, tags := pc.label(pc.tags)
		data, err := pc.line(nil, l.Text, tags)
		if err != nil {
			return err
		}
		pc.tags = nil
		pc.entries = append(pc.entries, &entry{data: data, lines: 1, command: pc.command, text: l.Text, label: label})
	}
	return nil
}

func (pc *parcel) batches(maxBytes, maxLines int) error {
	for _, lines := range Batches(pc.lines, maxBytes, maxLines) {
		if strings.Trim(Join(lines), "\n") == "" {
			continue // servers refuse a batch that contains only blank lines
		}
		pc.proto.out.label++
		ref := fmt.Sprintf("m%d", pc.proto.out.label)
		label, tags := pc.label(pc.tags)
		data, err := Message{Tags: tags, Command: "BATCH", Params: []string{"+" + ref, "draft/multiline", pc.o.Target}}.Append(nil)
		for i, l := range lines {
			if err != nil {
				return err
			}
			tags := map[string]string{"batch": ref}
			if l.Concat && i > 0 {
				tags["draft/multiline-concat"] = ""
			}
			data, err = pc.line(data, l.Text, tags)
		}
		if err == nil {
			data, err = Msg("BATCH", "-"+ref).Append(data)
		}
		if err != nil {
			return err
		}
		lines[0].Concat = false
		pc.tags = nil
		pc.entries = append(pc.entries, &entry{
			data: data, lines: 1 + len(data)/LineLen, // the way ergo counts lines
			command: pc.command, text: Join(lines), label: label,
		})
	}
	return nil
}

func (p *protocol) limit(o Outgoing) int {
	source := p.st.sourceLen()
	if o.As != "" && p.st.has("draft/relaymsg") {
		// The server adds this nick in front of the text, with a user and host of its
		// choice.
		source = len(o.As) + len("!") + 10 + len("@") + 63
	}
	n := p.st.lineLen(p.cfg.LineLen) - len(":") - source - len(" PRIVMSG ") - len(o.Target) - len(" :") - len("\r\n")
	if o.Kind == Emote {
		n -= len("\x01ACTION \x01")
	}
	return n
}
