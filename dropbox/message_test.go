package dropbox_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// full returns a message with all fields set except Topic and Offer.
func full() *dropbox.Message {
	sum := strings.Repeat("0f", 32)
	return &dropbox.Message{
		V: 1, ID: "k7f3q9m2xd", From: "lead", To: []string{"coder", "2nd"}, CC: []string{"tester"},
		Type: dropbox.Question, Priority: dropbox.Low, Subject: `say "no: \ #1" – ünï`, Thread: "aaaaaaaaaa", ReplyTo: "bbbbbbbbbb",
		Trace: "cccccccccc", Key: "result:k7f3q9m2xd", Turn: "t-1", Proof: sum, Hops: 3, Path: []string{"a", "b"},
		Created: time.Date(2026, 11, 21, 4, 51, 2, 123456000, time.UTC), Expires: time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC),
		Attachments: []dropbox.Attachment{{Name: "a b.txt", Path: "attach/" + sum + "/a b.txt", Size: 12, SHA256: sum}},
		Extra:       "colour: green\nnested:\n    - a\n    - b: c\n",
		Body:        []byte("Body.\n---\nmore\r\n\x00"),
	}
}

func TestEncodeIsReadable(t *testing.T) {
	sum := strings.Repeat("0f", 32)
	want := `---
v: 1
id: k7f3q9m2xd
from: lead
to: [coder, "2nd"]
cc: [tester]
type: question
priority: low
subject: "say \"no: \\ #1\" – ünï"
thread: aaaaaaaaaa
reply_to: bbbbbbbbbb
trace: cccccccccc
key: "result:k7f3q9m2xd"
turn: t-1
hops: 3
path: [a, b]
created: 2026-11-21T04:51:02.123456Z
expires: 2026-11-22T00:00:00Z
attachments:
  - name: "a b.txt"
    path: attach/` + sum + `/a b.txt
    size: 12
    sha256: "` + sum + `"
proof: "` + sum + `"
colour: green
nested:
    - a
    - b: c
---
` + "Body.\n---\nmore\r\n\x00"
	want = strings.Replace(want, "path: attach/"+sum+"/a b.txt", `path: "attach/`+sum+`/a b.txt"`, 1)
	got, err := full().Encode()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	back, err := dropbox.Parse(got)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(full(), back); diff != "" {
		t.Error(diff)
	}
}

func TestParseByHand(t *testing.T) {
	tests := map[string]struct {
		in   string
		want dropbox.Message
	}{
		"empty front matter":      {"---\n---\nhi", dropbox.Message{Body: []byte("hi")}},
		"no body, no newline":     {"---\nsubject: hi\n---", dropbox.Message{Subject: "hi", Body: []byte{}}},
		"windows lines":           {"---\r\nsubject: hi\r\n---\r\nbody\r\n", dropbox.Message{Subject: "hi", Body: []byte("body\r\n")}},
		"numbers are text":        {"---\nsubject: 42\nthread: 2345672345\n---\n", dropbox.Message{Subject: "42", Thread: "2345672345", Body: []byte{}}},
		"one name for a list":     {"---\nto: coder\ncc: null\n---\n", dropbox.Message{To: []string{"coder"}, Body: []byte{}}},
		"block list":              {"---\nto:\n  - a\n  - b\n---\n", dropbox.Message{To: []string{"a", "b"}, Body: []byte{}}},
		"comments, any order":     {"---\n# mine\ntype: note # why\npriority: urgent\nv: 1\n---\n", dropbox.Message{V: 1, Type: dropbox.Note, Priority: dropbox.Urgent, Body: []byte{}}},
		"time of another zone":    {"---\ncreated: 2026-11-21 05:51:02+01:00\n---\n", dropbox.Message{Created: time.Date(2026, 11, 21, 4, 51, 2, 0, time.UTC), Body: []byte{}}},
		"folded subject":          {"---\nsubject: >-\n  a\n  b\n---\n", dropbox.Message{Subject: "a b", Body: []byte{}}},
		"unknown keys stay":       {"---\nx: 1 # c\nfrom: a\ny: [1, 2]\n---\n", dropbox.Message{From: "a", Extra: "x: 1\ny: [1, 2]\n", Body: []byte{}}},
		"escapes that YAML knows": {"---\nsubject: \"\\x41\\u00e4\"\n---\n", dropbox.Message{Subject: "Aä", Body: []byte{}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := dropbox.Parse([]byte(test.in))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for name, in := range map[string]string{
		"no front matter":        "hello",
		"no end":                 "---\nfrom: a\n",
		"a list":                 "---\n- a\n---\n",
		"broken YAML":            "---\nfrom: [a\n---\n",
		"twice":                  "---\nfrom: a\nfrom: b\n---\n",
		"twice within":           "---\nx: {a: 1, a: 2}\n---\n",
		"alias":                  "---\nx: &a 1\ny: *a\n---\n",
		"anchor alone":           "---\nfrom: &a lead\n---\n",
		"merge":                  "---\nx: {<<: {a: 1}}\n---\n",
		"newer":                  "---\nv: 2\n---\n",
		"type":                   "---\ntype: order\n---\n",
		"priority":               "---\npriority: high\n---\n",
		"id":                     "---\nid: UPPER\n---\n",
		"time":                   "---\ncreated: yesterday\n---\n",
		"hops":                   "---\nhops: many\n---\n",
		"negative hops":          "---\nhops: -1\n---\n",
		"newline in subject":     "---\nsubject: |\n  a\n  b\n---\n",
		"list for a word":        "---\nfrom: [a, b]\n---\n",
		"attachment above":       "---\nattachments: [{name: x, path: ../../etc/passwd, size: 1, sha256: " + strings.Repeat("a", 64) + "}]\n---\n",
		"attachment key":         "---\nattachments: [{nome: x}]\n---\n",
		"not UTF-8":              "---\nsubject: \xff\n---\n",
		"key that is not a word": "---\n[a]: b\n---\n",
	} {
		if m, err := dropbox.Parse([]byte(in)); !errors.Is(err, dropbox.ErrInvalid) {
			t.Errorf("%s: Parse = %+v, %v, want ErrInvalid", name, m, err)
		}
	}
	large := "---\nx: " + strings.Repeat("y", 17<<10) + "\n---\n"
	if _, err := dropbox.Parse([]byte(large)); !errors.Is(err, dropbox.ErrTooLarge) {
		t.Errorf("Parse of a large front matter = %v, want ErrTooLarge", err)
	}
}

func TestEncodeRefuses(t *testing.T) {
	for name, change := range map[string]func(*dropbox.Message){
		"control character": func(m *dropbox.Message) { m.Subject = "a\nfrom: boss" },
		"known extra":       func(m *dropbox.Message) { m.Extra = "from: boss\n" },
		"fence in extra":    func(m *dropbox.Message) { m.Extra = "a: b\n---\n" },
		"extra not alone":   func(m *dropbox.Message) { m.Extra = "{a: b}\n" },
		"extra unfinished":  func(m *dropbox.Message) { m.Extra = "a: b" },
		"bad type":          func(m *dropbox.Message) { m.Type = "order" },
		"bad priority":      func(m *dropbox.Message) { m.Priority = 3 },
		"empty name":        func(m *dropbox.Message) { m.To = []string{""} },
		"long subject":      func(m *dropbox.Message) { m.Subject = strings.Repeat("x", 2000) },
		"attachment":        func(m *dropbox.Message) { m.Attachments[0].Path = "/etc/passwd" },
	} {
		m := full()
		change(m)
		if data, err := m.Encode(); !errors.Is(err, dropbox.ErrInvalid) {
			t.Errorf("%s: Encode = %q, %v, want ErrInvalid", name, data, err)
		}
	}
	m := full()
	for range 200 {
		m.Path = append(m.Path, strings.Repeat("x", 100))
	}
	if _, err := m.Encode(); !errors.Is(err, dropbox.ErrTooLarge) {
		t.Errorf("Encode of a large envelope = %v, want ErrTooLarge", err)
	}
}

func TestTypes(t *testing.T) {
	for _, typ := range dropbox.Types() {
		if !typ.Valid() {
			t.Errorf("%s is not valid", typ)
		}
		if got, want := typ.Wakes(), typ != dropbox.Note && typ != dropbox.Status; got != want {
			t.Errorf("%s.Wakes() = %v", typ, got)
		}
		if got, want := typ.WantsAnswer(), typ == dropbox.Task || typ == dropbox.Question; got != want {
			t.Errorf("%s.WantsAnswer() = %v", typ, got)
		}
	}
	for _, p := range []dropbox.Priority{dropbox.Urgent, dropbox.Normal, dropbox.Low} {
		if got, err := dropbox.ParsePriority(p.String()); got != p || err != nil {
			t.Errorf("ParsePriority(%q) = %v, %v", p.String(), got, err)
		}
	}
	if dropbox.Urgent >= dropbox.Normal || dropbox.Normal >= dropbox.Low || dropbox.Normal != 0 {
		t.Error("priorities do not compare as numbers with Normal as zero")
	}
}

func TestExpired(t *testing.T) {
	now := time.Now()
	for _, test := range []struct {
		expires time.Time
		want    bool
	}{{time.Time{}, false}, {now.Add(time.Second), false}, {now, true}, {now.Add(-time.Second), true}} {
		m := dropbox.Message{Expires: test.expires}
		if got := m.Expired(now); got != test.want {
			t.Errorf("Expired at %v with %v = %v", now, test.expires, got)
		}
	}
}

func TestProof(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder")
	const token = "secret"
	sign := func(m *dropbox.Message) string { return dropbox.Proof(token, m, "coder") }
	sent := full() // almost every field is set, so that the test detects lost or changed fields
	sent.ID, sent.Proof, sent.From, sent.Body, sent.Hops = "", "", "tester", []byte("hi"), 1
	if _, err := s.DeliverSigned("coder", sent, sign); err != nil {
		t.Fatal(err)
	}
	b := mailbox(t, s, "coder")
	m := claim(t, b, list(t, b)[0]).Message
	if !dropbox.Proven(token, m, "coder") {
		t.Error("a signed message is not proven at the claim")
	}
	for name, lie := range map[string]func(m *dropbox.Message){
		"id":   func(m *dropbox.Message) { m.ID = dropbox.NewID() },
		"from": func(m *dropbox.Message) { m.From = "lead" },
		"type": func(m *dropbox.Message) { m.Type = dropbox.Result },
		"body": func(m *dropbox.Message) { m.Body = []byte("ho") },

		"to":             func(m *dropbox.Message) { m.To = []string{"other"} },
		"cc":             func(m *dropbox.Message) { m.CC = append(slices.Clone(m.CC), "other") },
		"priority":       func(m *dropbox.Message) { m.Priority = (m.Priority + 2) % 3 },
		"subject":        func(m *dropbox.Message) { m.Subject = "other" },
		"no subject":     func(m *dropbox.Message) { m.Subject = "" },
		"thread":         func(m *dropbox.Message) { m.Thread = "other" },
		"reply_to":       func(m *dropbox.Message) { m.ReplyTo = "other" },
		"trace":          func(m *dropbox.Message) { m.Trace = "other" },
		"key":            func(m *dropbox.Message) { m.Key = "other" },
		"turn":           func(m *dropbox.Message) { m.Turn = "other" },
		"topic":          func(m *dropbox.Message) { m.Topic = "other" },
		"offer":          func(m *dropbox.Message) { m.Offer = "other" },
		"hops":           func(m *dropbox.Message) { m.Hops = 0 },
		"path":           func(m *dropbox.Message) { m.Path = nil },
		"created":        func(m *dropbox.Message) { m.Created = m.Created.Add(time.Microsecond) },
		"expires":        func(m *dropbox.Message) { m.Expires = time.Time{} },
		"no attachments": func(m *dropbox.Message) { m.Attachments = nil },
		"attachment": func(m *dropbox.Message) {
			m.Attachments = []dropbox.Attachment{{Name: m.Attachments[0].Name, SHA256: "other"}}
		},
		"moved between": func(m *dropbox.Message) { m.Subject, m.Thread = m.Thread, m.Subject },
	} {
		forged := *m
		if lie(&forged); dropbox.Proven(token, &forged, "coder") {
			t.Errorf("a changed %s is still proven", name)
		}
	}
	if dropbox.Proven(token, m, "tester") || dropbox.Proven("other", m, "coder") || dropbox.Proven("", m, "coder") {
		t.Error("proven for another mailbox or token")
	}
}

// Proofs from older versions, and from programs that follow the older documentation, are
// still valid. These proofs cover fewer fields.
func TestOldProof(t *testing.T) {
	const token = "secret"
	m := &dropbox.Message{ID: "proofproof", From: "lead", Type: dropbox.Task, Subject: "one", Body: []byte("hi")}
	// id, mailbox, from, type, sha256 of the body
	body := sha256.Sum256(m.Body)
	mac := hmac.New(sha256.New, []byte(token))
	fmt.Fprintf(mac, "proofproof\ncoder\nlead\ntask\n%x\n", body)
	m.Proof = fmt.Sprintf("%x", mac.Sum(nil))
	if !dropbox.Proven(token, m, "coder") {
		t.Error("a message with the older proof is not proven")
	}
	m.Subject = "two"
	if !dropbox.Proven(token, m, "coder") {
		t.Error("the older proof covers the subject")
	}
	m.Body = []byte("ho")
	if dropbox.Proven(token, m, "coder") {
		t.Error("a changed body is still proven")
	}
	m.Body, m.Proof = []byte("hi"), "v2-"+m.Proof
	if dropbox.Proven(token, m, "coder") {
		t.Error("the older proof is accepted as a newer one")
	}
}

// FuzzParse checks that a parsed message can be written, and that parsing it again
// produces the same message.
func FuzzParse(f *testing.F) {
	data, err := full().Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte("---\nx: 1\n? y\n: [a, {b: c}]\nz: |\n  text\n   more\n---\nbody"))
	f.Add([]byte("---\r\nto: a\r\n---\r\n"))
	for _, front := range []string{
		"v: 1\nid: k7f3q9m2xd\nfrom: lead\nto: [coder, \"2nd\"]\ntype: task\npriority: low\n",
		"subject: \"a \\\"b\\\" \\\\ ü\"\nkey: \"x: y # z\"\nhops: 3\npath: [a]\n",
		"created: 2026-11-21T04:51:02.123456Z\nexpires: 2026-11-22T00:00:00Z\n",
		"attachments:\n  - name: a.txt\n    path: attach/x/a.txt\n    size: 12\n    sha256: abc\nproof: \"0f\"\n",
		"from: null\n", "from: yes\n", "to: []\n", "id: 123\n", "subject: \"\\u00e4\"\n", "subject: \"tab\there\"\n",
		"to: [a,b]\n", "to: [\"a]\", b]\n", "v: 01\n", "hops: -1\n", "created: 2026-11-21T04:51:02,5Z\n", "subject: \"\"\n",
		"subject: \"\U0001fffe\"\n", "type: n\n", "from: a...\n", "from: a-\n",
		"to: coder\nfrom: lead\n", "from: a\nfrom: b\n", "subject: 12:30\n", "subject: 1:\n", "id: 1.\n", "path: [1]\n", "x: 1\n",
		"subject: \"\xff\"\n", "subject: \"\ufffd\"\n", "subject: \"a\\\"\n", "attachments: a\n", "to: [a] \n", "from: a\r\n",
	} {
		f.Add([]byte("---\n" + front + "---\nbody"))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := dropbox.Parse(data)
		if err != nil {
			if !errors.Is(err, dropbox.ErrInvalid) && !errors.Is(err, dropbox.ErrTooLarge) {
				t.Fatalf("Parse(%q) = %v, want ErrInvalid or ErrTooLarge", data, err)
			}
			return
		}
		if !strings.HasSuffix(string(data), string(m.Body)) {
			t.Fatalf("the body %q is not the end of %q", m.Body, data)
		}
		again, err := m.Encode()
		if errors.Is(err, dropbox.ErrTooLarge) {
			return // the quotes make the front matter longer than before
		} else if err != nil {
			t.Fatalf("Encode of the message that Parse read from %q: %v", data, err)
		}
		back, err := dropbox.Parse(again)
		if err != nil {
			t.Fatalf("Parse(Encode(Parse(%q))) = %v", data, err)
		}
		if m.V == 0 {
			m.V = 1 // Encode always writes this field
		}
		if diff := cmp.Diff(m, back, cmp.Transformer("empty", func(s []string) []string {
			if len(s) == 0 {
				return nil
			}
			return s
		})); diff != "" {
			t.Fatalf("%q changes on its way:\n%s", data, diff)
		}
	})
}
