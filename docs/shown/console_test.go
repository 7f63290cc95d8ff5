package shown_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/fakeapi"
	"github.com/claude-swarm/claude-swarm/internal/testkit/need"
)

// A console is a terminal in a scratch project with a small git repository, a separate
// home folder, and a client whose model answers from testdata/model.json.
type console struct {
	t   *testing.T
	dir string
	env []string
	ids map[string]string // maps ids on the page to ids of this run
}

func newConsole(t *testing.T) *console {
	t.Helper()
	bin := program(t)
	top, err := os.MkdirTemp("", "cs") // short, because the path of the daemon's socket begins with it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(top) })
	c := &console{t: t, dir: filepath.Join(top, "greet"), ids: make(map[string]string)}
	if err := os.CopyFS(c.dir, os.DirFS("testdata/greet")); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"home", "run"} {
		if err := os.Mkdir(filepath.Join(top, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	scenario, err := fakeapi.Load(strings.NewReader(read(t, "testdata/model.json")))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(fakeapi.New(scenario, io.Discard))
	t.Cleanup(server.Close)
	c.env = []string{
		"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"),
		"HOME=" + filepath.Join(top, "home"), "XDG_RUNTIME_DIR=" + filepath.Join(top, "run"), "TZ=UTC", "LANG=C.UTF-8",
		"ANTHROPIC_BASE_URL=" + server.URL, "ANTHROPIC_API_KEY=sk-ant-test-0000",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
	}
	t.Cleanup(func() {
		// A daemon is still running only if the test failed.
		_, _ = c.run(context.Background(), "claude-swarm stop --now")
	})
	if out, err := c.run(t.Context(), "git init -q . && git add . && git -c user.name=ada -c user.email=ada@example.com commit -q -m begin"); err != nil {
		t.Fatalf("make a repository: %v\n%s", err, out)
	}
	return c
}

// shownDir is the project folder that the pages show.
const shownDir = "/home/ada/greet"

// run runs a command line and returns everything that the terminal would show.
func (c *console) run(ctx context.Context, line string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = c.dir, c.env, &out, &out
	err := cmd.Run()
	return strings.ReplaceAll(out.String(), c.dir, shownDir), err
}

// quiet waits until no agent is working or has mail to work on, so that the output of a
// command does not depend on the speed of this machine.
func (c *console) quiet() {
	c.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(30 * time.Millisecond) {
		busy := c.busy()
		if busy == "" {
			return
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("after %v %s", patience, busy)
		}
	}
}

// wait waits until an agent has finished a turn.
func (c *console) wait(agent string) {
	c.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(30 * time.Millisecond) {
		out, err := c.run(c.t.Context(), "claude-swarm history "+agent+" --json")
		if err == nil && strings.Contains(out, `"outcome"`) {
			c.quiet()
			return
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("%s has done nothing after %v: %v\n%s", agent, patience, err, out)
		}
	}
}

func (c *console) busy() string {
	dropped, err := filepath.Glob(filepath.Join(c.dir, ".dead-drop", "*", "*.md"))
	if err != nil {
		c.t.Fatal(err)
	}
	out, err := c.run(c.t.Context(), "claude-swarm status --json 2>/dev/null")
	if err != nil {
		return "" // no project yet
	}
	matchesStatus(c.t, []byte(out))
	var st struct {
		Daemon any
		Halted bool
		Agents []struct{ Name, State string }
	}
	if err := json.Unmarshal([]byte(out), &st); err != nil {
		c.t.Fatal(err)
	}
	if st.Daemon == nil {
		return ""
	}
	if len(dropped) > 0 {
		return "there is still " + dropped[0]
	}
	for _, a := range st.Agents {
		switch {
		case a.State == "starting", a.State == "queued", a.State == "working":
			return a.Name + " is " + a.State
		case a.State == "idle" && !st.Halted:
			// Mail appears in the folders before the agent notices it.
			mail, err := filepath.Glob(filepath.Join(c.dir, ".dead-drop", a.Name, "[nc][eu][wr]", "*.md"))
			if err != nil || len(mail) > 0 {
				return fmt.Sprintf("%s has mail: %q, %v", a.Name, mail, err)
			}
		}
	}
	return ""
}

var block = regexp.MustCompile("(?ms)^```console\n(.*?)^```$")

// play runs the blocks of a page in order. With UPDATE, it returns the page with the new
// output; otherwise it compares the output with the page.
func (c *console) play(page, text string) string {
	c.t.Helper()
	return block.ReplaceAllStringFunc(text, func(b string) string {
		var out strings.Builder
		out.WriteString("```console\n")
		steps := strings.Split(strings.TrimSuffix(strings.TrimPrefix(b, "```console\n"), "```"), "\n$ ")
		for i, step := range steps {
			if i == 0 {
				step = strings.TrimPrefix(step, "$ ")
			}
			line, want, _ := strings.Cut(step, "\n")
			out.WriteString("$ " + line + "\n")
			c.quiet()
			got, _ := c.run(c.t.Context(), c.rename(line)) // the output shows any failure
			out.WriteString(c.compare(page, line, strings.TrimSuffix(want, "\n"), strings.TrimSuffix(got, "\n")))
		}
		return out.String() + "```"
	})
}

// compare returns the output that the page should show for a command. If the page's
// current text matches the printed output, compare returns that text unchanged.
func (c *console) compare(page, line, want, got string) string {
	c.t.Helper()
	re, ids := c.pattern(want)
	m := re.FindStringSubmatch(got)
	switch {
	case m != nil:
		for i, id := range ids {
			c.ids[id] = m[i+1]
		}
	case !update || strings.Contains("\n"+want+"\n", "\n…\n"): // only a person can decide how to shorten the output
		c.t.Errorf("%s shows for %q\n%s\nand this is printed:\n%s", page, line, want, got)
	default:
		want = c.shown(got)
	}
	if want == "" {
		return ""
	}
	return want + "\n"
}

// shown returns the output with the ids that the page uses. A new id gets a digit so that
// it is recognized as an id.
func (c *console) shown(got string) string {
	ofPage := make(map[string]string)
	for id, now := range c.ids {
		ofPage[now] = id
	}
	for _, id := range c.messages() {
		if ofPage[id] == "" {
			known := id
			if !strings.ContainsAny(id, "234567") {
				known = id[:9] + "7"
			}
			c.ids[known], ofPage[id] = id, known
		}
		got = strings.ReplaceAll(got, id, ofPage[id])
	}
	return got
}

// messages returns the ids of all messages of this run.
func (c *console) messages() []string {
	var ids []string
	err := filepath.WalkDir(filepath.Join(c.dir, ".dead-drop"), func(path string, d fs.DirEntry, err error) error {
		if e, bad := dropbox.ParseName(filepath.Base(path)); err == nil && bad == nil {
			ids = append(ids, e.ID)
		}
		return nil
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return ids
}

var (
	// idShape matches an id, but also any word of ten letters. For this reason, the new
	// ids on a page contain a digit.
	idShape = regexp.MustCompile(`\b[a-z2-7]{10}\b`)
	// These parts, and the number of spaces around them, differ from run to run. If a
	// string is truncated at the end of a line, its length depends on the width of the
	// part before it.
	varied = regexp.MustCompile(`\b[a-z2-7]{10}\b|\b[0-9a-f]{8}…|[^0-9\n]{1,12}…\n|[0-9]+([.,:][0-9]+)*|\b(ms|s|min)\b| +|\n…\n`)
)

// rename replaces the ids on the page with the ids of this run.
func (c *console) rename(text string) string {
	return idShape.ReplaceAllStringFunc(text, func(id string) string {
		if now, ok := c.ids[id]; ok {
			return now
		}
		return id
	})
}

// pattern returns a regular expression that matches want, the output on a page, with any
// ids, numbers and times. It also returns the new ids in want. The expression has one
// group for each new id.
func (c *console) pattern(want string) (*regexp.Regexp, []string) {
	var b strings.Builder
	var ids []string
	at := 0
	want = c.rename(want)
	for _, span := range varied.FindAllStringIndex(want, -1) {
		b.WriteString(regexp.QuoteMeta(want[at:span[0]]))
		at = span[1]
		switch text := want[span[0]:span[1]]; {
		case text == "\n…\n":
			b.WriteString(`\n(?:.*\n)*?`)
		case strings.HasSuffix(text, "…\n"):
			b.WriteString(`[^\n]{0,24}…\n`)
		case strings.TrimSpace(text) == "":
			b.WriteString(` +`)
		case text == "ms" || text == "s" || text == "min":
			b.WriteString(`(?:ms|s|min)`)
		case strings.HasSuffix(text, "…"):
			b.WriteString(`[0-9a-f]{8}…`)
		case len(text) == 10 && !c.known(text) && strings.ContainsAny(text, "234567") && !isNumber(text):
			ids = append(ids, text)
			b.WriteString(`([a-z2-7]{10})`)
		case isNumber(text):
			b.WriteString(`[0-9]+(?:[.,:][0-9]+)*`)
		default:
			b.WriteString(regexp.QuoteMeta(text))
		}
	}
	b.WriteString(regexp.QuoteMeta(want[at:]))
	return regexp.MustCompile(`\A` + b.String() + `\z`), ids
}

// known reports whether an id is from this run.
func (c *console) known(id string) bool {
	for _, now := range c.ids {
		if now == id {
			return true
		}
	}
	return false
}

func isNumber(text string) bool {
	_, err := strconv.Atoi(strings.NewReplacer(".", "", ",", "", ":", "").Replace(text))
	return err == nil
}

// The pages show the real output of the commands.
func TestConsole(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	parallel(t)
	for _, page := range []string{"../../README.md", "../quickstart.md", "../troubleshooting.md"} {
		t.Run(filepath.Base(page), func(t *testing.T) {
			parallel(t)
			text := read(t, page)
			if strings.Contains(text, "| grep ") {
				need.Program(t, "grep")
			}
			if !block.MatchString(text) {
				t.Fatalf("%s shows no terminal", page)
			}
			c := newConsole(t)
			played := c.play(page, text)
			if update && played != text {
				if err := os.WriteFile(page, []byte(played), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if out, err := c.run(t.Context(), "claude-swarm status --json"); err != nil || !strings.Contains(out, `"daemon": null`) {
				t.Errorf("%s leaves a daemon behind: %v", page, fmt.Sprint(err))
			} else {
				matchesStatus(t, []byte(out))
			}
		})
	}
}
