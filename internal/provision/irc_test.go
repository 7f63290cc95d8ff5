package provision_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/provision"
)

// Doctor finds settings that would keep the bridge from working, before the bridge is
// started.
func TestIRC(t *testing.T) {
	for name, tc := range map[string]struct {
		section string
		want    []string // the grade of each finding and the beginning of its text
	}{
		"none":          {"{}", nil},
		"good":          {"{server: localhost, allow: [{nick: ann, may: [talk]}]}", []string{"ok localhost; the daemon connects when it runs"}},
		"nobody":        {"{server: localhost}", []string{"warn irc.allow is empty", "ok localhost"}},
		"no password":   {"{server: localhost, sasl: plain, password_file: none, allow: [{nick: ann, may: [talk]}]}", []string{"wrong "}},
		"open password": {"{server: localhost, sasl: plain, password_file: secret, allow: [{nick: ann, may: [talk]}]}", []string{"wrong ", "ok localhost"}},
		"no variable":   {"{server: localhost, sasl: plain, password_env: IRC_PASSWORD, allow: [{nick: ann, may: [talk]}]}", []string{"warn IRC_PASSWORD, which contains a password, is not set here", "ok localhost"}},
		"apart":         {"{server: localhost, apart: true, allow: [{nick: ann, may: [talk]}]}", []string{"warn no bridge is running"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "claude-swarm.yaml")
			if err := os.WriteFile(path, []byte("irc: "+tc.section+"\nagents: {coder: {command: /bin/false}}\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "secret"), []byte("x\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			got := of(provision.Examine(t.Context(), provision.DoctorOptions{Config: path, Version: "1.0", Getenv: func(string) string { return "" }}), "irc")
			if len(got) != len(tc.want) {
				t.Fatalf("%d findings, want %d: %+v", len(got), len(tc.want), got)
			}
			for i, f := range got {
				if !strings.HasPrefix(string(f.Grade)+" "+f.Text, tc.want[i]) || f.Grade != provision.Good && f.Try == "" {
					t.Errorf("finding %+v, want %q", f, tc.want[i])
				}
			}
		})
	}
}
