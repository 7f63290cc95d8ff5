package dropbox_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// A store performs exactly these steps on the disk. Content is durable before it gets its
// final name, and each state change is a single rename. The rename is durable before the
// call returns, except for Take. An additional or missing step would change the
// guarantees.
func TestStepsOnDisk(t *testing.T) {
	var steps []string
	s := newStore(t, dropbox.Options{Step: func(st dropbox.Step) error {
		steps = append(steps, st.String())
		return nil
	}}, "coder")
	b := mailbox(t, s, "coder")
	names := []struct{ pattern, with string }{
		{`1-\d{8}T\d{6}\.\d{6}Z-[a-z2-7]{10}`, "MESSAGE"},
		{`\d{4}-\d\d-\d\d`, "DAY"},
		{`[0-9a-f]{64}`, "SHA256"},
		{`([-.])[a-z2-7]{10}\b`, "${1}ID"},
	}
	var got strings.Builder
	told := func(what string) {
		got.WriteString(what + "\n")
		for _, step := range steps {
			for _, n := range names {
				step = regexp.MustCompile(n.pattern).ReplaceAllString(step, n.with)
			}
			got.WriteString("\t" + step + "\n")
		}
		steps = nil
	}
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	steps = nil

	deliver(t, s, "coder", text("x"))
	told("Deliver")
	c := claim(t, b, list(t, b)[0])
	told("Claim")
	back, err := b.PutBack(c.Entry, true)
	ok(err)
	told("PutBack")
	taken, err := b.Take(back)
	ok(err)
	told("Take")
	ok(b.SyncClaims())
	told("SyncClaims")
	back, err = b.Release(taken.Entry)
	ok(err)
	c = claim(t, b, back)
	steps = nil
	ok(b.Commit(c.Entry, []byte("r")))
	told("Commit")
	ok(b.Finish(c.Entry))
	told("Finish")
	deliver(t, s, "coder", keyed("k"))
	told("Deliver with a key")
	deliver(t, s, "coder", keyed("k"))
	told("Deliver with the same key")
	c = claim(t, b, list(t, b)[0])
	steps = nil
	ok(b.GiveUp(c.Entry, "why"))
	told("GiveUp")
	ok(b.DeadLetters().Retry(onlyDead(t, b)))
	told("Retry")
	ok(b.Cancel(list(t, b)[0]))
	told("Cancel")
	for _, o := range s.DeliverBatch([]dropbox.Draft{{To: "coder", Message: text("x")}, {To: "coder", Message: keyed("other")}}) {
		ok(o.Err)
	}
	told("DeliverBatch")
	var done []dropbox.Settlement
	for _, e := range list(t, b) {
		done = append(done, dropbox.Settlement{Entry: claim(t, b, e).Entry, Receipt: []byte("r")})
	}
	steps = nil
	for _, err := range b.SettleBatch(done) {
		ok(err)
	}
	told("SettleBatch")
	deliver(t, s, "coder", text("x"))
	steps = nil
	e := list(t, b)[0]
	ok(b.MarkRead(e))
	told("MarkRead")
	ok(b.File(e))
	told("File")
	_, err = s.Attach("a.txt", strings.NewReader("a"))
	ok(err)
	told("Attach")

	const want = `Deliver
	create coder/tmp/MESSAGE.md
	write coder/tmp/MESSAGE.md
	sync coder/tmp/MESSAGE.md
	move coder/tmp/MESSAGE.md coder/new/MESSAGE.md
	syncdir coder/new
Claim
	move coder/new/MESSAGE.md coder/cur/MESSAGE~1.0.md
	syncdir coder/cur
PutBack
	move coder/cur/MESSAGE~1.0.md coder/new/MESSAGE~1.1.md
	syncdir coder/new
	syncdir coder/cur
Take
	move coder/new/MESSAGE~1.1.md coder/cur/MESSAGE~2.1.md
SyncClaims
	syncdir coder/cur
Commit
	create coder/tmp/receipt-ID
	write coder/tmp/receipt-ID
	sync coder/tmp/receipt-ID
	move coder/tmp/receipt-ID coder/cur/MESSAGE.receipt.yaml
	syncdir coder/cur
Finish
	mkdir coder/done/DAY
	syncdir coder/done
	syncdir coder/new
	replace coder/cur/MESSAGE~2.1.md coder/done/DAY/MESSAGE.md
	syncdir coder/done/DAY
	replace coder/cur/MESSAGE.receipt.yaml coder/done/DAY/MESSAGE.receipt.yaml
	syncdir coder/done/DAY
Deliver with a key
	create coder/tmp/MESSAGE.md
	write coder/tmp/MESSAGE.md
	sync coder/tmp/MESSAGE.md
	link coder/tmp/MESSAGE.md coder/keys/SHA256
	syncdir coder/keys
	move coder/tmp/MESSAGE.md coder/new/MESSAGE.md
	syncdir coder/new
Deliver with the same key
	syncdir coder/keys
	syncdir coder/new
GiveUp
	create coder/tmp/reason-ID
	write coder/tmp/reason-ID
	sync coder/tmp/reason-ID
	move coder/tmp/reason-ID coder/dead/MESSAGE.reason.txt
	syncdir coder/dead
	replace coder/cur/MESSAGE~1.0.md coder/dead/MESSAGE.md
	syncdir coder/dead
	syncdir coder/cur
	syncdir coder/new
Retry
	remove coder/dead/MESSAGE.reason.txt
	syncdir coder/dead
	move coder/dead/MESSAGE.md coder/new/MESSAGE.md
	syncdir coder/new
	syncdir coder/dead
Cancel
	move coder/new/MESSAGE.md coder/dead/MESSAGE.md
	create coder/tmp/reason-ID
	write coder/tmp/reason-ID
	sync coder/tmp/reason-ID
	move coder/tmp/reason-ID coder/dead/MESSAGE.reason.txt
	syncdir coder/dead
	syncdir coder/new
DeliverBatch
	create coder/tmp/MESSAGE.md
	write coder/tmp/MESSAGE.md
	create coder/tmp/MESSAGE.md
	write coder/tmp/MESSAGE.md
	sync coder/tmp/MESSAGE.md
	sync coder/tmp/MESSAGE.md
	link coder/tmp/MESSAGE.md coder/keys/SHA256
	syncdir coder/keys
	move coder/tmp/MESSAGE.md coder/new/MESSAGE.md
	move coder/tmp/MESSAGE.md coder/new/MESSAGE.md
	syncdir coder/new
SettleBatch
	create coder/tmp/receipt-ID
	write coder/tmp/receipt-ID
	create coder/tmp/receipt-ID
	write coder/tmp/receipt-ID
	sync coder/tmp/receipt-ID
	sync coder/tmp/receipt-ID
	move coder/tmp/receipt-ID coder/cur/MESSAGE.receipt.yaml
	move coder/tmp/receipt-ID coder/cur/MESSAGE.receipt.yaml
	syncdir coder/cur
	syncdir coder/new
	replace coder/cur/MESSAGE~1.0.md coder/done/DAY/MESSAGE.md
	replace coder/cur/MESSAGE~1.0.md coder/done/DAY/MESSAGE.md
	syncdir coder/done/DAY
	replace coder/cur/MESSAGE.receipt.yaml coder/done/DAY/MESSAGE.receipt.yaml
	replace coder/cur/MESSAGE.receipt.yaml coder/done/DAY/MESSAGE.receipt.yaml
	syncdir coder/done/DAY
MarkRead
	move coder/new/MESSAGE.md coder/cur/MESSAGE.md
	syncdir coder/cur
	syncdir coder/new
File
	move coder/new/MESSAGE.md coder/cur/MESSAGE.md
	syncdir coder/cur
	syncdir coder/new
	syncdir coder/new
	replace coder/cur/MESSAGE.md coder/done/DAY/MESSAGE.md
	syncdir coder/done/DAY
	replace coder/cur/MESSAGE.receipt.yaml coder/done/DAY/MESSAGE.receipt.yaml
	syncdir coder/done/DAY
	syncdir coder/cur
Attach
	mkdir attach/SHA256
	syncdir attach
	create attach/.scratch-ID
	write attach/.scratch-ID
	sync attach/.scratch-ID
	replace attach/.scratch-ID attach/SHA256/a.txt
	syncdir attach/SHA256
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Error(diff)
	}
}
