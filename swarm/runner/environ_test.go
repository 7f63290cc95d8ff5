package runner_test

import (
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/google/go-cmp/cmp"
)

func TestEnviron(t *testing.T) {
	base := []string{
		"PATH=/usr/bin:/bin", "HOME=/home/dev", "LANG=C.UTF-8", "broken", "=odd",
		"CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=outer", "CLAUDE_SWARM_TURN=outer-1", "CLAUDE_SWARM_TOKEN=outer", "AI_AGENT=claude", "CODEX_THREAD_ID=outer", "OPENCODE=1", "CODEX_HOME=/home/dev/.codex",
		"CLAUDE_CONFIG_DIR=/home/dev/.claude", "CLAUDE_CODE_OAUTH_TOKEN=login", "CLAUDE_CODE_USE_BEDROCK=1",
		"CLAUDE_CODE_MESSAGING_SOCKET=/run/cc-socks/1.sock", "CLAUDE_CODE_MESSAGING_TOKEN=outer", "CLAUDE_PID=1", // these variables would let a client reach another session
		"ANTHROPIC_API_KEY=key", "AWS_SECRET=s", "AWS_REGION=r", "AWSOME=kept",
	}
	got := runner.Environ(base, runner.EnvOptions{
		Drop:   []string{"AWS_*", "LANG"},
		Add:    map[string]string{"CLAUDE_CODE_MAX_RETRIES": "2", "AWS_REGION": "ours", "CLAUDE_SWARM_AGENT": "forged"},
		Agent:  "coder",
		Dir:    "/home/dev/project",
		Token:  "secret",
		TurnID: "k7f3q9m2xd-1",
		BinDir: "/opt/swarm/bin",
	})
	want := []string{
		"ANTHROPIC_API_KEY=key",
		"AWSOME=kept",
		"AWS_REGION=ours",
		"CLAUDE_CODE_MAX_RETRIES=2",
		"CLAUDE_CODE_OAUTH_TOKEN=login",
		"CLAUDE_CODE_USE_BEDROCK=1",
		"CLAUDE_CONFIG_DIR=/home/dev/.claude",
		"CLAUDE_SWARM_AGENT=coder",
		"CLAUDE_SWARM_DIR=/home/dev/project",
		"CLAUDE_SWARM_TOKEN=secret",
		"CLAUDE_SWARM_TURN=k7f3q9m2xd-1",
		"CODEX_HOME=/home/dev/.codex",
		"HOME=/home/dev",
		"PATH=/opt/swarm/bin:/usr/bin:/bin",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Environ (-want +got):\n%s", diff)
	}
	alone := runner.Environ(nil, runner.EnvOptions{BinDir: "/opt/bin", Agent: "a", Dir: "d", Token: "t", TurnID: "i"})
	if want := "PATH=/opt/bin"; alone[len(alone)-1] != want {
		t.Errorf("Environ without a PATH ends with %q, want %q and no empty part, which would mean the working folder", alone[len(alone)-1], want)
	}
}
