package shown_test

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/claude-swarm/claude-swarm/internal/testkit/irctest"
	"github.com/claude-swarm/claude-swarm/internal/testkit/need"
)

// A service is a container in a compose file.
type service struct {
	Command     string            `yaml:"command"`
	WorkingDir  string            `yaml:"working_dir"`
	Environment map[string]string `yaml:"environment"`
	Volumes     []string          `yaml:"volumes"`
}

// volume returns the source of the volume at a path: a folder on the host, or the name of a
// volume.
func (s service) volume(at string) string {
	for _, v := range s.Volumes {
		if from, to, ok := strings.Cut(v, ":"); ok && to == at {
			return from
		}
	}
	return ""
}

// runIn runs a service's command with the service's volumes, a separate home folder and a
// separate process namespace. volumes is the folder that contains all volumes and home
// folders.
func (s service) runIn(t *testing.T, c *console, volumes string, name string) {
	t.Helper()
	runtime := s.volume(s.Environment["XDG_RUNTIME_DIR"])
	if s.volume(s.WorkingDir) != "." || runtime == "" || runtime == "." {
		t.Fatalf("%s: working_dir %s, volumes %q and the runtime folder %q do not fit together", name, s.WorkingDir, s.Volumes, s.Environment["XDG_RUNTIME_DIR"])
	}
	all, err := os.ReadDir(volumes)
	if err != nil {
		t.Fatal(err)
	}
	script := "set -e\n"
	for _, v := range all {
		if v.Name() != runtime && v.Name() != "home-"+name {
			script += "mount -t tmpfs none " + filepath.Join(volumes, v.Name()) + "\n"
		}
	}
	cmd := exec.Command("unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc",
		"sh", "-c", script+"exec "+s.Command)
	cmd.Dir = c.dir
	cmd.Env = append(c.env, "HOME="+filepath.Join(volumes, "home-"+name), "XDG_RUNTIME_DIR="+filepath.Join(volumes, runtime))
	log, err := os.Create(filepath.Join(filepath.Dir(volumes), name+".log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGKILL) // its child process ends with it
		_ = cmd.Wait()
		if t.Failed() {
			said, _ := os.ReadFile(log.Name())
			t.Logf("%s says:\n%s", name, said)
		}
		_ = log.Close()
	})
}

// With the compose file from the page on IRC, the bridge can send tasks and orders to the
// swarm, although neither has access to the other's processes or home folder.
func TestTheContainersOfThePageOnIRC(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	if err := exec.Command("unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--mount-proc", "true").Run(); err != nil {
		t.Log(err)
		need.Missing(t, "unshare with a user namespace")
	}
	_, rest, ok := strings.Cut(read(t, "../irc.md"), "```yaml\n# compose.yaml\n")
	text, _, ok2 := strings.Cut(rest, "```")
	if !ok || !ok2 {
		t.Fatal("irc.md has no compose.yaml")
	}
	var file struct {
		Services map[string]service `yaml:"services"`
		Volumes  map[string]any     `yaml:"volumes"`
	}
	if err := yaml.Unmarshal([]byte(text), &file); err != nil {
		t.Fatal(err)
	}
	swarm, bridge := file.Services["swarm"], file.Services["bridge"]
	for _, s := range []service{swarm, bridge, file.Services["irc"]} {
		for _, v := range s.Volumes {
			if from, _, _ := strings.Cut(v, ":"); from != "." {
				if _, known := file.Volumes[from]; !known {
					t.Errorf("the volume %s is not declared", from)
				}
			}
		}
	}

	addr := irctest.Ngircd(t, irctest.Unlimited)
	c := newConsole(t)
	text = fmt.Sprintf("irc: {server: %q, apart: true, slug: x, rate: 0, allow: [{nick: ann, may: [talk, task, control]}]}\nagents: {coder: }\n", addr)
	if err := os.WriteFile(filepath.Join(c.dir, "claude-swarm.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := c.run(t.Context(), "claude-swarm init"); err != nil {
		t.Fatalf("init: %v\n%s", err, out)
	}
	volumes := filepath.Join(filepath.Dir(c.dir), "v")
	for _, name := range append(slices.Collect(maps.Keys(file.Volumes)), "home-swarm", "home-bridge") {
		if err := os.MkdirAll(filepath.Join(volumes, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	swarm.runIn(t, c, volumes, "swarm")
	for deadline := time.Now().Add(patience); !strings.Contains(read(t, filepath.Join(filepath.Dir(volumes), "swarm.log")), "ready, pid"); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the swarm is not ready")
		}
	}
	bridge.runIn(t, c, volumes, "bridge")

	ann := chat(t, addr, "ann", "#project-x")
	ann.says("swarm: pause coder", "coder is paused")
	ann.says("TASK: @coder say hello", "coder has it")
	ann.says("swarm: status", "coder paused")
	ann.says("swarm: resume coder", "[coder] ann: ")
}

// A person is a connection to an IRC server that has joined one channel.
type person struct {
	t       *testing.T
	conn    net.Conn
	in      *bufio.Scanner
	channel string
}

// chat joins a channel and waits until the swarm joins it.
func chat(t *testing.T, addr, nick, channel string) *person {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	p := &person{t, conn, bufio.NewScanner(conn), channel}
	p.types("NICK " + nick + "\r\nUSER " + nick + " 0 * :" + nick)
	p.sees(" 001 ")
	p.types("JOIN " + channel)
	if names := p.sees(" 353 "); !strings.Contains(names, "swarm") {
		p.sees("swarm!")
	}
	return p
}

func (p *person) types(line string) {
	p.t.Helper()
	if _, err := fmt.Fprintf(p.conn, "%s\r\n", line); err != nil {
		p.t.Fatal(err)
	}
}

// sees waits for a line that contains the given text.
func (p *person) sees(part string) string {
	p.t.Helper()
	for p.in.Scan() {
		line := p.in.Text()
		if strings.Contains(line, "no daemon is running") {
			p.t.Fatalf("the bridge does not reach the daemon: %s", line)
		}
		if token, ok := strings.CutPrefix(line, "PING "); ok {
			p.types("PONG " + token)
		}
		if strings.Contains(line, part) {
			return line
		}
	}
	p.t.Fatalf("%q never comes: %v", part, p.in.Err())
	return ""
}

// says sends line to the channel and waits for a line that contains leads.
func (p *person) says(line, leads string) {
	p.t.Helper()
	p.types("PRIVMSG " + p.channel + " :" + line)
	p.sees(leads)
}
