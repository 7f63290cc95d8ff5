package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// Ten agents get a thousand messages, and each turn runs in a separate process. Every
// message is done once. Each agent runs one turn at a time, and works on messages with the
// same sender and priority in the order in which they were sent. No process or message is
// left behind. SWARM_MANY=10000 raises the number of messages.
func TestAThousandMessagesToTenAgents(t *testing.T) {
	t.Parallel()
	const agents = 10
	messages := 1000
	if s := os.Getenv("SWARM_MANY"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		messages = n
	}
	var config strings.Builder
	name := func(i int) string { return "agent" + strconv.Itoa(i%agents) }
	for i := range agents {
		fmt.Fprintf(&config, "  %s: {command: [%q]}\n", name(i), standin)
	}
	p := newProject(t, `{"replies":[]}`, config.String())
	log := filepath.Join(p.home, "turns.log")
	p.env = append(p.env, "STANDIN_LOG="+log)
	p.start()

	store, err := dropbox.Open(filepath.Join(p.dir, ".dead-drop"), dropbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	const senders = 4
	var wg sync.WaitGroup
	for sender := range senders {
		wg.Go(func() {
			for n := sender; n < messages; n += senders {
				m := &dropbox.Message{Type: dropbox.Task, Body: fmt.Appendf(nil, "@say done %d\n", n)}
				if n%9 == 0 {
					m.Priority = dropbox.Low
				}
				if _, err := store.Deliver(name(n), m); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	p.untilLong("all are answered", func() bool {
		names, _ := os.ReadDir(filepath.Join(p.dir, ".dead-drop/lead/new"))
		return len(names) == messages
	})
	p.until("quiet", func() bool {
		for _, a := range p.status().Agents {
			if a.State != "idle" || a.Waiting.Total() != 0 {
				return false
			}
		}
		return true
	})

	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	ran := map[int]int{}
	open := map[string]string{} // current turn of each agent
	last := map[string]int{}    // the last message number, by agent, sender and priority
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(line) // WORD AGENT UUID PID @say done N
		if len(f) != 7 {
			t.Fatalf("line %q", line)
		}
		n, err := strconv.Atoi(f[6])
		if err != nil {
			t.Fatal(err)
		}
		switch f[0] {
		case "begin":
			if open[f[1]] != "" {
				t.Errorf("%s began a turn inside another", f[1])
			}
			open[f[1]] = f[2]
			ran[n]++
			way := fmt.Sprint(f[1], n%senders, n%9 == 0)
			if was, ok := last[way]; ok && was > n {
				t.Errorf("%s: message %d came after %d", f[1], n, was)
			}
			last[way] = n
		case "end":
			open[f[1]] = ""
		}
	}
	for n := range messages {
		if ran[n] != 1 {
			t.Errorf("message %d ran %d times", n, ran[n])
		}
	}
	for i := range agents {
		for _, dir := range []string{"new", "cur", "tmp"} {
			if left, _ := os.ReadDir(filepath.Join(p.dir, ".dead-drop", name(i), dir)); len(left) > 0 {
				t.Errorf("%s/%s has %d files left", name(i), dir, len(left))
			}
		}
	}
	if left := p.marked(); len(left) > 0 {
		t.Errorf("processes left: %v", left)
	}
}
