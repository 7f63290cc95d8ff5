package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// loopBound is the value of policy.turns_per_hour in these tests.
const loopBound = 8

// loopPrelude is the shell code that runs before an agent passes the ball on. The ball $B
// is the text of a message and is different each time. $to is the name of the other
// agent.
const loopPrelude = `me=$CLAUDE_SWARM_AGENT; to=b; [ "$me" = b ] && to=a
B="$(cat ball.txt) $(tr -dc a-z </dev/urandom | head -c 12)"
turn=${CLAUDE_SWARM_TURN%%-*}
clean() { env -i PATH="$PATH" HOME="$HOME" XDG_RUNTIME_DIR="$XDG_RUNTIME_DIR" "$@"; }
drop() { printf '%s\n' "$B" > .part-$$; mv .part-$$ .dead-drop/$1/$$.md; }
deliver() { # TO FRONT-MATTER
	id=$(tr -dc a-z2-7 </dev/urandom | head -c 10); n=1-$(date -u +%Y%m%dT%H%M%S.%6NZ)-$id.md
	{ [ -n "$2" ] && printf -- '---\nv: 1\nid: %s\n%b---\n' $id "$2"; printf '%s\n' "$B"; } > .dead-drop/$1/tmp/$n
	mv .dead-drop/$1/tmp/$n .dead-drop/$1/new/
}
call() { # one of the agents' tools: TO
	text=$(printf '%s' "$B" | sed 's/\\/\\\\/g; s/"/\\"/g')
	{ echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}'
	echo '{"jsonrpc":"2.0","method":"notifications/initialized"}'
	printf '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"send","arguments":{"to":"%s","text":"%s"}}}\n' "$to" "$text"; sleep 0.7; }
}
`

// A loopWay is one way in which two agents can keep waking each other.
type loopWay struct {
	name string
	pass string // the shell code that passes the ball on; it runs after loopPrelude
	arg  string // the argument of each turn's tool call
	rule bool   // the rules for messages end the loop before the limit on turns does
}

var loopWays = []loopWay{
	{"send", `claude-swarm send $to "$B"`, "", true},
	{"send a question", `claude-swarm send $to --type question "$B"`, "", true},
	{"send a result", `claude-swarm send $to --type result "$B"`, "", true},
	{"hand it off", `claude-swarm send $to --type handoff "$B"`, "", true},
	{"send with a key and an end", `claude-swarm send $to --type handoff --key "$(tr -dc a-z </dev/urandom | head -c 9)" --expires 2h "$B"`, "", true},
	{"send to all", `claude-swarm send all "$B"`, "", true},
	{"send urgently", `claude-swarm send $to --now "$B"`, "", true},
	{"ask and reply", `if [ $me = a ]; then claude-swarm send b --type question "$B"; else claude-swarm reply $turn "$B"; fi`, "", true},
	{"publish", `claude-swarm publish ball.$to "$B"`, "", true},
	{"a tool", `call | claude-swarm --config $PWD/claude-swarm.yaml mcp`, "", true},
	{"a tool server without environment", `call | clean claude-swarm --config $PWD/claude-swarm.yaml mcp`, "", true},
	{"env -u", `env -u CLAUDE_SWARM_AGENT -u CLAUDE_SWARM_TURN -u CLAUDE_SWARM_TOKEN claude-swarm send $to "$B"`, "", true},
	{"env -u of the turn alone", `env -u CLAUDE_SWARM_TURN claude-swarm send $to "$B"`, "", true},
	{"env -i", `clean claude-swarm send $to "$B"`, "", true},
	{"env -i with a flag", `clean claude-swarm send $to --type handoff "$B"`, "", true},
	{"setsid", `clean setsid -w claude-swarm send $to "$B"`, "", true},
	{"make", `printf 'pass:\n\t@env -i PATH="$$PATH" HOME="$$HOME" XDG_RUNTIME_DIR="$$XDG_RUNTIME_DIR" claude-swarm send %s "$$(cat ball-%s)"\n' $to $me > make-$me; printf '%s' "$B" > ball-$me; make -s -f make-$me pass`, "", true},
	{"a child that the daemon adopts", `printf '%s' "$B" > ball-$me; (clean setsid sh -c "sleep 0.3; claude-swarm send $to \"\$(cat ball-$me)\"" >/dev/null 2>&1 &); sleep 1`, "", true},
	{"as the other agent", `CLAUDE_SWARM_AGENT=$to claude-swarm send $to "$B"`, "", true},
	// When the other turn ends, the daemon repeatedly kills all processes that claim to
	// belong to that turn, and all other processes in their sessions. Therefore, each
	// attempt runs in a separate session, with a pause after it.
	{"in another turn", `for try in 1 2 3 4 5; do
		other=$(ls .claude-swarm/turns | sed -n 's/\.json$//p' | head -1)
		setsid -w env CLAUDE_SWARM_TURN=$other claude-swarm send $to "$B" && break
		sleep 0.3
	done`, "", true},
	{"a file in a named folder", `drop $to`, ".dead-drop/a/ .dead-drop/b/", true},
	{"a file in a folder that is not named", `drop $to`, "", false},
	{"a file in its own folder", `drop $me`, "", true},
	{"an old file, moved", `printf '%s\n' "$B" > old-$me; touch -d yesterday old-$me; mv old-$me .dead-drop/$to/$$.md`, ".dead-drop/a/ .dead-drop/b/", true},
	{"delivered as the lead, named", `deliver $to 'from: lead\ntype: task\n'`, ".dead-drop/a/ .dead-drop/b/", true},
	{"delivered as the lead", `deliver $to 'from: lead\ntype: task\n'`, "", false},
	{"delivered as another agent", `deliver $to "from: $to\ntype: task\n"`, "", false},
	{"delivered without a sender", `deliver $to 'type: handoff\n'`, "", false},
	{"delivered with forged hops and path", `deliver $to 'from: lead\ntype: handoff\nhops: 0\npath: [lead]\n'`, ".dead-drop/a/ .dead-drop/b/", true},
	{"delivered urgently", `deliver $to 'from: lead\ntype: task\npriority: urgent\n'`, "", false},
	{"a child that drops a file", `printf '%s\n' "$B" > late-$me; (clean setsid sh -c "sleep 1; mv late-$me .dead-drop/$to/$$.md" >/dev/null 2>&1 &); sleep 1.5`, "", false},
}

// Two agents that pass a message on in each turn are stopped, regardless of how they send
// it. If the message can be traced, the rules for messages stop them. Otherwise, the limit
// on turns without a person stops them. The lead is notified, and no more turns run.
func TestLoopsEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	if len(loopWays) < 23 {
		t.Fatalf("%d ways, want at least 23", len(loopWays))
	}
	for _, way := range loopWays {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			l := newLoop(t, way, "")
			turns, paused := l.untilEnd()
			told, stopped := l.told(), l.stopped()
			t.Logf("%d turns, paused %v, stopped by rules %q", turns, paused, stopped)
			switch {
			case turns > 2*loopBound+1:
				t.Errorf("%d turns, want at most %d of each agent without a person", turns, loopBound)
			case way.rule && (len(paused) > 0 || len(stopped) == 0):
				t.Errorf("it ended after %d turns by the bound on turns, want by a rule", turns)
			case !way.rule && len(paused) == 0:
				t.Errorf("it ended after %d turns by %q, want by the bound on turns", turns, stopped)
			}
			for _, name := range paused {
				if n := told[name+" is paused: too many turns"]; n != 1 {
					t.Errorf("the lead was told %d times that %s is paused", n, name)
				}
			}
			if len(told) == 0 {
				t.Error("the lead was told nothing")
			}
		})
	}
}

// A loop is a project in which two agents pass a ball to each other.
type loop struct {
	t   *testing.T
	dir string
	env []string
}

// newLoop creates the project and starts the loop. acl is the content of policy.acl; ""
// means no rules.
func newLoop(t *testing.T, way loopWay, acl string) *loop {
	t.Helper()
	l := &loop{t: t, dir: t.TempDir()}
	runtime, err := os.MkdirTemp("", "cs") // the path of a socket is limited to about 100 bytes
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(l.dir, ".home")
	l.env = append(withoutMarks(os.Environ()), "HOME="+home, "XDG_RUNTIME_DIR="+runtime, "PWD="+l.dir, "GORACE=atexit_sleep_ms=0")
	client, err := exec.LookPath("claude") // the stand-in for the client, which is this test binary; see TestMain
	if err != nil {
		t.Fatal(err)
	}
	ball := strings.TrimSpace("@sh sh ./pass.sh "+way.arg) + "\n"
	for name, text := range map[string]string{
		"claude-swarm.yaml": fmt.Sprintf("debounce: 100ms\npolicy: {turns_per_hour: %d, acl: {%s}}\ndefaults: {command: [%q], mcp: false}\nagents: {a: {}, b: {}}\n", loopBound, acl, client),
		"ball.txt":          ball,
		"pass.sh":           loopPrelude + way.pass + "\n",
	} {
		if err := os.WriteFile(filepath.Join(l.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		l.run("stop", "--now")
		os.RemoveAll(runtime)
	})
	l.run("start")
	if way.name == "publish" {
		l.run("subscribe", "ball.a", "--agent", "a")
		l.run("subscribe", "ball.b", "--agent", "b")
	}
	l.run("send", "a", ball)
	return l
}

// run runs claude-swarm and returns its output.
func (l *loop) run(args ...string) string {
	l.t.Helper()
	cmd := exec.Command("claude-swarm", args...)
	cmd.Dir, cmd.Env = l.dir, l.env
	out, err := cmd.Output()
	if err != nil {
		l.t.Errorf("claude-swarm %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// turns returns the number of turns that have ended.
func (l *loop) turns() int {
	data, err := os.ReadFile(filepath.Join(l.dir, ".claude-swarm", "ledger.jsonl"))
	if err != nil {
		return 0 // no turn has ended yet
	}
	return strings.Count(string(data), "\n")
}

// untilEnd waits until no turn has ended for longer than any loopWay needs to pass the
// ball on. It returns the number of turns and the names of the paused agents.
func (l *loop) untilEnd() (turns int, paused []string) {
	l.t.Helper()
	const calm = 4 * time.Second
	since := time.Now()
	for deadline := time.Now().Add(100 * time.Second); ; {
		if n := l.turns(); n != turns {
			turns, since = n, time.Now()
		}
		if time.Since(since) > calm && turns > 0 {
			var st swarm.Status
			if err := json.Unmarshal([]byte(l.run("status", "--json")), &st); err != nil {
				l.t.Fatal(err)
			}
			paused = nil
			for _, a := range st.Agents {
				if a.State == swarm.Paused {
					paused = append(paused, a.Name)
				} else if a.State != swarm.Idle {
					since = time.Now()
				}
			}
			if time.Since(since) > calm {
				return turns, paused
			}
		}
		if time.Now().After(deadline) || turns > 4*loopBound {
			l.t.Fatalf("it continues after %d turns", turns)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// told returns the number of messages to the lead for each subject.
func (l *loop) told() map[string]int {
	l.t.Helper()
	told := map[string]int{}
	store, err := dropbox.Open(filepath.Join(l.dir, ".dead-drop"), dropbox.Options{})
	if err != nil {
		l.t.Fatal(err)
	}
	defer store.Close()
	box, err := store.Mailbox(dropbox.Lead)
	if err != nil {
		l.t.Fatal(err)
	}
	entries, err := box.Peek()
	if err != nil {
		l.t.Fatal(err)
	}
	for _, e := range entries {
		if m, err := box.Read(e); err == nil {
			told[m.Subject]++
		}
	}
	return told
}

// stopped returns the reasons for halted conversations and refused messages.
func (l *loop) stopped() []string {
	var why []string
	for _, pattern := range []string{"halted/*", "refused/*/*.reason*"} {
		files, err := filepath.Glob(filepath.Join(l.dir, ".dead-drop", pattern))
		if err != nil {
			l.t.Fatal(err)
		}
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err != nil {
				l.t.Fatal(err)
			}
			why = append(why, strings.TrimSpace(string(data)))
		}
	}
	slices.Sort(why)
	return slices.Compact(why)
}

// An agent that is not allowed to write to other agents cannot reach them in any of these
// ways.
func TestAListHoldsInEveryWay(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, way := range loopWays {
		switch way.name {
		case "send", "env -u", "env -i", "setsid", "make", "a child that the daemon adopts", "as the other agent", "a file in a named folder",
			"a file in a folder that is not named", "an old file, moved", "delivered as the lead", "delivered as another agent", "a child that drops a file":
		default:
			continue
		}
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			l := newLoop(t, way, "a: {direct: []}")
			if turns, _ := l.untilEnd(); turns != 1 {
				t.Errorf("%d turns, want only the turn of a", turns)
			}
		})
	}
}

// A message that a person sends while turns are running counts as that person's message, with
// or without a flag, even if it is sent from a separate session.
func TestAPersonWhoSendsWhileTurnsRun(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	way := loopWay{name: "busy", pass: "while [ ! -e enough ]; do sleep 0.05; done"}
	l := newLoop(t, way, "a: {direct: []}, b: {direct: []}")
	l.run("send", "b", "@sh sh ./pass.sh")
	if !poll(func() bool {
		clients, err := journal.HomeOf(l.dir).LiveClients()
		return err == nil && len(clients) == 2
	}) {
		t.Fatal("the turns do not run")
	}
	program, err := exec.LookPath("claude-swarm")
	if err != nil {
		t.Fatal(err)
	}
	const each = 70 // more messages than an agent may send in a minute
	sends := map[string][]string{
		"plain": {program, "send", "b"}, "with a flag": {program, "send", "b", "--type", "task"}, "by a job": {"setsid", "-w", program, "send", "b"},
	}
	for name, args := range sends {
		n := 2
		if name == "plain" {
			n = each
		}
		for i := range n {
			cmd := exec.Command(args[0], append(args[1:len(args):len(args)], fmt.Sprint("note ", i))...)
			cmd.Dir, cmd.Env = l.dir, l.env
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", name, err, out)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(l.dir, "enough"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if !poll(func() bool { return l.turns() == each+6 }) {
		t.Errorf("%d turns, want %d; stopped: %q", l.turns(), each+6, l.stopped())
	}
	data, err := os.ReadFile(filepath.Join(l.dir, ".claude-swarm", "ledger.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(data), `"from":"lead"`); n != each+6 || strings.Count(string(data), `"by_lead":true`) != n {
		t.Errorf("%d turns for the lead, %d proven, want %d", n, strings.Count(string(data), `"by_lead":true`), each+6)
	}
}
