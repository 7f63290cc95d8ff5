package runnertest_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

func TestScriptedKeepsThePromises(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	suite(t, &runnertest.Scripted{Timing: runner.Timing{PromptNotRun: 100 * time.Millisecond}}, runnertest.Lacks{})
}

func TestScriptedThatAsksKeepsThePromises(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	suite(t, &runnertest.Scripted{Asks: true}, runnertest.Lacks{Cost: true})
}

func suite(t *testing.T, b *runnertest.Scripted, lacks runnertest.Lacks) {
	runnertest.Suite(t, runnertest.Fixture{
		Lacks:   lacks,
		Backend: b,
		Kill:    b.Kill,
		Shell:   runnertest.Shell, Allow: "shell npm test",
		Turn: func(t *testing.T, script string) runner.Turn {
			id := runnertest.NewUUID()
			return runner.Turn{ID: "scripted-" + strings.ReplaceAll(id, "-", ""), Agent: "coder", UUID: runnertest.NewUUID(), Prompt: script,
				Session: runner.Session{ID: id, How: runner.New}, Spec: runner.Spec{Dir: t.TempDir()},
				Files: runner.Files{Stdout: filepath.Join(t.TempDir(), "turn.jsonl")}}
		},
	})
}
