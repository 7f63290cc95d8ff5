package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// dayScript defines what the scripted model does for each upper-case word in a task and
// for all other tasks.
const dayScript = `{"replies":[
	{"name":"limit","times":1,"match":{"last_user_contains":"RATELIMIT"},"status":429,"headers":{"retry-after":"3600"}},
	{"name":"boom","times":-1,"match":{"last_user_contains":"BOOM"},"status":400,"error_message":"messages: something is wrong"},
	{"name":"slow","times":-1,"match":{"last_user_regexp":"SLOW ([0-9]+)"},"content":[{"tool_use":{"name":"Bash","input":{"command":"sleep {{match}}"}}}]},
	{"name":"write","times":-1,"match":{"last_user_regexp":"WRITE ([a-z.]+)"},"content":[{"tool_use":{"name":"Write","input":{"file_path":"{{match}}","content":"by an agent\n"}}}]},
	{"name":"ask","times":-1,"match":{"last_user_contains":"ASK"},"content":[{"tool_use":{"name":"mcp__dead-drop__ask","input":{"to":"lead","text":"Blue or green?","timeout":120}}}]},
	{"name":"asked","times":-1,"match":{"tool_result_contains":"green, please"},"text":"It is green now."},
	{"name":"urgent","times":-1,"match":{"tool_result_contains":"leave main.go alone"},"text":"Both are done."},
	{"name":"escapes","times":-1,"match":{"last_user_contains":"ESCAPES"},"text":"red \u001b[31mword\u001b[0m and a bell\u0007"},
	{"name":"rest","times":-1,"text":"Done."}]}`

const dayAgents = `  coder: {role: coder, linger: 10m}
  tester: {role: tester, session: fresh}
  reader: {role: reviewer, allowed_tools: "Read,Glob,Grep"}
  docs: {role: writer}
audit: {git: true}
`

// A day is a project that a simulated person uses from morning to evening.
type day struct {
	*project
	sent map[string]string // maps the id of each accepted message to its recipient
}

// A person works with four agents for a day. The steps cover every way to send mail,
// files dropped while their agent works, questions, urgent messages during turns, a stuck
// turn, crashes, a moved folder, a broken configuration, limits and the removal of an
// agent. At the end of the day, no message is
// lost or duplicated, and nothing is left behind.
func TestADay(t *testing.T) {
	t.Parallel()
	d := &day{project: newProject(t, dayScript, dayAgents), sent: map[string]string{}}
	git := exec.Command("git", "init", "-q", "-b", "main", d.dir)
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, step := range []struct {
		name string
		do   func()
	}{
		{"mail by all ways", d.mail},
		{"a question", d.question},
		{"ten files for an agent that works", d.files},
		{"orders in a running turn", d.orders},
		{"a stuck turn", d.stuck},
		{"the daemon is killed", d.killDaemon},
		{"the daemon and its clients are killed", d.killAll},
		{"the folder moves", d.move},
		{"a broken configuration", d.brokenConfig},
		{"a limit", d.limit},
		{"a message that the API refuses", d.refused},
		{"an agent goes", d.goes},
		{"the evening", d.evening},
	} {
		whole := d.t
		ok := t.Run(step.name, func(t *testing.T) { d.t = t; step.do() })
		d.t = whole
		if !ok {
			return
		}
	}
}

// give sends a message and records that it was accepted.
func (d *day) give(agent string, args ...string) string {
	d.t.Helper()
	id := d.send(append([]string{agent}, args...)...)
	d.sent[id] = agent
	return id
}

// shell runs a line that a person could type in a shell, and returns standard output and
// standard error together.
func (d *day) shell(line string) (string, error) {
	d.t.Helper()
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir, cmd.Env = d.dir, append(d.env, "PATH="+filepath.Dir(program)+":"+strings.TrimPrefix(d.env[0], "PATH="))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (d *day) want(what, got string, parts ...string) {
	d.t.Helper()
	for _, part := range parts {
		if !strings.Contains(got, part) {
			d.t.Errorf("%s lacks %q:\n%s", what, part, got)
		}
	}
}

func (d *day) mail() {
	d.start()
	if _, stderr, err := d.try("start", "--foreground"); err == nil || !strings.Contains(stderr, "daemon") {
		d.t.Errorf("a second daemon: %v, %s", err, stderr)
	}
	for _, agent := range []string{"coder", "tester", "reader"} {
		d.give(agent, "WRITE "+agent+".txt")
	}
	d.write(".dead-drop/docs/task.md", "Copied by hand.\n")
	out, err := d.shell("echo 'By a pipe.' | claude-swarm send docs -")
	if err != nil {
		d.t.Fatalf("%v\n%s", err, out)
	}
	d.sent[strings.TrimSpace(out)] = "docs"
	for id, agent := range d.sent {
		d.receipt(agent, id)
	}
	d.until("an answer to each", func() bool { return d.status().Lead.Unread == 5 })
	if d.read("coder.txt") == "" || d.read("tester.txt") == "" || d.read("reader.txt") != "" {
		d.t.Error("the files are not those of coder and tester alone")
	}
	if out, err := d.shell("claude-swarm inbox >/dev/full"); err == nil {
		d.t.Errorf("inbox reports no error on a full device: %s", out)
	}
	process := d.warm("coder").PID
	d.receipt("coder", d.give("coder", "One more."))
	if again := d.warm("coder").PID; again != process {
		d.t.Errorf("the waiting client %d was not used again; %d waits", process, again)
	}
}

func (d *day) question() {
	id := d.give("tester", "ASK me", "--subject", "colours")
	d.until("the question", func() bool { return d.told("Blue or green?") == 1 })
	var inbox struct {
		Messages []struct{ ID, Subject, Type string }
	}
	if err := json.Unmarshal([]byte(d.swarm("inbox", "--json")), &inbox); err != nil {
		d.t.Fatal(err)
	}
	for _, m := range inbox.Messages {
		if m.Type == "question" {
			d.swarm("reply", m.ID, "green, please")
		}
	}
	if r := d.receipt("tester", id); r.Text != "It is green now." {
		d.t.Errorf("receipt = %+v", r)
	}
	d.want("the trace", d.swarm("trace", id), "colours", "Blue or green?", "green, please", "tester")
}

func (d *day) orders() {
	long := d.give("coder", "SLOW 6")
	d.until("Bash runs", func() bool { return strings.Contains(d.swarm("logs", "coder"), "$ Bash sleep 6") })
	now := d.give("coder", "leave main.go alone", "--now")
	if r := d.receipt("coder", now); r.Into != long {
		d.t.Errorf("the urgent message was done in %q, want in %s", r.Into, long)
	}
	first := d.give("coder", "SLOW 60")
	d.until("Bash runs", func() bool { return strings.Contains(d.swarm("logs", "coder"), "$ Bash sleep 60") })
	d.script(strings.ReplaceAll(dayScript, "sleep {{match}}", "true"))
	urgent := d.give("coder", "Something else comes first.", "--interrupt")
	if u, f := d.receipt("coder", urgent), d.receipt("coder", first); !u.Ended.Before(f.Ended) {
		d.t.Errorf("the urgent message ended %v, the task %v", u.Ended, f.Ended)
	}
	d.script(dayScript)

	id := d.give("coder", "SLOW 61")
	d.until("Bash runs", func() bool { return strings.Contains(d.swarm("logs", "coder"), "$ Bash sleep 61") })
	said := d.swarm("abort", "coder")
	if dead := d.swarm("dead"); !strings.Contains(said, "dead letter") || !strings.Contains(dead, id) {
		d.t.Errorf("abort said %q, dead:\n%s", said, dead)
	}
	d.swarm("dead", "retry", id)
	d.script(strings.ReplaceAll(dayScript, "sleep {{match}}", "true"))
	d.receipt("coder", id)
	d.script(dayScript)
}

// unrelated are tasks that have nothing to do with each other.
var unrelated = []string{
	"Rename the parser package", "Write docs for the CLI flags", "Upgrade sqlite to the newest", "Why does login take two seconds?",
	"Delete the old Jenkins file", "Make the icons bigger on phones", "Translate errors into German", "Add metrics about the cache",
	"Fix the flaky date test", "Look for unused CSS classes",
}

// files drops one file after another into the mailbox of an agent, each while the agent
// works on the one before. Each of them is a task that is answered.
func (d *day) files() {
	before := d.status()
	for i, text := range unrelated {
		d.write(fmt.Sprintf(".dead-drop/coder/task-%d.md", i), "SLOW 1\n\n"+text+"\n")
		d.until("the agent works on "+text, func() bool { return strings.Contains(d.swarm("logs", "coder", "-n", "100"), text) })
	}
	for _, text := range unrelated {
		id := d.doneWith("coder", text)
		d.sent[id] = "coder"
		trace := d.swarm("trace", id)
		d.want("the trace of "+text, trace, "1 turn", "SLOW 1 "+text[:12])
		if n := strings.Count(trace, "SLOW 1"); n > 2 { // the task, and the subject of its answer
			d.t.Errorf("the trace of %q shows other tasks:\n%s", text, trace)
		}
	}
	d.until("an answer to each", func() bool { return d.status().Lead.Unread == before.Lead.Unread+len(unrelated) })
	if out := d.swarm("dead") + d.swarm("refused"); strings.Contains(out, "SLOW 1") {
		d.t.Errorf("a dropped file is a dead letter or was refused:\n%s", out)
	}
}

// doneWith waits until an agent has done a message with this text, and returns the
// message's id.
func (d *day) doneWith(agent, text string) (id string) {
	d.t.Helper()
	d.until(agent+" has done "+text, func() bool {
		found, err := filepath.Glob(filepath.Join(d.dir, ".dead-drop", agent, "done/*/*.receipt.yaml"))
		if err != nil {
			d.t.Fatal(err)
		}
		for _, f := range found {
			name := strings.TrimSuffix(f, ".receipt.yaml")
			data, err := os.ReadFile(name + ".md")
			if err == nil && bytes.Contains(data, []byte(text)) {
				id = name[len(name)-10:]
				return true
			}
		}
		return false
	})
	return id
}

// stuck gives an agent a task on which it repeats one call that fails. Its turn ends, the
// message waits for a person, and the agent goes on when the person says so.
func (d *day) stuck() {
	const deploy = `{"tool_use":{"name":"Bash","input":{"command":"echo deploy failed; exit 1"}}}`
	d.script(strings.Replace(dayScript, `{"replies":[`, `{"replies":[
		{"name":"stuck","times":-1,"match":{"last_user_contains":"STUCK"},"content":[`+deploy+`]},
		{"name":"still stuck","times":-1,"match":{"tool_result_contains":"deploy failed"},"content":[`+deploy+`]},`, 1))
	id := d.give("tester", "STUCK at the release")
	d.until("the turn ends", func() bool { a := d.agent("tester"); return a.State == swarm.Paused && !a.Running })
	a := d.agent("tester")
	if !strings.HasPrefix(a.Why, "stuck: ") || !strings.Contains(a.Next, "abort tester") || a.Waiting.Total() != 1 {
		d.t.Errorf("status of the stuck agent: why %q, next %q, %+v waiting", a.Why, a.Next, a.Waiting)
	}
	if n := strings.Count(d.swarm("logs", "tester", "-n", "1000"), "$ Bash echo deploy failed"); n < 5 || n > 40 {
		d.t.Errorf("the stuck turn made %d calls, want 5 before the escalation and about 10 after it", n)
	}
	if n := d.told("[ESCALATION]"); n != 1 {
		d.t.Errorf("the lead was told %d times that the agent is stuck", n)
	}
	d.script(dayScript)
	d.swarm("resume", "tester")
	if r := d.receipt("tester", id); r.Outcome != "done" {
		d.t.Errorf("receipt = %+v", r)
	}
	if q := d.agent("tester").Question; q != nil {
		d.t.Errorf("the question is still open: %+v", q)
	}
}

// kill kills processes to simulate a crash.
func (d *day) kill(pids ...int) {
	d.t.Helper()
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			d.t.Fatal(err)
		}
	}
}

func (d *day) killDaemon() {
	id := d.give("docs", "SLOW 5")
	d.until("Bash runs", func() bool { return strings.Contains(d.swarm("logs", "docs"), "$ Bash sleep 5") })
	d.kill(d.status().Daemon.PID)
	waiting := d.give("docs", "Said while no daemon ran.")
	d.start()
	if r := d.receipt("docs", id); len(r.Attempts) != 1 {
		d.t.Errorf("attempts = %+v, want the one that went on", r.Attempts)
	}
	d.receipt("docs", waiting)
}

func (d *day) killAll() {
	id := d.give("docs", "SLOW 50")
	d.until("Bash runs", func() bool { return strings.Contains(d.swarm("logs", "docs"), "$ Bash sleep 50") })
	d.kill(d.status().Daemon.PID, *d.agent("docs").PID)
	d.script(strings.ReplaceAll(dayScript, "sleep {{match}}", "true"))
	d.start()
	if r := d.receipt("docs", id); len(r.Attempts) != 2 || r.Attempts[1].Outcome != "done" {
		d.t.Errorf("attempts = %+v, want a lost one and a good one", r.Attempts)
	}
	d.script(dayScript)
}

// move moves the project folder. If no daemon is running, no further step is necessary;
// if one is running, the status says what to do.
func (d *day) move() {
	there := func(name string) {
		d.t.Helper()
		to := filepath.Join(filepath.Dir(d.dir), name)
		if err := os.Rename(d.dir, to); err != nil {
			d.t.Fatal(err)
		}
		d.dir = to
	}
	d.swarm("stop")
	there("stopped")
	d.start()
	d.receipt("reader", d.give("reader", "After the first move."))
	there("moved")
	out, stderr, _ := d.try("status")
	d.want("the status after a move", out+stderr, "moved", "claude-swarm restart")
	d.swarm("restart")
	d.receipt("reader", d.give("reader", "After the second move."))
	for _, old := range []string{"project", "stopped"} {
		var there []string
		_ = filepath.WalkDir(filepath.Join(filepath.Dir(d.dir), old), func(path string, _ fs.DirEntry, err error) error {
			if err == nil {
				there = append(there, path)
			}
			return nil
		})
		if len(there) > 0 {
			d.t.Errorf("this was written to an old place: %q", there)
		}
	}
}

func (d *day) brokenConfig() {
	good := d.read("claude-swarm.yaml")
	d.write("claude-swarm.yaml", good+"agnets: {}\n")
	_, stderr, err := d.try("reload")
	if err == nil {
		d.t.Error("reload accepts a configuration with a mistake")
	}
	line := fmt.Sprintf("%d:1", strings.Count(good, "\n")+1)
	d.want("reload", stderr, "agnets", line)
	out, errs, _ := d.try("status")
	d.want("the status", out+errs, line)
	out, errs, err = d.try("send", "reader", "The old one counts.")
	if err != nil {
		d.t.Fatalf("send: %v\n%s%s", err, out, errs)
	}
	id := regexp.MustCompile(`[a-z2-7]{10}`).FindString(out)
	d.sent[id] = "reader"
	d.receipt("reader", id)
	d.write("claude-swarm.yaml", good)
	d.swarm("reload")
}

func (d *day) limit() {
	id := d.give("tester", "RATELIMIT")
	d.untilState("tester", swarm.Limited)
	other := d.give("docs", "Waits as long.")
	d.untilState("docs", swarm.Limited)
	for _, agent := range []string{"coder", "tester", "reader", "docs"} {
		d.swarm("resume", agent)
	}
	if r := d.receipt("tester", id); len(r.Attempts) != 2 || r.Attempts[0].Outcome != "limited" {
		d.t.Errorf("attempts = %+v", r.Attempts)
	}
	d.receipt("docs", other)
	if n := d.told("parked: "); n != 1 {
		d.t.Errorf("the lead was told %d times of the limit", n)
	}
}

func (d *day) refused() {
	before := d.status().Lead.Unread
	id := d.give("reader", "BOOM")
	d.until("it is given up", func() bool { return strings.Contains(d.swarm("dead"), id) })
	d.until("the lead is told", func() bool { return d.status().Lead.Unread == before+1 })
	d.script(strings.ReplaceAll(dayScript, "BOOM", "unused"))
	d.swarm("dead", "retry", id)
	d.receipt("reader", id)
	d.script(dayScript)
}

func (d *day) goes() {
	d.swarm("pause", "docs")
	id := d.give("docs", "For an agent that goes.")
	good := d.read("claude-swarm.yaml")
	d.write("claude-swarm.yaml", strings.Replace(good, "  docs: {role: writer}\n", "", 1))
	out, told, err := d.try("reload")
	if err != nil {
		d.t.Fatal(err)
	}
	d.want("reload", out+told, "removed docs", "1 message")
	d.want("the status", d.swarm("status"), "docs")
	d.want("its history", d.swarm("history", "docs"), "Waits as long.")
	d.swarm("remove", "docs", "--to", "coder")
	delete(d.sent, id)
	d.doneWith("coder", "For an agent that goes.")
}

// evening checks the project's state at the end of the day.
func (d *day) evening() {
	d.receipt("tester", d.give("tester", "ESCAPES", "--subject", "red \x1b[31m word"))
	d.until("all is quiet", func() bool {
		for _, a := range d.status().Agents {
			if a.State != swarm.Idle {
				return false
			}
		}
		return true
	})
	for _, view := range []string{"status", "inbox", "topics", "dead", "refused", "history coder", "history tester", "logs tester"} {
		out := d.swarm(strings.Fields(view)...)
		if strings.ContainsAny(out, "\x1b\a") {
			d.t.Errorf("%s prints an escape", view)
		}
	}
	for _, verb := range []string{"status", "inbox", "topics", "dead", "refused", "history coder", "config check"} {
		if out := d.swarm(append(strings.Fields(verb), "--json")...); !json.Valid([]byte(out)) {
			d.t.Errorf("%s --json is not JSON", verb)
		}
	}
	for id, agent := range d.sent {
		if r := d.receipt(agent, id); r.Outcome == "duplicate" {
			d.t.Errorf("%s of %s was done twice", id, agent)
		}
	}
	d.sameCosts()
	d.until("each finished turn is a commit", func() bool {
		log := exec.Command("git", "log", "--format=%(trailers:key=Outcome,valueonly)", "dead-drop", "--")
		log.Dir = d.dir
		out, err := log.Output()
		return err == nil && strings.Count(string(out), "done") >= len(d.sent)
	})
	d.swarm("stop")
	d.within(time.Minute, "no process is left", func() bool { return len(d.marked()) == 0 })
}

// sameCosts compares the costs in the day's ledger with those in the status.
func (d *day) sameCosts() {
	var shown, booked float64
	for _, a := range d.status().Agents {
		shown += a.CostUSD.Total
	}
	if err := journal.ReadLedger(filepath.Join(d.dir, ".claude-swarm/ledger.jsonl"), func(l journal.LedgerLine) bool {
		if l.Agent != "docs" { // the agent named docs was removed
			booked += l.CostUSD
		}
		return true
	}); err != nil {
		d.t.Fatal(err)
	}
	if math.Abs(shown-booked) > 1e-6 || booked == 0 {
		d.t.Errorf("status shows %.6f USD, the ledger %.6f", shown, booked)
	}
}
