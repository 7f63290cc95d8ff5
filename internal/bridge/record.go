package bridge

import (
	"errors"
	"log/slog"
	"time"
)

// Keys of the log.
const (
	keyChannel = "channel"
	keyErr     = "err"
	keyMessage = "message"
	keyNick    = "nick"
	keyWhy     = "why"
)

// A record contains the data that the bridge writes for other programs: the bridge's state
// and the last lines of each channel. The loop owns it.
type record struct {
	dir     string // the bridge's folder
	size    int    // how many lines of each channel readers can see
	mask    func(text string) string
	log     *slog.Logger
	buffers map[string]*buffer // by file name
	state   State
	dirty   bool
	written time.Time
}

func newRecord(o *Options) *record {
	return &record{dir: Folder(o.Home, o.Name), size: o.BufferSize, mask: o.Mask, log: o.Log, buffers: map[string]*buffer{}}
}

// changed marks the state as changed, so that it is written.
func (r *record) changed() { r.dirty = true }

// trouble records a disk or network error that a person should see.
func (r *record) trouble(what string, err error) {
	r.log.Error(what, keyErr, err)
	r.state.LastError, r.state.LastAt, r.dirty = what+": "+r.mask(err.Error()), time.Now().UTC(), true
}

// write writes the state.
func (r *record) write() {
	r.dirty, r.written = false, time.Now()
	r.state.At = r.written.UTC()
	if err := writeState(r.dir, r.state); err != nil {
		r.log.Error("state was not written", keyErr, err)
	}
}

// buffer returns the buffer of a channel or a person, or nil if the buffer cannot be
// opened.
func (r *record) buffer(channel string) *buffer {
	name := fileName(channel)
	if b := r.buffers[name]; b != nil {
		return b
	}
	if len(r.buffers) >= 512 { // the number of open files is limited
		for name, b := range r.buffers {
			b.close()
			delete(r.buffers, name)
		}
	}
	b, err := openBuffer(r.dir, channel, r.size)
	if err != nil {
		r.trouble("buffer was not opened", err)
		return nil
	}
	r.buffers[name] = b
	return b
}

// close closes the buffers.
func (r *record) close() (err error) {
	for _, b := range r.buffers {
		err = errors.Join(err, b.close())
	}
	return err
}

// keep adds a line to the buffer of its channel.
func (r *record) keep(l Line) {
	b := r.buffer(l.Channel)
	if b == nil {
		return
	}
	if _, err := b.add(l); err != nil {
		r.trouble("line was not kept", err)
	}
}

// kept returns the data in a channel's buffer about one of our messages.
func (r *record) kept(channel, id string) (k Kept, ok bool) {
	b := r.buffer(channel)
	if b == nil {
		return Kept{}, false
	}
	upto, msgids, err := b.said(id)
	if err != nil {
		r.trouble("buffer was not read", err)
	}
	return Kept{Upto: upto, MsgIDs: msgids, Spoke: b.spoke}, true
}

// hasSaid reports whether a channel's buffer contains one of our lines with the given id.
func (r *record) hasSaid(channel, msgid string) bool {
	b := r.buffer(channel)
	return b != nil && b.seen[msgid]
}
