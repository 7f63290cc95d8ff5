package claude

import "github.com/claude-swarm/claude-swarm/swarm/runner"

// PromptLine returns the line that contains the prompt of a turn.
func PromptLine(t runner.Turn) string { return string(promptLine(t)) }
