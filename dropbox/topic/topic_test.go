package topic_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/dropbox/topic"
)

func TestTopicMatches(t *testing.T) {
	for _, test := range []struct {
		pattern, topic string
		want           bool
	}{
		{"task.created", "task.created", true},
		{"task.created", "task.completed", false},
		{"task.created", "task", false},
		{"task", "task.created", false},
		{"task.*", "task.created", true},
		{"task.*", "task.created.now", false},
		{"task.*", "task", false},
		{"*.created", "task.created", true},
		{"*", "task", true},
		{"*", "task.created", false},
		{"task.>", "task.created", true},
		{"task.>", "task.created.now", true},
		{"task.>", "task", false},
		{">", "task", true},
		{">", "task.created", true},
		{"*.*.now", "task.created.now", true},
		{"*.*.now", "task.created", false},
	} {
		if got := topic.Matches(test.pattern, test.topic); got != test.want {
			t.Errorf("Matches(%q, %q) = %v", test.pattern, test.topic, got)
		}
	}
}

func TestTopicNames(t *testing.T) {
	long := strings.Repeat("a", 129)
	for _, bad := range []string{"", ".", "a.", ".a", "a..b", "A", "a b", "a/b", "ä", "a\n", long, "..", "a.\x00"} {
		if err := topic.Check(bad); !errors.Is(err, dropbox.ErrInvalid) {
			t.Errorf("Check(%q) = %v, want ErrInvalid", bad, err)
		}
		if err := topic.CheckPattern(bad); !errors.Is(err, dropbox.ErrInvalid) {
			t.Errorf("CheckPattern(%q) = %v, want ErrInvalid", bad, err)
		}
	}
	for _, wild := range []string{"*", ">", "task.*", "task.>", "*.>"} {
		if topic.Check(wild) == nil || topic.CheckPattern(wild) != nil {
			t.Errorf("%q: want a pattern, not a topic", wild)
		}
	}
	for _, bad := range []string{">.task", "ta*", "task.>>"} {
		if topic.CheckPattern(bad) == nil {
			t.Errorf("CheckPattern(%q) = nil", bad)
		}
	}
}

func TestSubscriptionsAreKept(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder", "reviewer")
	subscribe(t, s, "coder", "task.*", "review.>")
	if got, err := topic.Of(s).Subscribe("coder", "task.*"); err != nil || !slices.Equal(got, []string{"review.>", "task.*"}) {
		t.Errorf("Subscribe again = %v, %v", got, err)
	}
	subscribe(t, s, "reviewer", "review.requested")
	again, err := dropbox.Open(s.Dir(), dropbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	for name, want := range map[string][]string{
		"task.created": {"coder"}, "review.requested": {"coder", "reviewer"}, "status.update": nil,
	} {
		if got, err := topic.Of(again).Subscribers(name); err != nil || !slices.Equal(got, want) {
			t.Errorf("Subscribers(%s) = %v, %v, want %v", name, got, err, want)
		}
	}
	if got, err := topic.Of(again).Unsubscribe("coder", "task.*", "never.had"); err != nil || !slices.Equal(got, []string{"review.>"}) {
		t.Errorf("Unsubscribe = %v, %v", got, err)
	}
	if got, err := topic.Of(again).Unsubscribe("coder"); err != nil || len(got) != 0 {
		t.Errorf("Unsubscribe all = %v, %v", got, err)
	}
	if _, err := topic.Of(s).Subscribe("codr", "a"); !errors.Is(err, dropbox.ErrNoMailbox) {
		t.Errorf("Subscribe of an unknown agent = %v", err)
	}
	if _, err := topic.Of(s).Subscribe("../x", "a"); !errors.Is(err, dropbox.ErrName) {
		t.Errorf("Subscribe of a name outside the store = %v", err)
	}
	if _, err := topic.Of(s).Subscribe("coder", "Task"); !errors.Is(err, dropbox.ErrInvalid) {
		t.Errorf("Subscribe to an invalid pattern = %v", err)
	}
}

func subscribe(t *testing.T, s *dropbox.Store, agent string, patterns ...string) {
	t.Helper()
	if _, err := topic.Of(s).Subscribe(agent, patterns...); err != nil {
		t.Fatal(err)
	}
}

// publish publishes work as tester.
func publish(t *testing.T, s *dropbox.Store, on string, set ...func(*dropbox.Message)) topic.Published {
	t.Helper()
	m := &dropbox.Message{From: "tester", Topic: on, Body: []byte("Write the parser.\n")}
	for _, f := range set {
		f(m)
	}
	p, err := topic.Of(s).Publish(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestWorkIsOfferedAndClaimedOnce(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder", "other", "tester", "bystander")
	subscribe(t, s, "coder", "task.*")
	subscribe(t, s, "other", "task.created")
	subscribe(t, s, "tester", "task.*") // the publisher does not get an offer
	p := publish(t, s, "task.created")
	if len(p.Offered) != 2 {
		t.Fatalf("offered to %v, want coder and other", p.Offered)
	}
	for _, name := range []string{"coder", "other"} {
		entries := list(t, mailbox(t, s, name))
		if len(entries) != 1 {
			t.Fatalf("%s has %d messages", name, len(entries))
		}
		m, err := mailbox(t, s, name).Read(entries[0])
		if err != nil || m.Offer != p.ID || m.Topic != "task.created" || m.Thread != p.Thread || m.From != "tester" || !m.Type.Wakes() {
			t.Errorf("%s was offered %+v, %v", name, m, err)
		}
	}
	if n := len(list(t, mailbox(t, s, "bystander"))) + len(list(t, mailbox(t, s, "tester"))); n != 0 {
		t.Errorf("%d messages went to others", n)
	}

	g, err := topic.Of(s).Claim(p.ID, "coder", "turn-1")
	if err != nil || g.Agent != "coder" {
		t.Fatalf("claim = %+v, %v", g, err)
	}
	if again, err := topic.Of(s).Claim(p.ID, "coder", "turn-2"); err != nil || again.Turn != "turn-1" {
		t.Errorf("claimed again by the same agent: %+v, %v", again, err)
	}
	_, err = topic.Of(s).Claim(p.ID, "other", "")
	if taken, ok := errors.AsType[*topic.TakenError](err); !ok || taken.Agent != "coder" || taken.Closed || !errors.Is(err, topic.ErrTaken) {
		t.Errorf("claimed by a second agent: %v", err)
	}
	if err := topic.Of(s).Close(p.ID, "other", []byte("r")); !errors.Is(err, topic.ErrTaken) {
		t.Errorf("closed by a second agent: %v", err)
	}
	if err := topic.Of(s).Release(p.ID, "other"); err != nil {
		t.Error(err)
	}
	if open, err := topic.Of(s).Open(); err != nil || len(open) != 1 || open[0].Grant == nil || open[0].Grant.Agent != "coder" {
		t.Errorf("open = %+v, %v", open, err)
	}

	// After a release, another agent can claim the publication.
	if err := topic.Of(s).Release(p.ID, "coder"); err != nil {
		t.Fatal(err)
	}
	if _, err := topic.Of(s).Claim(p.ID, "other", ""); err != nil {
		t.Fatal(err)
	}
	for range 2 { // repeating the call is harmless
		if err := topic.Of(s).Close(p.ID, "other", []byte("outcome: done\n")); err != nil {
			t.Fatal(err)
		}
	}
	if open, err := topic.Of(s).Open(); err != nil || len(open) != 0 {
		t.Errorf("still open: %+v, %v", open, err)
	}
	f, err := s.Find(p.ID)
	if err != nil || f.State != dropbox.Done || f.Mailbox != "topics" {
		t.Errorf("Find = %+v, %v", f, err)
	}
	if _, err := topic.Of(s).Claim(p.ID, "coder", ""); !errors.Is(err, topic.ErrTaken) {
		t.Errorf("claimed when closed: %v", err)
	}
	for _, id := range []string{"aaaaaaaaaa", "", "../../etc/x", "*"} {
		if _, err := topic.Of(s).Claim(id, "coder", ""); !errors.Is(err, dropbox.ErrNotFound) {
			t.Errorf("Claim(%q) = %v, want ErrNotFound", id, err)
		}
	}
	if names, err := s.Mailboxes(); err != nil || slices.Contains(names, "topics") {
		t.Errorf("topics count as a mailbox: %v, %v", names, err)
	}
	if strange, err := s.Strangers(); err != nil || len(strange) != 0 {
		t.Errorf("strangers = %v, %v", strange, err)
	}
}

// A message that does not begin a turn is delivered to the subscribers, and no copy is
// kept in the topics' mailbox.
func TestStatusIsFireAndForget(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder", "tester")
	subscribe(t, s, "coder", "status.>")
	p := publish(t, s, "status.update", func(m *dropbox.Message) { m.Type = dropbox.Status })
	if len(p.Offered) != 1 || p.ID != "" {
		t.Errorf("published = %+v", p)
	}
	m, err := mailbox(t, s, "coder").Read(list(t, mailbox(t, s, "coder"))[0])
	if err != nil || m.Type != dropbox.Status || m.Offer != "" || m.Topic != "status.update" {
		t.Errorf("coder got %+v, %v", m, err)
	}
	if open, err := topic.Of(s).Open(); err != nil || len(open) != 0 {
		t.Errorf("open = %v, %v", open, err)
	}
}

// The store's hop limit also applies to publications, and the end of work at that limit
// is announced.
func TestHopsOfPublications(t *testing.T) {
	for _, c := range []struct{ limit, hops, tooMany int }{
		{0, dropbox.MaxHops, dropbox.MaxHops + 1},
		{3, 3, 4},
		{20, 20, 21},
		{-1, 1000, 0}, // no limit
	} {
		s := newStore(t, dropbox.Options{MaxHops: c.limit}, "coder", "tester")
		subscribe(t, s, "tester", ">")
		for _, kind := range []dropbox.Type{dropbox.Task, dropbox.Status} {
			m := &dropbox.Message{From: "lead", Topic: "task.created", Type: kind, Hops: c.hops, Body: []byte("x")}
			if _, err := topic.Of(s).Publish(m, nil); err != nil {
				t.Errorf("limit %d: a %s with %d hops: %v", c.limit, kind, c.hops, err)
			}
			if m.Hops = c.tooMany; c.tooMany == 0 {
				continue
			}
			if _, err := topic.Of(s).Publish(m, nil); !errors.Is(err, dropbox.ErrHops) {
				t.Errorf("limit %d: a %s with %d hops = %v, want ErrHops", c.limit, kind, c.tooMany, err)
			}
		}
		open, err := topic.Of(s).Open()
		if err != nil || len(open) != 1 {
			t.Fatalf("limit %d: open = %v, %v", c.limit, open, err)
		}
		if err := topic.Of(s).Announce(open[0].Message, "coder", topic.Completed, "done", nil); err != nil {
			t.Errorf("limit %d: the end of work with %d hops: %v", c.limit, c.hops, err)
		}
	}
}

// A second message with the same key is not published. OfferAgain delivers one offer per
// priority, even to an agent that subscribed after the work was published.
func TestPublishingAgain(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder", "late", "tester")
	subscribe(t, s, "coder", ">")
	key := func(m *dropbox.Message) { m.Key = "k" }
	p, q := publish(t, s, "task.created", key), publish(t, s, "task.created", key)
	if !q.Duplicate || q.ID != p.ID || len(list(t, mailbox(t, s, "coder"))) != 1 {
		t.Errorf("published as %+v and %+v", p, q)
	}
	publish(t, s, "task.created", key, func(m *dropbox.Message) { m.Priority, m.Body = dropbox.Urgent, []byte("Something else.\n") })
	if n := len(list(t, mailbox(t, s, "coder"))); n != 1 {
		t.Errorf("published again with another text, the work is offered %d times", n)
	}
	subscribe(t, s, "late", ">")
	open, err := topic.Of(s).Open()
	if err != nil || len(open) != 1 {
		t.Fatal(open, err)
	}
	for range 2 {
		if _, err := topic.Of(s).OfferAgain(open[0], dropbox.Urgent, nil); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]int{"coder": 2, "late": 1} {
		if n := len(list(t, mailbox(t, s, name))); n != want {
			t.Errorf("%s has %d offers, want %d", name, n, want)
		}
	}
}

// If a change to the disk fails during a claim, the publication is either unclaimed or
// belongs to the claiming agent, which can repeat its claim.
func TestAClaimThatIsCutOff(t *testing.T) {
	steps := 0
	probe := newStore(t, dropbox.Options{Step: func(dropbox.Step) error { steps++; return nil }}, "coder", "other", "tester")
	p := publish(t, probe, "task.created")
	steps = 0
	if _, err := topic.Of(probe).Claim(p.ID, "coder", ""); err != nil {
		t.Fatal(err)
	}
	for cut := range steps {
		left := -1
		s := newStore(t, dropbox.Options{Step: func(dropbox.Step) error {
			if left == 0 {
				return errors.New("cut")
			}
			left--
			return nil
		}}, "coder", "other", "tester")
		p := publish(t, s, "task.created")
		left = cut
		if _, err := topic.Of(s).Claim(p.ID, "coder", ""); err == nil {
			t.Fatalf("cut at %d of %d: claimed", cut, steps)
		}
		left = -1
		winner := "other"
		if _, err := topic.Of(s).GrantOf(p.ID); err == nil {
			winner = "coder" // the rename was complete, so the grant still belongs to coder
		}
		if _, err := topic.Of(s).Claim(p.ID, winner, ""); err != nil {
			t.Errorf("cut at %d: %s cannot claim: %v", cut, winner, err)
		}
	}
}

// A repeated claim finds its grant and a repeated release finds no grant, but each
// reports success only after that state is durable.
func TestARepeatedClaimIsDurable(t *testing.T) {
	failing := false
	s := newStore(t, dropbox.Options{Step: func(st dropbox.Step) error {
		if failing && st.Op == dropbox.OpSyncDir && st.Name == "topics/grants" {
			return syscall.EIO
		}
		return nil
	}}, "coder", "tester")
	p := publish(t, s, "task.created")
	failing = true
	for range 2 {
		if _, err := topic.Of(s).Claim(p.ID, "coder", ""); !errors.Is(err, syscall.EIO) {
			t.Errorf("claim on a disk that syncs no grant = %v, want EIO", err)
		}
	}
	if _, err := topic.Of(s).Claim(p.ID, "tester", ""); !errors.Is(err, topic.ErrTaken) {
		t.Errorf("claim by a second agent = %v, want ErrTaken", err)
	}
	failing = false
	if _, err := topic.Of(s).Claim(p.ID, "coder", ""); err != nil {
		t.Error(err)
	}
	failing = true
	for range 2 {
		if err := topic.Of(s).Release(p.ID, "coder"); !errors.Is(err, syscall.EIO) {
			t.Errorf("release on a disk that syncs no removal = %v, want EIO", err)
		}
	}
	failing = false
	if err := topic.Of(s).Release(p.ID, "coder"); err != nil {
		t.Error(err)
	}
}

// Twenty processes claim the same publications, and exactly one of them gets each
// publication. With DROPBOX_LONG=1 there are 1000 publications instead of 50.
func TestTwentyProcessesClaim(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	rounds := 50
	if os.Getenv("DROPBOX_LONG") != "" {
		rounds = 1000
	}
	s := newStore(t, dropbox.Options{MaxWaiting: 100_000}, "tester")
	var names []string
	for i := range 20 {
		name := fmt.Sprintf("agent%d", i)
		names = append(names, name)
		if err := s.MakeMailbox(name); err != nil {
			t.Fatal(err)
		}
	}
	var ids []string
	for range rounds {
		ids = append(ids, publish(t, s, "task.created").ID)
	}
	file := filepath.Join(t.TempDir(), "ids")
	if err := os.WriteFile(file, []byte(strings.Join(ids, " ")), 0o600); err != nil {
		t.Fatal(err)
	}
	// All processes begin when the test has closed the pipe from which they read.
	gate, opener, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer opener.Close()
	var running []*exec.Cmd
	var outs []*bufio.Reader
	for _, name := range names {
		cmd := exec.Command(os.Args[0], s.Dir(), name, file)
		cmd.Env = append(os.Environ(), "TOPIC_HELPER=1")
		cmd.Stdin, cmd.Stderr = gate, os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		running, outs = append(running, cmd), append(outs, bufio.NewReader(out))
	}
	gate.Close()
	for i, out := range outs {
		if line, err := out.ReadString('\n'); line != ready {
			t.Fatalf("%s begins with %q, %v", names[i], line, err)
		}
	}
	opener.Close()
	won := map[string][]string{}
	for i, cmd := range running {
		out, err := io.ReadAll(outs[i])
		if err != nil {
			t.Error(names[i], err)
		}
		if err := cmd.Wait(); err != nil {
			t.Error(names[i], err)
		}
		for _, id := range strings.Fields(string(out)) {
			won[id] = append(won[id], names[i])
		}
	}
	winners := map[string]bool{}
	for _, id := range ids {
		if len(won[id]) != 1 {
			t.Errorf("%s has the winners %v", id, won[id])
			continue
		}
		winners[won[id][0]] = true
		if g, err := topic.Of(s).GrantOf(id); err != nil || g.Agent != won[id][0] {
			t.Errorf("%s was won by %s, and is %s's: %v", id, won[id][0], g.Agent, err)
		}
	}
	if len(winners) < 2 {
		t.Errorf("only %d processes won anything: they did not compete", len(winners))
	}
}

// ready is the first line of a process that is about to claim.
const ready = "ready\n"

// claimAll waits until its input ends. Then it tries to claim every publication listed in a
// file and prints the ids of those that it claimed.
func claimAll(s *dropbox.Store, name, file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	fmt.Print(ready)
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	for _, id := range strings.Fields(string(data)) {
		_, err := topic.Of(s).Claim(id, name, "")
		if err == nil {
			fmt.Println(id)
		} else if !errors.Is(err, topic.ErrTaken) {
			return err
		}
	}
	return nil
}
