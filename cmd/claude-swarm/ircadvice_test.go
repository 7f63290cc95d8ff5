package main

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/ircbridge"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// Only agents that can follow the advice receive it.
func TestAdviceToReadChannels(t *testing.T) {
	section := config.IRC{Server: "x", BufferSize: 500, Channels: config.IRCChannels{Project: "#project-x"}}
	for _, test := range []struct {
		what   string
		irc    config.IRC
		tools  bool
		denied []string
		want   string
	}{
		{"with the tools", section, true, nil, "[CORRECTION] You haven't checked your channels in 12 minutes. Consider doing an irc_read() to see if there's relevant input."},
		{"by the command line", section, false, nil, "[CORRECTION] You haven't checked your channels in 12 minutes. Consider doing a claude-swarm irc read to see if there's relevant input."},
		{"without IRC", config.IRC{}, true, nil, ""},
		{"with that tool denied", section, true, []string{"WebFetch", "mcp__dead-drop__irc_read"}, ""},
		{"with the shell denied", section, false, []string{"Bash"}, ""},
	} {
		home := journal.HomeOf(t.TempDir())
		dir := ircbridge.Folder(home.Dir())
		for path, data := range map[string]string{
			"state.json":                `{"v":1,"connected":true,"channels":[{"name":"#project-x","joined":true}]}`,
			"buffer/%23project-x.jsonl": `{"n":1,"at":"2026-01-02T00:00:00Z","channel":"#project-x","nick":"ann","text":"hello"}` + "\n",
			"checks/coder.json":         fmt.Sprintf(`{"since":%q}`, time.Now().Add(-12*time.Minute-time.Second).Format(time.RFC3339Nano)),
		} {
			path = filepath.Join(dir, path)
			err := os.MkdirAll(filepath.Dir(path), 0o700)
			if err == nil {
				err = os.WriteFile(path, []byte(data), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		spec := swarm.Spec{Name: "coder"}
		spec.Tools = test.tools
		if test.denied != nil {
			spec.Client = runner.Spec{DisallowedTools: &test.denied}
		}
		advise := newIRCAnnouncer(test.irc).advice(home, slog.New(slog.DiscardHandler))
		if got := advise(spec); got != test.want {
			t.Errorf("advice %s = %q, want %q", test.what, got, test.want)
		}
		if got := advise(spec); got != "" {
			t.Errorf("advice %s, once more = %q", test.what, got)
		}
	}
}
