package main

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/fakeapi"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/runner/claude"
)

// The demo's files.
var (
	//go:embed demo/claude-swarm.yaml
	demoConfig string
	//go:embed demo/scenario.json
	demoScenario string
	//go:embed demo/greet.sh
	demoScript string
	//go:embed demo/task.md
	demoTask string
)

// A stage is the scratch folder of a demo and the processes that run there.
//
//	DIR/project  the git repository with the two agents
//	DIR/home     HOME of all processes, unless the demo is live, so that they neither read nor
//	             change the person's settings and sessions
//	DIR/bin      a link named claude-swarm to this program, whatever its file is called
type stage struct {
	dir, runtime string // runtime contains the socket, whose path must be short
	keep, live   bool
	client       demoClient
	began        time.Time
	out          io.Writer
	pal          palette
	daemon       *child
	env          []string

	stopAPI func()
	apiDone func() error
}

// newStage creates the folders of a stage. The caller must call clear on the stage.
func newStage(ctx context.Context, dir string, keep, live bool) (*stage, error) {
	s := &stage{keep: keep || dir != "", live: live, began: time.Now(), out: io.Discard}
	if _, err := exec.LookPath("git"); err != nil {
		return nil, fail(exitFailed, "apt-get install git", "the demo needs git, which is not on the PATH")
	}
	var err error
	if s.client, err = findClient(ctx); err != nil {
		return nil, err
	}
	if err := s.makeFolder(dir); err != nil {
		return nil, err
	}
	for _, d := range []string{"project", "home", "bin"} {
		if err := os.Mkdir(filepath.Join(s.dir, d), 0o700); err != nil {
			return nil, errors.Join(err, s.clear(ctx))
		}
	}
	self, err := ownProgram()
	if err == nil {
		err = os.Symlink(self, s.program())
	}
	if err == nil {
		s.runtime, err = os.MkdirTemp("/tmp", "swarm-")
	}
	if err != nil {
		return nil, errors.Join(err, s.clear(ctx))
	}
	s.env = s.environ(os.Environ())
	return s, nil
}

// makeFolder creates the folder or uses an existing empty one. It sets s.dir to the folder's
// path without symbolic links, because the agents see that path.
func (s *stage) makeFolder(dir string) error {
	var err error
	if dir == "" {
		dir, err = os.MkdirTemp("", "claude-swarm-demo-")
	} else {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return fmt.Errorf("prepare the demo folder: %w", err)
	}
	if s.dir, err = filepath.EvalSymlinks(dir); err == nil {
		s.dir, err = filepath.Abs(s.dir)
	}
	if err != nil {
		return fmt.Errorf("prepare the demo folder: %w", err)
	}
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return fmt.Errorf("prepare the demo folder: %w", err)
	}
	if len(entries) > 0 {
		return fail(exitFailed, "claude-swarm demo --dir "+shellWord(s.dir+"/demo"), "%s is not empty", s.dir)
	}
	return nil
}

// path returns the path of a file in the repository.
func (s *stage) path(name string) string { return filepath.Join(s.dir, "project", name) }

func (s *stage) program() string { return filepath.Join(s.dir, "bin", "claude-swarm") }

// environ returns the environment of all processes on the stage. In a live demo, it is the
// person's environment with a few changes. Otherwise, only PATH, LANG and TMPDIR come from
// the person's environment.
func (s *stage) environ(base []string) []string {
	if s.live {
		env := withoutMarks(base)
		return append(env, "PATH="+filepath.Dir(s.program())+":"+os.Getenv("PATH"), "XDG_RUNTIME_DIR="+s.runtime)
	}
	return []string{
		"PATH=" + filepath.Dir(s.program()) + ":" + os.Getenv("PATH"),
		"HOME=" + filepath.Join(s.dir, "home"),
		"XDG_RUNTIME_DIR=" + s.runtime,
		"LANG=" + cmp.Or(os.Getenv("LANG"), "C.UTF-8"),
		"TMPDIR=" + os.TempDir(),
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
	}
}

// run prepares a command that runs in the repository. The command gets its own process
// group, so that Ctrl-C sends a signal only to the demo, which then stops its child
// processes itself.
func (s *stage) run(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = s.path(""), s.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// self prepares a command that runs a verb of this program.
func (s *stage) self(ctx context.Context, args ...string) *exec.Cmd {
	return s.run(ctx, s.program(), args...)
}

func (s *stage) git(ctx context.Context, args ...string) (string, error) {
	cmd := s.run(ctx, "git", append([]string{
		"-c", "user.name=claude-swarm demo", "-c", "user.email=demo@localhost", "-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null",
	}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(out))
	}
	return string(out), nil
}

// build creates the repository with a script that has a bug, the task, and the
// configuration.
func (s *stage) build(ctx context.Context) error {
	api := ""
	if !s.live {
		var err error
		if api, err = s.startAPI(ctx); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{
		"greet.sh": demoScript, "task.md": demoTask, config.Name: s.config(api),
	} {
		if err := os.WriteFile(s.path(name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	if _, err := s.git(ctx, "init", "-q", "-b", "main"); err != nil {
		return err
	}
	s.command("git init && claude-swarm init")
	out, err := s.self(ctx, "init").CombinedOutput()
	s.say("%s", out)
	if err != nil {
		return fmt.Errorf("init: %w", err)
	}
	if _, err := s.git(ctx, "add", "-A"); err != nil {
		return err
	}
	_, err = s.git(ctx, "commit", "-q", "-m", "begin")
	return err
}

// config returns the demo's configuration with this stage's client and its environment.
func (s *stage) config(api string) string {
	env := ""
	if api != "" {
		env = "  env:\n"
		for _, kv := range [][2]string{
			{"ANTHROPIC_BASE_URL", api},
			{"ANTHROPIC_API_KEY", "sk-ant-demo-0000"},
			{"CLAUDE_CONFIG_DIR", filepath.Join(s.dir, "home", ".claude")},
			{"CLAUDE_CODE_MAX_RETRIES", "1"},
			// The following four variables prevent the client from contacting its vendor.
			{"DISABLE_AUTOUPDATER", "1"},
			{"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"},
			{"DISABLE_TELEMETRY", "1"},
			{"DISABLE_ERROR_REPORTING", "1"},
		} {
			env += "    " + kv[0] + ": " + jsonText(kv[1]) + "\n"
		}
	}
	out := strings.Replace(demoConfig, "@COMMAND@", jsonText(s.client.command), 1)
	return strings.Replace(out, "@ENV@", env, 1)
}

// script returns the scenario for the scripted model with this stage's paths.
func (s *stage) script() string {
	return strings.ReplaceAll(demoScenario, "@DIR@", strings.Trim(jsonText(s.path("")), `"`))
}

// jsonText returns v as JSON, which is also valid YAML.
func jsonText(v any) string {
	data, _ := json.Marshal(v) // encoding strings never fails
	return string(data)
}

// startAPI starts the scripted model's API server and returns its URL.
func (s *stage) startAPI(ctx context.Context) (string, error) {
	scenario, err := fakeapi.Load(strings.NewReader(s.script()))
	if err != nil {
		return "", fmt.Errorf("load the demo script: %w", err)
	}
	ctx, s.stopAPI = context.WithCancel(context.WithoutCancel(ctx))
	url, wait, err := fakeapi.Listen(ctx, "127.0.0.1:0", fakeapi.New(scenario, io.Discard))
	s.apiDone = wait
	return url, err
}

// clear stops all processes on the stage. It also removes the folder unless the person
// wants to keep it.
func (s *stage) clear(ctx context.Context) error {
	err := s.stopDaemon(ctx)
	if s.stopAPI != nil {
		s.stopAPI()
		err = errors.Join(err, s.apiDone())
	}
	if s.runtime != "" {
		err = errors.Join(err, os.RemoveAll(s.runtime))
	}
	if !s.keep && s.dir != "" {
		err = errors.Join(err, os.RemoveAll(s.dir))
	}
	return err
}

// A demoClient is the client program that the demo's agents use.
type demoClient struct {
	command []string
	about   string
}

var supported = " (supported: " + claude.Supported + ")"

// findClient looks for the claude program on the PATH. It also checks the folder in which `make
// demo` installs claude, below each of three folders: the working directory, this program's
// folder, and that folder's parent.
func findClient(ctx context.Context) (demoClient, error) {
	install := claude.Kind().Install
	var paths []string
	if path, err := exec.LookPath("claude"); err == nil {
		paths = append(paths, path)
	}
	var from []string
	if dir, err := os.Getwd(); err == nil {
		from = append(from, dir)
	}
	if self, err := ownProgram(); err == nil {
		from = append(from, filepath.Dir(self), filepath.Dir(filepath.Dir(self)))
	}
	for _, dir := range from {
		path := filepath.Join(dir, ".tools", "claude", claude.Newest, "node_modules", ".bin", "claude")
		if _, err := os.Stat(path); err == nil {
			paths = append(paths, path)
		}
	}
	missing := fail(exitFailed, install, "the demo needs the claude program, which is not on the PATH")
	for _, path := range paths {
		path, err := filepath.Abs(path)
		if err != nil {
			continue
		}
		ask, cancel := context.WithTimeout(ctx, 20*time.Second)
		out, err := exec.CommandContext(ask, path, "--version").Output()
		cancel()
		if err != nil {
			missing = fail(exitFailed, install, "the demo needs the claude program, and %s --version fails: %v", path, err)
			continue
		}
		version, _, _ := strings.Cut(screen.OneLine(string(out)), " ")
		return demoClient{command: []string{path}, about: "the real one: claude " + screen.Cut(version, 40) + supported}, nil
	}
	return demoClient{}, missing
}
