package mcpserver_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/mcpserver"
	"github.com/claude-swarm/claude-swarm/swarm"
)

func TestBoard(t *testing.T) {
	p := newProject(t, asAgent("coder"))
	if out, _ := p.call("board_read", `{}`); !strings.Contains(out["note"].(string), "Nothing has been written") {
		t.Errorf("an empty board = %v", out)
	}
	if out, _ := p.call("board_read", `{"page":"status"}`); !strings.Contains(out["note"].(string), "Nobody has written") {
		t.Errorf("an empty page = %v", out)
	}
	p.call("board_write", `{"page":"status","text":"All is well."}`)
	p.call("board_write", `{"page":"status","text":"Still."}`)
	p.call("board_write", `{"page":"decisions","text":"We use YAML."}`)
	p.call("board_write", `{"page":"decisions","text":"And JSON."}`)
	p.call("board_write", `{"page":"handoff","text":"Go on."}`)
	if out, text := p.call("board_read", `{"page":"status"}`); out["text"] != "Still.\n" || !strings.Contains(text, "Still.") {
		t.Errorf("status = %v, %q", out, text)
	}
	out, _ := p.call("board_read", `{"page":"decisions"}`)
	if text := out["text"].(string); !strings.Contains(text, ", coder\n\nWe use YAML.\n") || !strings.HasSuffix(text, ", coder\n\nAnd JSON.\n") {
		t.Errorf("decisions = %q", text)
	}
	if out, _ := p.call("board_read", `{}`); len(out["pages"].([]any)) != 3 {
		t.Errorf("pages = %v", out)
	}
	if data, err := os.ReadFile(filepath.Join(p.store.Dir(), "board/handoff/coder.md")); err != nil || string(data) != "Go on.\n" {
		t.Errorf("the handoff is %q, %v", data, err)
	}
	for arguments, want := range map[string]string{
		`{"page":"handoff/reviewer","text":"x"}`:                         "only reviewer may write",
		`{"page":"../x","text":"x"}`:                                     `there is no page "../x"`,
		`{"page":"status","text":" "}`:                                   "the text is empty",
		`{"page":"status","text":"` + strings.Repeat("x", 33<<10) + `"}`: "the maximum is 32768",
	} {
		if got := p.fails("board_write", arguments); !strings.Contains(got, want) {
			t.Errorf("board_write %.60s: %q, want %q", arguments, got, want)
		}
	}
}

func TestContextTools(t *testing.T) {
	p := newProject(t, asAgent("coder"))
	for _, tool := range []string{"compact_context", "clear_context"} {
		if got := p.fails(tool, `{}`); !strings.Contains(got, "no daemon is running") {
			t.Errorf("%s without a daemon: %q", tool, got)
		}
	}
	p.daemon = idle()
	p.call("compact_context", `{}`)
	p.call("clear_context", `{"handoff":"Go on with the parser."}`)
	if got := p.daemon.notes(); got != "compact coder by coder; clear coder by coder" {
		t.Errorf("the daemon was told %q", got)
	}
	if data, err := os.ReadFile(filepath.Join(p.store.Dir(), "board/handoff/coder.md")); err != nil || string(data) != "Go on with the parser.\n" {
		t.Errorf("the handoff is %q, %v", data, err)
	}
	p.daemon.fails = swarm.ErrCannotCompact
	if got := p.fails("compact_context", `{}`); !strings.Contains(got, swarm.ErrCannotCompact.Error()) {
		t.Errorf("compact_context that cannot: %q", got)
	}
	own := newProject(t, asAgent("coder"))
	own.daemon, own.attached = idle(), true
	for _, tool := range []string{"compact_context", "clear_context"} {
		if got := own.fails(tool, `{}`); !strings.Contains(got, "a person, not the daemon, runs your session") || own.daemon.notes() != "" {
			t.Errorf("%s of an attached session: %q, and the daemon was told %q", tool, got, own.daemon.notes())
		}
	}
	lead := newProject(t, nil)
	lead.daemon = idle()
	for _, tool := range []string{"compact_context", "clear_context"} {
		if got := lead.fails(tool, `{}`); !strings.Contains(got, "you are the lead") {
			t.Errorf("%s of the lead: %q", tool, got)
		}
	}
}

func TestSetDirectory(t *testing.T) {
	p := newProject(t, asAgent("coder"))
	outside := t.TempDir()
	if err := errors.Join(
		os.MkdirAll(filepath.Join(p.dir, "sub/deep"), 0o700),
		os.WriteFile(filepath.Join(p.dir, "sub/CLAUDE.md"), []byte("Use tabs.\n"), 0o600),
		os.WriteFile(filepath.Join(outside, "CLAUDE.md"), []byte("secret\n"), 0o600),
		os.Symlink(outside, filepath.Join(p.dir, "link")),
		os.MkdirAll(filepath.Join(p.dir, "trap"), 0o700),
		os.Symlink(filepath.Join(outside, "CLAUDE.md"), filepath.Join(p.dir, "trap/CLAUDE.md")),
	); err != nil {
		t.Fatal(err)
	}
	out, text := p.call("set_directory", `{"path":"sub/deep"}`)
	if out["instructions"] != "Use tabs.\n" || !strings.HasSuffix(out["path"].(string), "/sub/deep") || !strings.Contains(text, "Use tabs.") {
		t.Errorf("set_directory = %v, %q", out, text)
	}
	if out, _ := p.call("set_directory", `{"path":"trap"}`); out["instructions"] != nil {
		t.Errorf("instructions from outside: %v", out)
	}
	for path, want := range map[string]string{
		outside: "outside your folders", "link": "outside your folders", "../": "outside your folders",
		"/": "outside your folders", "nothing": "does not exist", "sub/CLAUDE.md": "not a directory",
	} {
		if got := p.fails("set_directory", `{"path":"`+path+`"}`); !strings.Contains(got, want) {
			t.Errorf("set_directory %s: %q, want %q", path, got, want)
		}
	}
}

// In a turn, the server sends no instructions, because the system prompt contains them.
func TestInstructionsAreForClientsOutsideOfATurn(t *testing.T) {
	for _, turn := range []bool{false, true} {
		client := connect(t, mcpserver.New(mcpserver.Options{Version: "test", Turn: turn}))
		if text := client.InitializeResult().Instructions; (text == "") != turn {
			t.Errorf("in a turn %v: the instructions are %q", turn, text)
		}
	}
}
