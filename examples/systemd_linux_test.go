package examples_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/testkit/need"
)

// unitFile is the unit, and the place where a person copies it.
const (
	unitFile = "systemd/claude-swarm.service"
	unitDir  = ".config/systemd/user"
)

// systemd itself accepts the unit, and rejects one with a wrong value, an unknown key or
// a program that is missing.
func TestSystemdAcceptsTheUnit(t *testing.T) {
	need.Program(t, "systemd-analyze")
	s := unitHome(t)
	unit, err := os.ReadFile(filepath.Join(s.dir, unitDir, "claude-swarm.service"))
	if err != nil {
		t.Fatal(err)
	}
	for change, wrong := range map[string]bool{
		"": false, "KillMode=proces": true, "KilMode=process": true, "ExecStart=%h/nowhere/claude-swarm start": true,
	} {
		text := string(unit)
		if strings.HasPrefix(change, "ExecStart") {
			text = strings.Replace(text, "ExecStart=", "#", 1)
		}
		text = strings.Replace(text, "[Service]\n", "[Service]\n"+change+"\n", 1)
		file := filepath.Join(t.TempDir(), "claude-swarm.service")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("systemd-analyze", "--user", "--man=no", "--recursive-errors=yes", "verify", file)
		cmd.Env = s.env
		if out, err := cmd.CombinedOutput(); (err != nil) != wrong {
			t.Errorf("%q: %v\n%s", change, err, out)
		}
	}
}

// unitHome creates a home folder with the unit, the program, the stand-in for the client,
// and the project that the unit names.
func unitHome(t *testing.T) *swarm {
	t.Helper()
	s := copyExample(t, "solo")
	home := filepath.Join(filepath.Dir(s.dir), "home")
	bin, _ := built()
	for _, dir := range []string{unitDir, ".local/bin", "projects"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	unit, err := os.ReadFile(unitFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, unitDir, "claude-swarm.service"), unit, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{"claude-swarm", "claude"} {
		if err := os.Symlink(filepath.Join(bin, program), filepath.Join(home, ".local/bin", program)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(s.dir, filepath.Join(home, "projects/example")); err != nil {
		t.Fatal(err)
	}
	s.dir = home
	return s
}

// inSystemd is a script that runs systemd's manager of a user's services, in namespaces of
// processes, mounts and control groups, and then the commands in $1.
const inSystemd = `set -e
mount -t tmpfs none /run
mkdir -p /run/systemd/system # else the manager says that systemd is not running
mount -t cgroup2 none /sys/fs/cgroup
group=$(mktemp -d /sys/fs/cgroup/swarm-test-XXXXXX)
echo $$ >"$group/cgroup.procs"
/lib/systemd/systemd --user --unit=basic.target >"$HOME/systemd.log" 2>&1 &
manager=$!
until systemctl --user is-active -q basic.target 2>/dev/null; do sleep 0.1; done
eval "$1"
kill $manager
wait $manager
echo $$ >/sys/fs/cgroup/cgroup.procs
find "$group" -depth -type d -exec rmdir {} +
`

// systemd starts the unit, and starts it again after a crash. The client that was working
// then goes on, and its answer arrives. A stop waits for the running turn. A mistake in
// the configuration is reported, and no start is repeated for it.
func TestTheUnitRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	need.Program(t, "systemctl")
	unshare := []string{"--mount", "--pid", "--fork", "--mount-proc", "--cgroup", "--kill-child", "sh", "-c"}
	if out, err := exec.Command("unshare", append(unshare, "mount -t cgroup2 none /sys/fs/cgroup && rmdir $(mktemp -d /sys/fs/cgroup/swarm-test-XXXXXX) && test -x /lib/systemd/systemd")...).CombinedOutput(); err != nil {
		t.Logf("%v\n%s", err, out)
		need.Missing(t, "systemd for a user, in a namespace")
	}
	s := unitHome(t)
	const script = `
cd ~/projects/example
claude-swarm init
systemctl --user start claude-swarm
until claude-swarm status | grep -q "daemon pid"; do sleep 0.1; done

echo "== a crash"
claude-swarm send coder "@sh touch began; sleep 2; touch survived"
until test -e began; do sleep 0.1; done
kill -9 $(systemctl --user show -P MainPID claude-swarm)
until test "$(systemctl --user show -P NRestarts claude-swarm)" = 1; do sleep 0.1; done
until claude-swarm inbox | grep -q "Re: @sh touch began"; do sleep 0.1; done
claude-swarm history coder
ls survived

echo "== a stop"
claude-swarm send coder "@sh touch again; sleep 2; touch finished"
until test -e again; do sleep 0.1; done
systemctl --user stop claude-swarm
ls finished
systemctl --user show -P Result claude-swarm

echo "== a mistake"
echo "agnets: {}" >>claude-swarm.yaml
systemctl --user start claude-swarm || true
until systemctl --user is-failed -q claude-swarm; do sleep 0.1; done
systemctl --user show -P ExecMainStatus claude-swarm
systemctl --user show -P NRestarts claude-swarm
`
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "unshare", append(unshare, inSystemd, "sh", script)...)
	cmd.Env = append(s.env, "container=test", "LANG=C.UTF-8")
	out, err := cmd.CombinedOutput()
	if err != nil {
		log, _ := os.ReadFile(filepath.Join(s.dir, "systemd.log"))
		t.Fatalf("%v\n%s\n%s", err, out, log)
	}
	_, crash, _ := strings.Cut(string(out), "== a crash\n")
	crash, stop, _ := strings.Cut(crash, "== a stop\n")
	stop, mistake, _ := strings.Cut(stop, "== a mistake\n")
	if !strings.Contains(crash, "survived") || !strings.Contains(crash, "1 turn ") {
		t.Errorf("the turn did not survive the crash of the daemon:\n%s", crash)
	}
	if !strings.HasSuffix(stop, "finished\nsuccess\n") {
		t.Errorf("the turn did not finish before the stop:\n%s", stop)
	}
	if fields := strings.Fields(mistake); fmt.Sprint(fields[max(0, len(fields)-2):]) != "[78 0]" {
		t.Errorf("exit status and number of restarts after a mistake, want 78 and 0:\n%s", mistake)
	}
}
