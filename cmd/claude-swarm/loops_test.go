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

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/testkit/need"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// bound returns the value of policy.turns_per_hour for a way. It is above the number of
// turns after which the rules for messages end a loop.
func (w loopWay) bound() int {
	if w.rule {
		return 8
	}
	return 3
}

// loopPrelude is the shell code that runs before an agent passes the ball on. The ball $B
// is the text of a message and is different each time. $to is the name of the other
// agent.
const loopPrelude = `me=$CLAUDE_SWARM_AGENT; to=b; [ "$me" = b ] && to=a
B="$(cat ball.txt) $(tr -dc a-z </dev/urandom | head -c 12)"
turn=${CLAUDE_SWARM_TURN%%-*}
# The daemon adopts a child when the subshell that started the child has ended.
adopted='while kill -0 $subshell 2>/dev/null; do sleep 0.01; done'
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
	printf '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"send","arguments":{"to":"%s","text":"%s"}}}\n' "$to" "$text"; soon grep -q '"id":2,' answers-$$; }
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
	{"a tool", `call | claude-swarm --config $PWD/claude-swarm.yaml mcp > answers-$$`, "", true},
	{"a tool server without environment", `call | clean claude-swarm --config $PWD/claude-swarm.yaml mcp > answers-$$`, "", true},
	{"env -u", `env -u CLAUDE_SWARM_AGENT -u CLAUDE_SWARM_TURN -u CLAUDE_SWARM_TOKEN claude-swarm send $to "$B"`, "", true},
	{"env -u of the turn alone", `env -u CLAUDE_SWARM_TURN claude-swarm send $to "$B"`, "", true},
	{"env -i", `clean claude-swarm send $to "$B"`, "", true},
	{"env -i with a flag", `clean claude-swarm send $to --type handoff "$B"`, "", true},
	{"setsid", `clean setsid -w claude-swarm send $to "$B"`, "", true},
	{"make", `printf 'pass:\n\t@env -i PATH="$$PATH" HOME="$$HOME" XDG_RUNTIME_DIR="$$XDG_RUNTIME_DIR" claude-swarm send %s "$$(cat ball-%s)"\n' $to $me > make-$me; printf '%s' "$B" > ball-$me; make -s -f make-$me pass`, "", true},
	{"a child that the daemon adopts", `printf '%s' "$B" > ball-$me; (subshell=$(exec sh -c 'echo $PPID'); clean subshell=$subshell setsid sh -c "$adopted; claude-swarm send $to \"\$(cat ball-$me)\"; rm ball-$me" >/dev/null 2>&1 &); soon test ! -e ball-$me`, "", true},
	{"as the other agent", `CLAUDE_SWARM_AGENT=$to claude-swarm send $to "$B"`, "", true},
	// When the other turn ends, the daemon repeatedly kills all processes that claim to
	// belong to that turn, and all other processes in their sessions. Therefore, each
	// attempt runs in a separate session, and is repeated unless it succeeds or is refused.
	{"in another turn", `while true; do
		other=$(ls .claude-swarm/turns | sed -n 's/\.json$//p' | head -1)
		setsid -w env CLAUDE_SWARM_TURN=$other claude-swarm send $to "$B"
		case $? in 0|6) break;; esac
		sleep 0.1
	done`, "", true},
	{"a file in a named folder", `drop $to`, ".dead-drop/a/ .dead-drop/b/", true},
	{"a file in a folder that is not named", `drop $to`, "", false},
	{"a file in its own folder, named", `drop $me`, ".dead-drop/a/ .dead-drop/b/", true},
	{"a file in its own folder", `drop $me`, "", false},
	{"an old file, moved", `printf '%s\n' "$B" > old-$me; touch -d yesterday old-$me; mv old-$me .dead-drop/$to/$$.md`, ".dead-drop/a/ .dead-drop/b/", true},
	{"delivered as the lead, named", `deliver $to 'from: lead\ntype: task\n'`, ".dead-drop/a/ .dead-drop/b/", true},
	{"delivered as the lead", `deliver $to 'from: lead\ntype: task\n'`, "", false},
	{"delivered as another agent", `deliver $to "from: $to\ntype: task\n"`, "", false},
	{"delivered without a sender", `deliver $to 'type: handoff\n'`, "", false},
	{"delivered with forged hops and path", `deliver $to 'from: lead\ntype: handoff\nhops: 0\npath: [lead]\n'`, ".dead-drop/a/ .dead-drop/b/", true},
	{"delivered urgently", `deliver $to 'from: lead\ntype: task\npriority: urgent\n'`, "", false},
	{"a child that drops a file", `printf '%s\n' "$B" > late-$me; (subshell=$(exec sh -c 'echo $PPID'); clean subshell=$subshell setsid sh -c "$adopted; mv late-$me .dead-drop/$to/$$.md" >/dev/null 2>&1 &); soon test ! -e late-$me`, "", false},
}

// Two agents that pass a message on in each turn are stopped, regardless of how they send
// it. If the message can be traced, the rules for messages stop them. Otherwise, the limit
// on turns without a person stops them. The lead is notified, and no more turns run.
func TestLoopsEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	need.Programs(t, "grep", "sed", "setsid")
	t.Parallel()
	if len(loopWays) < 23 {
		t.Fatalf("%d ways, want at least 23", len(loopWays))
	}
	for _, way := range loopWays {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			l := newLoop(t, way, "acl: {}")
			turns, paused := l.untilEnd()
			told, stopped := l.told(), l.stopped()
			t.Logf("%d turns, paused %v, stopped by rules %q", turns, paused, stopped)
			switch {
			case turns > 2*way.bound()+1:
				t.Errorf("%d turns, want at most %d of each agent without a person", turns, way.bound())
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

// newLoop creates the project and starts the loop. policy contains the settings of policy
// other than turns_per_hour.
func newLoop(t *testing.T, way loopWay, policy string) *loop {
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
		"claude-swarm.yaml": fmt.Sprintf("debounce: 10ms\npolicy: {turns_per_hour: %d, %s}\ndefaults: {command: [%q], mcp: false}\nagents: {a: {}, b: {}}\n", way.bound(), policy, client),
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
		if err := endDaemon(journal.HomeOf(l.dir)); err != nil {
			t.Error(err)
		}
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

// untilEnd waits until no agent is working and no message is waiting for an agent that could
// work. Then nothing can begin another turn, because each loopWay passes the ball on before
// its turn ends. untilEnd stops the daemon, so that it would also count a turn that began
// nevertheless. It returns the number of turns and the names of the paused agents.
func (l *loop) untilEnd() (turns int, paused []string) {
	l.t.Helper()
	most := 4 * loopWay{rule: true}.bound()
	if !poll(func() bool {
		turns = l.turns()
		if turns > most {
			l.t.Fatalf("it continues after %d turns", turns)
		}
		paused = l.paused()
		return turns > 0 && paused != nil && turns == l.turns()
	}) {
		l.t.Fatalf("it continues after %v and %d turns: %s", scriptPatience, turns, l.run("status"))
	}
	l.run("stop")
	return l.turns(), paused
}

// paused returns the names of the paused agents. It returns nil as long as another agent is
// working, or mail or a dropped file is waiting for it.
func (l *loop) paused() []string {
	l.t.Helper()
	var st swarm.Status
	if err := json.Unmarshal([]byte(l.run("status", "--json")), &st); err != nil {
		l.t.Fatal(err)
	}
	paused := []string{}
	for _, a := range st.Agents {
		switch a.State {
		case swarm.Paused:
			paused = append(paused, a.Name)
			continue
		case swarm.Idle:
		default:
			return nil
		}
		if l.waits(a.Name) {
			return nil
		}
	}
	return paused
}

// waits reports whether a mailbox has mail that begins a turn, or files that can become
// such mail.
func (l *loop) waits(name string) bool {
	l.t.Helper()
	dir := filepath.Join(l.dir, ".dead-drop", name)
	for _, pattern := range []string{"*.md", "tmp/*", "cur/*"} {
		if files, err := filepath.Glob(filepath.Join(dir, pattern)); err != nil || len(files) > 0 {
			return true
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "new/*"))
	return err != nil || slices.ContainsFunc(files, func(path string) bool {
		data, err := os.ReadFile(path)
		if err != nil {
			return true // it was moved in the meantime
		}
		m, err := dropbox.Parse(data)
		return err != nil || m.Type.Wakes()
	})
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
	need.Programs(t, "grep", "sed", "setsid")
	t.Parallel()
	for _, way := range loopWays {
		switch way.name {
		case "send", "env -u", "env -i", "setsid", "make", "a child that the daemon adopts", "as the other agent", "a file in a named folder",
			"a file in a folder that is not named", "an old file, moved", "delivered as the lead", "delivered as another agent", "a child that drops a file":
		default:
			continue
		}
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			l := newLoop(t, way, "acl: {a: {direct: []}}")
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
	need.Programs(t, "grep", "sed", "setsid")
	t.Parallel()
	way := loopWay{name: "busy", pass: "soon test -e enough"}
	const most = 5 // messages from an agent in a minute
	l := newLoop(t, way, fmt.Sprintf("sender_per_min: %d, acl: {a: {direct: []}, b: {direct: []}}", most))
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
	const each = 2 * most
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
