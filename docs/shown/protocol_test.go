package shown_test

import (
	"bufio"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// started returns a console with a daemon that runs until the test ends.
func started(t *testing.T) *console {
	t.Helper()
	c := newConsole(t)
	for _, line := range []string{"claude-swarm init", "claude-swarm start"} {
		if out, err := c.run(t.Context(), line); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
	}
	return c
}

// A program that follows the protocol page can talk to the daemon.
func TestProtocolAsThePageSays(t *testing.T) {
	c := started(t)
	real, err := filepath.EvalSymlinks(c.dir)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(real))
	path := filepath.Join(filepath.Dir(c.dir), "run", "claude-swarm", hex.EncodeToString(sum[:8])+".sock")
	if note := read(t, filepath.Join(c.dir, ".claude-swarm/daemon.lock")); !strings.Contains(note, "\nsocket "+path+"\n") {
		t.Errorf("daemon.lock does not name the socket %s:\n%s", path, note)
	}
	conn, err := net.DialTimeout("unix", path, patience)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(conn)
	lines.Buffer(nil, 1<<20)
	type frame struct {
		Type, ID string
		V        int
		OK, End  bool
		Data     json.RawMessage
		Error    struct{ Code, Message string }
	}
	next := func() frame {
		t.Helper()
		var f frame
		if !lines.Scan() {
			t.Fatalf("the daemon hung up: %v", lines.Err())
		}
		if err := json.Unmarshal(lines.Bytes(), &f); err != nil {
			t.Fatalf("%s: %v", lines.Bytes(), err)
		}
		return f
	}
	say := func(line string) {
		t.Helper()
		if _, err := fmt.Fprintln(conn, line); err != nil {
			t.Fatal(err)
		}
	}
	say(`{"type":"hello","v":1,"version":"1.0"}`)
	if f := next(); f.Type != "hello" || f.V != 1 {
		t.Errorf("hello is answered by %+v", f)
	}
	say(`{"type":"status","id":"1"}`)
	var status struct {
		V      int
		Agents []struct{ Name, State string }
	}
	f := next()
	if err := json.Unmarshal(f.Data, &status); f.Type != "response" || f.ID != "1" || !f.OK || err != nil || status.V != 1 || len(status.Agents) != 2 {
		t.Errorf("status is answered by %+v, %v", f, err)
	}
	say(`{"type":"pause","id":"2","agent":"x"}`)
	if f := next(); f.ID != "2" || f.OK || f.Error.Code != "unknown_agent" {
		t.Errorf("pause of a stranger is answered by %+v", f)
	}
	say(`{"type":"subscribe","id":"3","agent":"coder"}`)
	if f := next(); f.ID != "3" || !f.OK {
		t.Errorf("subscribe is answered by %+v", f)
	}
	say(`{"type":"pause","id":"4","agent":"coder","by":"a test","for":"1h30m"}`)
	for seen := map[string]bool{}; len(seen) < 2; {
		switch f := next(); {
		case f.Type == "response" && f.ID == "4" && f.OK:
			seen["response"] = true
		case f.Type == "event" && f.ID == "3" && strings.Contains(string(f.Data), `"state":"paused"`):
			seen["event"] = true
		default:
			t.Fatalf("pause is followed by %+v", f)
		}
	}
	say(`{"type":"cancel","id":"3"}`)
	if f := next(); f.Type != "event" || f.ID != "3" || !f.End {
		t.Errorf("cancel is answered by %+v", f)
	}
	say(`what?`)
	if f := next(); f.Type != "response" || f.OK || f.Error.Code != "bad_request" {
		t.Errorf("rubbish is answered by %+v", f)
	}
	say(`{"type":"shutdown","id":"5","by":"a test"}`)
	if f := next(); f.ID != "5" || !f.OK {
		t.Errorf("shutdown is answered by %+v", f)
	}
	if lines.Scan() {
		t.Errorf("after the shutdown comes %s", lines.Bytes())
	}
}

// A program that follows the page about the message format can sign a message with a key.
func TestProofAsThePageSays(t *testing.T) {
	c := started(t)
	var token string
	for line := range strings.Lines(read(t, filepath.Join(c.dir, ".claude-swarm/tokens"))) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == "lead" {
			token = value
		}
	}
	if token == "" {
		t.Fatal("the lead has no token")
	}
	const id, body = "proofproof", "Is there a test that greets Ada?\n"
	sum := sha256.Sum256([]byte(body))
	mac := hmac.New(sha256.New, []byte(token))
	now := time.Now().UTC().Truncate(time.Microsecond)
	created := now.Format(time.RFC3339Nano)
	fmt.Fprintf(mac, "mailbox: reviewer\nid: %[1]s\nfrom: lead\ntype: question\npriority: urgent\nsubject: Greetings\nthread: %[1]s\ntrace: %[1]s\nkey: greeting\ncreated: %[2]s\nbody: %[3]x\n", id, created, sum)
	text := fmt.Sprintf("---\nid: %s\nfrom: lead\ntype: question\npriority: urgent\nsubject: Greetings\nkey: greeting\ncreated: %s\nproof: v2-%x\n---\n%s",
		id, created, mac.Sum(nil), body)

	box := filepath.Join(c.dir, ".dead-drop/reviewer")
	base := "0-" + now.Format("20060102T150405.000000Z") + "-" + id
	for _, err := range []error{
		os.WriteFile(filepath.Join(box, "tmp", base+".md"), []byte(text), 0o600),
		os.Link(filepath.Join(box, "tmp", base+".md"), filepath.Join(box, "keys", fmt.Sprintf("%x", sha256.Sum256([]byte("greeting"))))),
		os.Rename(filepath.Join(box, "tmp", base+".md"), filepath.Join(box, "new", base+".md")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	c.wait("reviewer")
	receipts, err := filepath.Glob(filepath.Join(box, "done/*", base+".receipt.yaml"))
	if err != nil || len(receipts) != 1 {
		t.Fatalf("receipts of %s: %q, %v", base, receipts, err)
	}
	if receipt := read(t, receipts[0]); !strings.Contains(receipt, "\nproven: true\n") || !strings.Contains(receipt, "\nvia: mailbox\n") {
		t.Errorf("the receipt says\n%s", receipt)
	}
	// claude-swarm recognizes the key when a second message uses it.
	out, err := c.run(t.Context(), "claude-swarm send reviewer 'Is there one?' --key greeting")
	if err != nil || !strings.Contains(out, "duplicate of "+id) {
		t.Errorf("a second message with the key: %v\n%s", err, out)
	}
	if out, err := c.run(t.Context(), "claude-swarm stop"); err != nil {
		t.Errorf("stop: %v\n%s", err, out)
	}
}
