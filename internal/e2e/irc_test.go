package e2e_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/irctest"
	"github.com/claude-swarm/claude-swarm/internal/testkit/need"
)

// A person uses ii, an IRC client whose interface is a folder of files.
type person struct {
	t    *testing.T
	nick string
	dir  string // ii's folder for the server
}

// sitDown starts ii and joins the given channels.
func sitDown(t *testing.T, addr, nick string, channels ...string) *person {
	t.Helper()
	ii := need.Program(t, "ii")
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cmd := exec.Command(ii, "-i", dir, "-s", host, "-p", port, "-n", nick, "-f", nick)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	p := &person{t: t, nick: nick, dir: filepath.Join(dir, host)}
	for _, c := range channels {
		p.types("", "/j "+c)
		p.sees(c, "") // the first line reports the join
	}
	return p
}

// types writes a line to a channel, or to the server if channel is "".
func (p *person) types(channel, line string) {
	p.t.Helper()
	in := filepath.Join(p.dir, channel, "in")
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		f, err := os.OpenFile(in, os.O_WRONLY, 0)
		if err == nil {
			_, err = fmt.Fprintln(f, line)
			err = errors.Join(err, f.Close())
		}
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("%s cannot write into %q: %v", p.nick, channel, err)
		}
	}
}

// sees waits for a line that contains part, and returns the line.
func (p *person) sees(channel, part string) string {
	p.t.Helper()
	out := filepath.Join(p.dir, channel, "out")
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		data, err := os.ReadFile(out)
		if err == nil {
			for line := range strings.Lines(string(data)) {
				if strings.Contains(line, part) {
					return line
				}
			}
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("%s never sees %q in %s (%v):\n%s", p.nick, part, channel, err, data)
		}
	}
}

// onIRC returns the irc section of a project's configuration. The section allows ann to
// talk, give tasks and control the swarm.
func onIRC(addr string) string {
	return "irc: {server: \"" + addr + "\", slug: x, rate: 0, allow: [{nick: ann, may: [talk, task, control]}]}\n"
}

// The lead gives a task in the channel, and the engineering manager (em) assigns it to
// dinesh. dinesh works in a separate folder, asks in the channel, and continues with the
// lead's answer from the channel. The mailboxes contain all these messages.
func TestATaskFromIRCToItsEnd(t *testing.T) {
	t.Parallel()
	addr := irctest.Ngircd(t, irctest.Unlimited)
	p := newProject(t, `{"replies":[]}`, `  em:
    role: engineering manager
    allowed_tools: [Read]
  dinesh:
    role: manager
    cwd: login
`+onIRC(addr))
	p.write("login/README.md", "# Login\n")
	page := filepath.Join(p.dir, "login/login.html")
	p.script(fmt.Sprintf(`{"replies":[
		{"name":"assign","match":{"last_user_contains":"build the login page","tool_offered":"mcp__dead-drop__irc_send","system_contains":"You are em"},
		 "content":[{"tool_use":{"id":"toolu_1","name":"mcp__dead-drop__send","input":{"to":"dinesh","text":"Make login.html, and ask the lead for the colour."}}}]},
		{"name":"assigned","match":{"tool_result_contains":"\"to\":\"dinesh\""},"text":"dinesh does it."},
		{"name":"ask","match":{"last_user_contains":"ask the lead for the colour","system_contains":"You are dinesh"},
		 "content":[{"tool_use":{"id":"toolu_2","name":"mcp__dead-drop__irc_ask","input":{"channel":"#project-x","question":"Which colour shall it have?","timeout":110}}}]},
		{"name":"write","match":{"tool_result_contains":"dark green"},
		 "content":[{"tool_use":{"id":"toolu_3","name":"Write","input":{"file_path":%q,"content":"<body style=\"background: darkgreen\">"}}}]},
		{"name":"done","match":{"last_is_tool_result":true},"text":"login.html is there, in dark green."},
		{"name":"tell","match":{"last_user_contains":"login.html is there","system_contains":"You are em"},
		 "content":[{"tool_use":{"id":"toolu_4","name":"mcp__dead-drop__irc_send","input":{"channel":"#project-x","message":"The login page is ready for you to look at."}}}]},
		{"name":"rest","times":-1,"text":"Done."}]}`, page))
	p.start()
	ann := sitDown(t, addr, "ann", "#project-x", "#standup-x", "#alerts")
	p.until("the bridge is there", func() bool { st := p.status(); return st.IRC != nil && len(st.IRC.Channels) == 4 })

	ann.types("#project-x", "TASK: @em build the login page")
	ann.sees("#standup-x", "[em] begins: build the login page")
	ann.sees("#project-x", "ann: em has it.")
	ann.sees("#project-x", "[em] ann: dinesh does it.")
	ann.sees("#standup-x", "[dinesh] begins: Make login.html, and ask the lead for the colour. (from em")
	ann.sees("#project-x", "[dinesh] asks: Which colour shall it have?")
	ann.sees("#alerts", "[QUESTION] dinesh needs input: ")
	ann.types("#project-x", "dinesh: dark green")
	ann.sees("#standup-x", "[dinesh] done: login.html is there, in dark green.")
	ann.sees("#project-x", "[em] The login page is ready for you to look at.")
	ann.sees("#alerts", `[COMPLETE] em finished task "build the login page": Done. Results in #project-x.`) // the alert must not be sent earlier
	ann.sees("#project-x", "[em] Done.")
	if got := p.read("login/login.html"); !strings.Contains(got, "darkgreen") {
		t.Errorf("login.html is %q", got)
	}

	// The mailboxes contain everything that was said.
	drops := p.drops("em") + p.drops("dinesh") + p.drops("irc")
	for _, said := range []string{
		"[IRC @mention in #project-x] <ann> TASK: @em build the login page", "Make login.html, and ask the lead for the colour.",
		"Which colour shall it have?", "<ann> dinesh: dark green", "login.html is there, in dark green.", "The login page is ready for you to look at.",
	} {
		if !strings.Contains(drops, said) {
			t.Errorf("no drop holds %q", said)
		}
	}
	for _, q := range p.requests() {
		if q.Reply == "assign" && !strings.Contains(q.All, "People follow the work on IRC and talk in #project-x") {
			t.Error("the system prompt of em does not mention the channel")
		}
	}

	// A person can also control the swarm from IRC.
	ann.types("#project-x", "swarm: pause dinesh")
	ann.sees("#project-x", "dinesh is paused")
	if a := p.agent("dinesh"); a.State != "paused" || !strings.Contains(a.Why, "ann on IRC") {
		t.Errorf("dinesh is %s: %s", a.State, a.Why)
	}
	ann.types("#project-x", "swarm: status dinesh")
	ann.sees("#project-x", "dinesh paused for ")
	ann.types("#project-x", "swarm: halt")
	ann.sees("#project-x", "halted: no new turn begins")
	if !p.status().Halted {
		t.Error("the swarm is not halted")
	}
	ann.types("#project-x", "swarm: unhalt")
	ann.sees("#project-x", "the agents work again")
}

// drops returns the text of all messages in a mailbox.
func (p *project) drops(name string) string {
	p.t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(filepath.Join(p.dir, ".dead-drop", name), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".md") {
			return err
		}
		data, err := os.ReadFile(path)
		all.Write(data)
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return all.String()
}
