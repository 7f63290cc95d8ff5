package verify

import (
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// dropped lists the variables of the daemon's own login, and those that name another repository.
var dropped = []string{"CLAUDE*", "ANTHROPIC_*",
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX"}

// environOf returns the environment of a verifier: base without the variables that drop and
// dropped name, and with a mark.
func environOf(base, drop []string, mark string) []string {
	env := runner.Environ(base, runner.EnvOptions{Drop: slices.Concat(drop, dropped), TurnID: mark})
	return slices.DeleteFunc(env, func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return name == runner.AgentVar || name == runner.DirVar || name == runner.TokenVar ||
			strings.HasPrefix(name, "CLAUDE") && name != runner.MarkVar // a login, which Environ keeps for clients
	})
}
