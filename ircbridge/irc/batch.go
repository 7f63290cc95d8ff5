package irc

import (
	"slices"
	"strings"
)

// Limits on open batches. A batch that exceeds maxBatchBytes is dropped as a whole, and
// counted. The same is true of a batch that begins while maxBatches are open. Its
// messages must not be treated as single messages, because the lines of a history would
// then be read as new. If maxRefs batches are open, including the dropped ones, the start
// of another batch and each of its messages are dropped.
const (
	maxBatches    = 64
	maxRefs       = 16 * maxBatches
	maxBatchBytes = 8 << 20
)

// A batch collects messages until the batch ends, so that the caller never sees an
// incomplete batch.
type batch struct {
	kind    string
	parent  string
	start   Message // BATCH +ref type params…
	members []Message
	bytes   int
	void    bool
}

// batches are the open batches, by reference. The reader owns them.
type batches map[string]*batch

// add adds a message to its batch. If the message ends a nested batch, add adds that
// batch to its open parent. done is the top-level batch that the message ends, or nil.
// alone is false for a BATCH message and for a message that belongs to an open batch.
// dropped reports whether a batch was dropped.
func (b *batches) add(m Message) (done *batch, alone, dropped bool) {
	if m.Command == "BATCH" && len(m.Params) > 0 {
		ref := m.Param(0)
		switch {
		case strings.HasPrefix(ref, "+"):
			if *b == nil {
				*b = make(batches)
			}
			if len(*b) >= maxRefs {
				return nil, false, true
			}
			(*b)[ref[1:]] = &batch{kind: m.Param(1), parent: m.Tags["batch"], start: m, void: len(*b) >= maxBatches}
		case strings.HasPrefix(ref, "-"):
			done := (*b)[ref[1:]]
			delete(*b, ref[1:])
			if done == nil {
				return nil, false, false
			}
			if parent := (*b)[done.parent]; parent != nil {
				parent.void = parent.void || done.void
				parent.collect(done.bytes, done.flat()...)
				return nil, false, false
			}
			if done.void {
				return nil, false, true
			}
			return done, false, false
		}
		return nil, false, false
	}
	own := (*b)[m.Tags["batch"]]
	if own == nil {
		dropped = m.Tags["batch"] != "" && len(*b) >= maxRefs
		return nil, !dropped, dropped
	}
	size := 64 // even an empty message uses memory
	for _, p := range m.Params {
		size += len(p)
	}
	for key, value := range m.Tags {
		size += len(key) + len(value)
	}
	own.collect(size, m)
	return nil, false, false
}

// collect adds messages with a total size in bytes, unless the batch is dropped.
func (b *batch) collect(size int, messages ...Message) {
	b.bytes += size
	if b.bytes > maxBatchBytes {
		b.void = true
	}
	if b.void {
		b.members = nil
		return
	}
	b.members = append(b.members, messages...)
}

// flat returns the messages of the batch. For a multiline batch this is one message. For
// other batches, they are the members, each with the batch's type as its "batch" tag. The
// members of a labeled-response batch keep their own tag.
func (b *batch) flat() []Message {
	if b.kind == "draft/multiline" || b.kind == "multiline" {
		return b.merged()
	}
	if b.kind != "labeled-response" {
		for i := range b.members {
			b.members[i].Tags["batch"] = b.kind
		}
	}
	return b.members
}

// merged joins the lines into one message. It puts a line feed between two lines, unless
// the second has the concat tag. The tags of the merged message (msgid, time, account,
// label) come from the BATCH line.
func (b *batch) merged() []Message {
	if len(b.members) == 0 {
		return nil
	}
	m := b.members[0]
	tags := m.Tags
	delete(tags, "draft/multiline-concat")
	delete(tags, "batch")
	for key, value := range b.start.Tags {
		tags[key] = value
	}
	m.Tags = tags
	if m.Source == "" {
		m.Source = b.start.Source
	}
	lines := make([]Line, len(b.members))
	for i, part := range b.members {
		_, concat := part.Tags["draft/multiline-concat"]
		lines[i] = Line{part.Last(), concat && i > 0}
	}
	m.Params = slices.Clone(m.Params)
	if len(m.Params) > 0 {
		m.Params[len(m.Params)-1] = Join(lines)
	}
	return []Message{m}
}

// label returns the label of the command that the batch answers, or "" if the batch has
// no label.
func (b *batch) label() string { return b.start.Tags["label"] }
