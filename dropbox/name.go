package dropbox

import (
	"crypto/rand"
	"encoding/base32"
	"slices"
	"strconv"
	"strings"
	"time"
)

// timeLayout is the format of the time in a file name: UTC with microseconds, without
// colons. Sorting such times as text puts them in chronological order.
const timeLayout = "20060102T150405.000000Z"

const (
	idLen   = 10
	baseLen = len("1-") + len(timeLayout) + len("-") + idLen
)

// An Entry contains the information in a message's file name. Messages are claimed in the
// order of their names, so choosing the next message does not require opening any file.
//
//	1-20261121T045102.123456Z-k7f3q9m2xd.md        waits, never begun
//	1-20261121T045102.123456Z-k7f3q9m2xd~2.1.md    begun twice, failed once
//	| |                       |
//	| when it was delivered   id
//	priority
type Entry struct {
	Priority Priority
	Created  time.Time // UTC, microseconds
	ID       string
	Begun    int    // number of turns that began with the message
	Failed   int    // number of those turns that failed
	Name     string // the current name of the file; empty if only a receipt remains
}

// ParseName parses a message's file name; [Entry.FileName] converts the result back to
// that name. For any other name the error is an [*InvalidError].
func ParseName(name string) (Entry, error) {
	e, ok := parseName(name)
	if !ok {
		return Entry{}, invalid("%q is not the file name of a message", name)
	}
	return e, nil
}

func parseName(name string) (Entry, bool) {
	stem, ok := strings.CutSuffix(name, ".md")
	if !ok || len(stem) < baseLen {
		return Entry{}, false
	}
	e, ok := parseBase(stem[:baseLen])
	if !ok {
		return Entry{}, false
	}
	e.Name = name
	rest := stem[baseLen:]
	if rest == "" {
		return e, true
	}
	begun, failed, ok := strings.Cut(rest[1:], ".")
	if !ok || rest[0] != '~' {
		return Entry{}, false
	}
	if e.Begun, ok = parseCount(begun); !ok {
		return Entry{}, false
	}
	if e.Failed, ok = parseCount(failed); !ok {
		return Entry{}, false
	}
	return e, e.Begun > 0 || e.Failed > 0
}

func parseBase(base string) (Entry, bool) {
	if len(base) != baseLen || base[0] < '0' || base[0] > '2' || base[1] != '-' || base[2+len(timeLayout)] != '-' {
		return Entry{}, false
	}
	at, ok := parseTime(base[2 : 2+len(timeLayout)])
	id := base[baseLen-idLen:]
	if !ok || !ValidID(id) {
		return Entry{}, false
	}
	return Entry{Priority: Priority(base[0]-'0') + Urgent, Created: at, ID: id}, true
}

// parseTime is time.Parse for timeLayout at a tenth of the cost, because a listing of
// 10,000 names calls it 10,000 times.
func parseTime(s string) (time.Time, bool) {
	if len(s) != len(timeLayout) || s[8] != 'T' || s[15] != '.' || s[22] != 'Z' {
		return time.Time{}, false
	}
	var n [7]int
	for i, span := range [7][2]int{{0, 4}, {4, 6}, {6, 8}, {9, 11}, {11, 13}, {13, 15}, {16, 22}} {
		for _, c := range []byte(s[span[0]:span[1]]) {
			if c < '0' || c > '9' {
				return time.Time{}, false
			}
			n[i] = n[i]*10 + int(c-'0')
		}
	}
	at := time.Date(n[0], time.Month(n[1]), n[2], n[3], n[4], n[5], n[6]*1000, time.UTC)
	y, m, d := at.Date()
	// time.Date turns the 31st of June into the 1st of July, but no message name contains
	// such a date.
	return at, y == n[0] && int(m) == n[1] && d == n[2] && n[3] < 24 && n[4] < 60 && n[5] < 60
}

// parseCount parses a decimal number below a million in the format of strconv.Itoa.
func parseCount(s string) (int, bool) {
	if len(s) == 0 || len(s) > 6 || len(s) > 1 && s[0] == '0' {
		return 0, false
	}
	n := 0
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

// Base returns the part of the name that never changes: the name without counts and
// extension. In done/ and dead/ the file is called Base() + ".md".
func (e Entry) Base() string {
	b := make([]byte, 0, baseLen)
	b = append(b, '0'+byte(e.Priority-Urgent), '-')
	b = e.Created.UTC().AppendFormat(b, timeLayout)
	b = append(b, '-')
	return string(append(b, e.ID...))
}

// FileName returns the file name in new/ or cur/ with the entry's counts.
func (e Entry) FileName() string {
	if e.Begun == 0 && e.Failed == 0 {
		return e.Base() + ".md"
	}
	return e.Base() + "~" + strconv.Itoa(e.Begun) + "." + strconv.Itoa(e.Failed) + ".md"
}

// The names of a receipt and of a reason begin with the base of their message's name; see
// [Entry.Base].
func (e Entry) receiptName() string { return e.Base() + receiptEnd }
func (e Entry) reasonName() string  { return e.Base() + reasonEnd }

const (
	receiptEnd = ".receipt.yaml"
	reasonEnd  = ".reason.txt"
)

// idLetters is lower-case base32, which has no 0, 1, 8 or 9. Because there are no
// upper-case letters, a file system that folds case cannot confuse two ids.
const idLetters = "abcdefghijklmnopqrstuvwxyz234567"

var idEncoding = base32.NewEncoding(idLetters).WithPadding(base32.NoPadding)

// NewID returns a new id: 10 characters of lower-case base32 (a-z and 2-7), with 50
// random bits. A store also accepts the other digits in an id, because other programs can
// deliver messages.
func NewID() string {
	var raw [7]byte
	rand.Read(raw[:]) // never returns an error, because a failure ends the program
	return idEncoding.EncodeToString(raw[:])[:idLen]
}

// ValidID reports whether id has the form of a message id: 10 characters from a-z and
// 0-9.
func ValidID(id string) bool {
	if len(id) != idLen {
		return false
	}
	return idPartShape(id)
}

// MinIDPart is the minimum number of characters in a partial id.
const MinIDPart = 4

// MatchID reports whether part is the entire id, or at least [MinIDPart] characters from
// its beginning or end.
func MatchID(id, part string) bool {
	return id == part || len(part) >= MinIDPart && (strings.HasPrefix(id, part) || strings.HasSuffix(id, part))
}

// idPartShape reports whether s has the form of a partial id.
func idPartShape(s string) bool {
	for _, c := range []byte(s) {
		if !('a' <= c && c <= 'z' || '0' <= c && c <= '9') {
			return false
		}
	}
	return s != "" && len(s) <= idLen
}

// Priority determines which of two messages comes first, regardless of their age. It
// determines the first character (0, 1 or 2) of a message's file name, so the most urgent
// message comes first when the names are sorted. The zero value is Normal.
type Priority int8

// The priorities, most urgent first. They can be compared as numbers.
const (
	Urgent Priority = iota - 1
	Normal
	Low
)

// String returns urgent, normal or low.
func (p Priority) String() string {
	switch p {
	case Urgent:
		return "urgent"
	case Low:
		return "low"
	}
	return "normal"
}

// ParsePriority parses the output of [Priority.String]. The empty string is Normal; for
// any other string the error is an [*InvalidError].
func ParsePriority(s string) (Priority, error) {
	switch s {
	case "urgent":
		return Urgent, nil
	case "normal", "":
		return Normal, nil
	case "low":
		return Low, nil
	}
	return Normal, invalid("priority %q: must be urgent, normal or low", s)
}

// unfinished reports whether a name certainly belongs to an incomplete file or to one
// that can never be a message: a hidden file, or a temporary file of an editor or a copy
// program.
func unfinished(name string) bool {
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "#") && strings.HasSuffix(name, "#") {
		return true
	}
	return strings.HasSuffix(name, "~") || slices.ContainsFunc(temporaryEnds, func(end string) bool { return strings.HasSuffix(name, end) })
}

// temporaryEnds are the ends of the names that editors and copy programs give to a file until
// it is complete.
var temporaryEnds = []string{".swp", ".swo", ".swx", ".tmp", ".temp", ".part", ".partial", ".crdownload", ".filepart"}
