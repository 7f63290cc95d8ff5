package policy_test

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/policy"
)

// For any envelope, two calls return the same verdict, and a refusal gives the reason in
// one line and the next step in another. The daemon refuses every message that is refused
// before delivery.
func FuzzDecide(f *testing.F) {
	f.Add("coder", "reviewer", "task", "tttttttttt", "", "coder,reviewer", 2, "body", true, false, "", int64(0))
	f.Add("lead", "coder", "note", "a\nb", "bbbbbbbbbb", "", 0, "<<<HALT>>>", false, false, "", int64(-5))
	f.Add("swarm", "lead", "result", "", "x", "a,b,a,b,a", 9, "", true, true, "ring\nby itself", int64(1<<40))
	f.Add("x\x00", "all", "odd", "\xff", "", ",,,", -1, "\xff\xfe", false, true, strings.Repeat("y", 1000), int64(99))
	f.Fuzz(func(t *testing.T, from, to, kind, thread, reply, path string, hops int, body string, proven, strict bool, halted string, after int64) {
		p := policy.Default()
		p.RefuseUnproven = strict
		p.Agents = []string{"coder", "reviewer"}
		p.Access = map[string]policy.Access{"coder": {Direct: []string{"reviewer"}, NoBroadcast: true}}
		q := policy.Question{To: to, Proven: proven, Halted: halted, Now: noon, Message: &dropbox.Message{
			ID: "aaaaaaaaaa", From: from, To: []string{to}, Type: dropbox.Type(kind), Thread: thread, ReplyTo: reply,
			Hops: hops, Created: noon.Add(time.Duration(after)), Body: []byte(body),
		}}
		if path != "" {
			q.Message.Path = strings.Split(path, ",")
		}
		v := p.Decide(nil, q)
		if again := p.Decide(nil, q); again != v {
			t.Fatalf("twice: %+v, %+v", v, again)
		}
		if !v.Pass && (v.Rule == "" || v.Reason == "" || v.Next == "") {
			t.Errorf("refused without a rule, a reason or a next step: %+v", v)
		}
		for _, text := range []string{v.Reason, v.Next} {
			if strings.ContainsFunc(text, unicode.IsControl) || !utf8.ValidString(text) {
				t.Errorf("%q is not one line of text", text)
			}
			if len(text) > 4096 {
				t.Errorf("a line of %d bytes", len(text))
			}
		}
		sent := q
		sent.BeforeDelivery = true
		if d := p.Decide(nil, sent); !d.Pass && v.Pass && from != dropbox.Swarm {
			t.Errorf("refused before delivery, and the daemon lets it pass: %+v", d)
		}
		g := policy.NewGate(p, nil)
		if asked := g.Ask(q); asked != v {
			t.Errorf("a gate without a past: %+v, want %+v", asked, v)
		}
		if v.Pass && g.Ask(q).Pass != v.Pass {
			t.Error("what passed does not pass again")
		}
	})
}

// The fingerprint ignores whitespace, numbers and case, but no other difference between
// letters.
func FuzzFingerprint(f *testing.F) {
	f.Add("Try 12: please look at 10:30.", 3)
	f.Add("İstanbul 1.5e3 -- \t\n", 1)
	f.Add("1.", 0)
	f.Fuzz(func(t *testing.T, text string, at int) {
		if !utf8.ValidString(text) {
			return
		}
		want := policy.Fingerprint([]byte(text))
		spaced, n, last := strings.Builder{}, 0, ' '
		for _, r := range text {
			// A space ends a number, so the test does not insert one inside a number.
			if n++; at > 0 && n%at == 0 && !unicode.IsDigit(last) && !strings.ContainsRune(".,:-/", last) {
				spaced.WriteString(" \n")
			}
			spaced.WriteRune(r)
			last = r
		}
		if got := policy.Fingerprint([]byte(spaced.String())); got != want {
			t.Errorf("whitespace counts: %q, %q", text, spaced.String())
		}
		digits := strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return '7'
			}
			return r
		}, text)
		if got := policy.Fingerprint([]byte(digits)); got != want {
			t.Errorf("numbers count: %q, %q", text, digits)
		}
		if got := policy.Fingerprint([]byte(text + "letters")); got == want {
			t.Errorf("letters do not count: %q", text)
		}
	})
}
