package image_test

import (
	"bytes"
	"context"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/claude-swarm/claude-swarm/internal/fakeapi"
	"github.com/claude-swarm/claude-swarm/internal/testkit/need"
)

// patience is the timeout for one command; the longest installs Debian's packages.
const patience = 20 * time.Minute

// compose is the part of a compose file that the test uses.
type compose struct {
	Services map[string]struct {
		Command     string            `yaml:"command"`
		WorkingDir  string            `yaml:"working_dir"`
		Environment map[string]string `yaml:"environment"`
		Volumes     []string          `yaml:"volumes"`
		Image       string            `yaml:"image"`
	} `yaml:"services"`
	Volumes map[string]any `yaml:"volumes"`
}

// model is a scripted model that writes a file.
const model = `{"replies":[
	{"name":"write","times":1,"match":{"last_user_contains":"Write hello"},"content":[{"tool_use":{"name":"Write","input":{"file_path":"/project/hello.txt","content":"hello\n"}}}]},
	{"name":"rest","times":-1,"text":"It is written."}]}`

// builder runs buildah with a separate store.
type builder struct {
	t   *testing.T
	env []string
	dir string
}

func (b *builder) run(name string, args ...string) string {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = b.dir, b.env, &out, &errs
	if err := cmd.Run(); err != nil {
		b.t.Fatalf("%s %q: %v\n%s\n%s", name, args, err, tail(out.String()), tail(errs.String()))
	}
	return strings.TrimSpace(out.String())
}

func tail(text string) string { return text[max(0, len(text)-4000):] }

// newBuilder makes an image of a fresh Debian under the name that the Dockerfile uses. The
// image trusts the certificates of this machine, and needs no answers from a person.
func newBuilder(t *testing.T) *builder {
	t.Helper()
	top := t.TempDir()
	config := filepath.Join(top, "storage.conf")
	text := "[storage]\ndriver = \"vfs\"\nrunroot = \"" + top + "/run\"\ngraphroot = \"" + top + "/graph\"\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b := &builder{t: t, dir: top, env: append(os.Environ(), "CONTAINERS_STORAGE_CONF="+config, "BUILDAH_ISOLATION=chroot")}
	t.Cleanup(func() {
		cmd := exec.Command("buildah", "rm", "--all")
		cmd.Env = b.env
		_ = cmd.Run() // unmounts; without containers there is nothing to do
	})
	root := filepath.Join(top, "debian")
	b.run("debootstrap", "--variant=minbase", "bookworm", root)
	from := b.run("buildah", "from", "scratch")
	b.run("buildah", "add", "--quiet", from, root, "/")
	b.run("buildah", "copy", "--quiet", from, "/etc/ssl/certs/ca-certificates.crt", "/etc/ssl/this-machine.crt")
	b.run("buildah", "config", "--env", "NODE_EXTRA_CA_CERTS=/etc/ssl/this-machine.crt", "--env", "npm_config_cafile=/etc/ssl/this-machine.crt", from)
	b.run("buildah", "commit", "--quiet", from, "docker.io/library/debian:bookworm-slim")
	return b
}

// The image of examples/container is built on a fresh Debian, and an agent does a task in it.
func TestAnAgentInTheImage(t *testing.T) {
	if testing.Short() {
		t.Skip("installs a system")
	}
	need.Programs(t, "debootstrap", "buildah", "make")
	if os.Getuid() != 0 {
		need.Missing(t, "root")
	}
	repository, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	var file compose
	text, err := os.ReadFile(filepath.Join(repository, "examples/container/compose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	service := file.Services["swarm"]

	b := newBuilder(t)
	files := filepath.Join(b.dir, "files")
	if err := os.CopyFS(files, os.DirFS(filepath.Join(repository, "examples/container"))); err != nil {
		t.Fatal(err)
	}
	b.run("make", "-C", repository, "packages", "DIST="+files, "PLATFORMS=linux/"+runtime.GOARCH)
	b.run("buildah", "bud", "--quiet", "--pull-never", "--network=host", "--build-arg", "UID=4711", "--tag", service.Image, files)

	scenario, err := fakeapi.Load(strings.NewReader(model))
	if err != nil {
		t.Fatal(err)
	}
	api := httptest.NewServer(fakeapi.New(scenario, nil))
	defer api.Close()
	project := filepath.Join(b.dir, "project")
	container := b.run("buildah", "from", "--pull-never", "localhost/"+service.Image)
	args := []string{"run", "--network=host", "--workingdir=" + service.WorkingDir, "--env=ANTHROPIC_BASE_URL=" + api.URL}
	for name := range service.Environment {
		if name != "ANTHROPIC_API_KEY" {
			t.Errorf("compose.yaml sets %s, which this test does not know", name)
		}
		args = append(args, "--env="+name+"=sk-ant-test-0000")
	}
	for _, v := range []string{"DISABLE_AUTOUPDATER", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING"} {
		args = append(args, "--env="+v+"=1")
	}
	for _, volume := range service.Volumes {
		from, to, _ := strings.Cut(strings.ReplaceAll(volume, "${PROJECT:-.}", project), ":")
		if _, named := file.Volumes[from]; named {
			from = filepath.Join(b.dir, from)
		} else if from != project {
			t.Fatalf("compose.yaml has the volume %s, which this test does not know", volume)
		}
		if err := os.MkdirAll(from, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(from, 4711, 4711); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--volume="+from+":"+to)
	}
	args = append(args, container, "--")
	inside := func(words ...string) string {
		t.Helper()
		return b.run("buildah", append(args[:len(args):len(args)], words...)...)
	}

	inside("claude-swarm", "init", "--agent", "coder")
	daemon := exec.Command("buildah", append(args[:len(args):len(args)], strings.Fields(service.Command)...)...)
	daemon.Env, daemon.Dir = b.env, b.dir
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- daemon.Wait() }()
	defer func() {
		_ = daemon.Process.Kill() // it still runs only if the test failed
		<-ended
	}()
	for deadline := time.Now().Add(time.Minute); !strings.Contains(inside("claude-swarm", "status"), "daemon pid"); time.Sleep(time.Second) {
		if time.Now().After(deadline) {
			t.Fatal("the daemon does not start")
		}
	}
	if said := inside("claude-swarm", "send", "coder", "Write hello into hello.txt.", "--wait=2m"); !strings.HasSuffix(said, "It is written.") {
		t.Errorf("the answer is %q", said)
	}
	info, err := os.Stat(filepath.Join(project, "hello.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if out := b.run("stat", "-c", "%u", filepath.Join(project, info.Name())); out != "4711" {
		t.Errorf("the agent's file belongs to user %s, want 4711", out)
	}
	// A file that is dropped from outside is a task as well.
	if err := os.WriteFile(filepath.Join(project, ".dead-drop/coder/task.md"), []byte("One more.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); !strings.Contains(inside("claude-swarm", "inbox"), "Re: One more."); time.Sleep(time.Second) {
		if time.Now().After(deadline) {
			t.Fatal("the dropped file is not answered")
		}
	}
	inside("claude-swarm", "stop")
	err = <-ended
	ended <- nil
	if err != nil {
		t.Errorf("the daemon ended with %v", err)
	}
}
