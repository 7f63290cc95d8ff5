package claude

import "github.com/claude-swarm/claude-swarm/swarm/runner"

// PromptLine is what the client reads of a turn.
func PromptLine(t runner.Turn) string { return string(promptLine(t)) }
