package policy

import (
	"fmt"
	"hash/fnv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// A past remembers maxSaid messages of a conversation. Echoes are counted among the last
// maxPair messages between the same two names, and only among those that are younger than
// echoLife.
const (
	maxSaid  = 64
	maxPair  = 16
	echoLife = time.Hour
)

// said contains what a past remembers about one message of a conversation.
type said struct {
	ID    string       `json:"id"`
	Type  dropbox.Type `json:"type"`
	Pair  string       `json:"pair"` // sender and recipient, sorted by name
	Print string       `json:"print"`
	At    int64        `json:"at"` // Unix milliseconds
}

// Fingerprint returns the same string for bodies that differ only in whitespace, numbers
// and letter case.
func Fingerprint(body []byte) string {
	kept := make([]byte, 0, len(body))
	// A dot, comma, colon, dash or slash between digits is part of the number: 1.5, 10:30,
	// 2026-11-21. Only the next character shows whether the punctuation is between digits,
	// so the punctuation is held back until then.
	number, held := false, rune(0)
	for _, r := range string(body) {
		switch {
		case unicode.IsDigit(r):
			number, held = true, 0
			continue
		case unicode.IsSpace(r):
			number = false
			continue
		case number && held == 0 && strings.ContainsRune(".,:-/", r):
			held = r
			continue
		}
		if held != 0 {
			kept = utf8.AppendRune(kept, held)
		}
		number, held = false, 0
		kept = utf8.AppendRune(kept, unicode.ToLower(r))
	}
	if held != 0 {
		kept = utf8.AppendRune(kept, held)
	}
	h := fnv.New64a()
	h.Write(kept)
	return fmt.Sprintf("%016x", h.Sum64())
}

// pair returns a key for the sender and the recipient of a message. The key is the same in
// both directions.
func pair(q Question) string {
	a, b := q.speaker(), q.To
	if a > b {
		a, b = b, a
	}
	return a + " " + b
}

// echoes counts the recent messages between the sender and the recipient that have nearly
// the same text.
func (p *Past) echoes(q Question) int {
	t := p.threads[threadOf(q.Message)]
	if t == nil || p.owed(q) {
		return 0
	}
	print, who, at := Fingerprint(q.Message.Body), pair(q), q.at().UnixMilli()
	n, seen := 0, 0
	for i := len(t.Said) - 1; i >= 0 && seen < maxPair; i-- {
		s := t.Said[i]
		if s.Pair != who || s.Print == "" {
			continue
		}
		seen++
		if s.Print == print && at-s.At < echoLife.Milliseconds() {
			n++
		}
	}
	return n
}

// owed reports whether a message is the answer to a request. An agent that gets many
// requests may answer all of them in a row with the same text. An answer to an answer is
// not owed.
func (p *Past) owed(q Question) bool {
	m := q.Message
	if m.Type != dropbox.Result || m.ReplyTo == "" {
		return false
	}
	if t := p.threads[threadOf(m)]; t != nil {
		for _, s := range t.Said {
			if s.ID == m.ReplyTo {
				return s.Type.WantsAnswer()
			}
		}
	}
	return true
}
