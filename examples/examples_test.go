package examples_test

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/internal/config"
)

// projects are the example swarms, with their agents.
var projects = map[string][]string{
	"solo":    {"coder"},
	"pair":    {"coder", "reviewer"},
	"team":    {"manager", "implementer", "tester", "reviewer", "documenter"},
	"mixed":   {"planner", "coder", "reviewer", "tester", "docs"},
	"office":  {"ramona", "harper", "dinesh"},
	"night":   {"planner", "builder", "checker"},
	"sandbox": {"coder"},
	"tts":     {"opus-engineer", "opus-q1", "codex"},
}

func TestProjectsLoad(t *testing.T) {
	for name, agents := range projects {
		t.Run(name, func(t *testing.T) {
			f, err := config.Load(filepath.Join(name, config.Name))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(agents, f.Names()); diff != "" {
				t.Errorf("agents, -want +got:\n%s", diff)
			}
			if err := f.CheckFolders(); err != nil {
				t.Errorf("CheckFolders: %v", err)
			}
			for _, a := range f.Agents {
				if a.Client.System == "" || a.Client.PermissionMode == "bypassPermissions" {
					t.Errorf("agent %s is not a good example: %+v", a.Name, a)
				}
			}
			readme, err := os.ReadFile(filepath.Join(name, "README.md"))
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range append([]string{"claude-swarm init", "claude-swarm start", "claude-swarm send " + agents[0]}, agents...) {
				if !strings.Contains(string(readme), want) {
					t.Errorf("README.md does not say %q", want)
				}
			}
		})
	}
}

// README.md links to each example, and the table above lists each swarm.
func TestEveryExampleIsListed(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		_, err := os.Stat(filepath.Join(e.Name(), config.Name))
		if _, listed := projects[e.Name()]; listed != (err == nil) {
			t.Errorf("%s: has a claude-swarm.yaml: %v, is in the test's table: %v", e.Name(), err == nil, listed)
		}
		if !strings.Contains(string(readme), "]("+e.Name()+")") {
			t.Errorf("README.md does not link to %s", e.Name())
		}
	}
}

// Agents that only review have no tool that can write.
func TestReviewersOnlyRead(t *testing.T) {
	for project, agent := range map[string]string{"pair": "reviewer", "team": "reviewer", "night": "checker", "tts": "codex"} {
		f, err := config.Load(filepath.Join(project, config.Name))
		if err != nil {
			t.Fatal(err)
		}
		a, _ := f.Agent(agent)
		if a.Client.AllowedTools == nil {
			t.Errorf("%s in %s may use all tools", agent, project)
			continue
		}
		for _, tool := range *a.Client.AllowedTools {
			if slices.Contains([]string{"Write", "Edit", "MultiEdit", "NotebookEdit", "Bash"}, tool) {
				t.Errorf("%s in %s may use %s", agent, project, tool)
			}
		}
	}
}

// The three-agent project is the same as in the first document, except for its folder and
// the line that says who opus-orange is. Its system prompts are used unchanged.
func TestTTSIsAsItWasWritten(t *testing.T) {
	first, err := os.ReadFile("../internal/config/testdata/first-document.yaml")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("tts/claude-swarm.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(string(first), "project_dir: /Users/hung/projects/TTS.cpp\n", "project_dir: .\nlead_name: opus-orange  # whom the system prompts write to: you\n", 1)
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestSystemdUnit(t *testing.T) {
	data, err := os.ReadFile("systemd/claude-swarm.service")
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]string)
	section := ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if line[0] == '[' {
			section = line
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || section == "" {
			t.Errorf("line %q is not a setting", line)
		}
		got[section+key] = value
	}
	want := map[string]string{
		"[Service]ExecStart":                "%h/.local/bin/claude-swarm start --foreground",
		"[Service]ExecReload":               "/bin/kill -HUP $MAINPID",
		"[Service]KillMode":                 "process", // so that a crash does not end the running turns
		"[Service]RestartPreventExitStatus": "2 3 78",  // a restart does not help after these exit statuses
		"[Install]WantedBy":                 "default.target",
	}
	for key, value := range want {
		if got[key] != value {
			t.Errorf("%s=%s, want %s", key, got[key], value)
		}
	}
}

func TestLaunchdPropertyList(t *testing.T) {
	in, err := os.Open("launchd/com.github.claude-swarm.plist")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	// texts contains the text of each element in document order, so each key is followed
	// by its value.
	var texts []string
	for dec, text := xml.NewDecoder(in), ""; ; {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("not XML: %v", err)
		}
		switch x := token.(type) {
		case xml.CharData:
			text = strings.TrimSpace(string(x))
		case xml.EndElement:
			if x.Name.Local == "true" || x.Name.Local == "false" {
				text = x.Name.Local
			}
			if text != "" {
				texts = append(texts, text)
			}
			text = ""
		}
	}
	all := strings.Join(texts, " ") + " "
	for _, want := range []string{
		"Label com.github.claude-swarm ",
		"ProgramArguments /usr/local/bin/claude-swarm start --foreground WorkingDirectory ",
		"KeepAlive SuccessfulExit false ",
		"AbandonProcessGroup true ",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("want %q in %q", want, all)
		}
	}
}
