package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/fakeapi"
	"github.com/claude-swarm/claude-swarm/internal/screen"
)

func TestLogEntries(t *testing.T) {
	log := "05:12:01 coder k7f3q9m2xd  I look  at it\n    and at that\n" +
		"05:12:02 coder k7f3q9m2xd  $ Bash ls\n" +
		"cut off\n"
	want := []string{"I look  at it\nand at that", "$ Bash ls"}
	if diff := cmp.Diff(want, logEntries(log)); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

func TestWrap(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"one two three", "one two\nthree"},
		{"one\n\ntwo", "one\n\ntwo"},
		{"alongwordthatdoesnotfit a", "alongwordthatdoesnotfit\na"},
		{"äöü äöü", "äöü äöü"},
		{"", ""},
	} {
		if got := screen.Wrap(tc.text, 8); got != tc.want {
			t.Errorf("wrap(%q) = %q, want %q", tc.text, got, tc.want)
		}
	}
}

func TestLineBuffer(t *testing.T) {
	var b lineBuffer
	var got []string
	for _, piece := range []string{"a", "b\nc", "\n", "d"} {
		got = append(got, b.add([]byte(piece))...)
	}
	if diff := cmp.Diff([]string{"ab", "c"}, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

// The demo's files are consistent with each other in any folder.
func TestDemoParts(t *testing.T) {
	s := &stage{dir: `/tmp/a "strange" folder`, client: demoClient{command: []string{"/opt/my tools/claude"}}}
	for name, api := range map[string]string{"scripted": "http://127.0.0.1:1", "live": ""} {
		file, err := config.Parse("/x/claude-swarm.yaml", []byte(s.config(api)))
		if err != nil {
			t.Fatalf("%s: %v in\n%s", name, err, s.config(api))
		}
		coder, _ := file.Agent("coder")
		if got := coder.Env["ANTHROPIC_BASE_URL"]; got != api {
			t.Errorf("%s: ANTHROPIC_BASE_URL = %q, want %q", name, got, api)
		}
		if diff := cmp.Diff(s.client.command, coder.Client.Command); diff != "" {
			t.Errorf("%s: command (-want +got):\n%s", name, diff)
		}
		if _, ok := file.Agent("reviewer"); !ok || coder.Client.AllowedTools != nil {
			t.Errorf("%s: the agents are not the ones of the demo", name)
		}
	}
	scenario, err := fakeapi.Load(strings.NewReader(s.script()))
	if err != nil {
		t.Fatal(err)
	}
	if want := `/tmp/a "strange" folder/project/greet.sh`; !strings.Contains(string(scenario.Replies[0].Content[1].ToolUse.Input), `\"strange\" folder/project/greet.sh`) {
		t.Errorf("the first tool call reads %s, want %s", scenario.Replies[0].Content[1].ToolUse.Input, want)
	}
}
