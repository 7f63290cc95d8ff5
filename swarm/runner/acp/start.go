package acp

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/follow"
)

// A startup prepares the files, the command line and the environment for starting the
// client of a turn.
type startup struct {
	client *Client
	turn   *runner.Turn
}

// prepare writes the files that the client reads. A verdict whose End is set means that the
// turn cannot begin.
func (s *startup) prepare() follow.Verdict {
	if s.turn.Session.How == runner.Continue {
		return follow.Verdict{End: runner.BadSetup, Reason: s.client.Kind.Title + " cannot continue the newest session of a folder", Hint: "set session: resume for agent " + s.turn.Agent}
	}
	if len(s.words()) == 0 {
		return follow.Verdict{End: runner.BadSetup, Reason: "backend " + s.client.Kind.Name + " needs a program", Hint: "set command: for agent " + s.turn.Agent}
	}
	if err := removeReady(s.turn.Ready); err != nil {
		return follow.Verdict{End: runner.NoResources, Reason: err.Error(), Hint: follow.HintDisk}
	}
	if s.client.Servers == inFile {
		if err := writeServers(s.turn.Files.Servers, serversOf(*s.turn)); err != nil {
			return follow.Verdict{End: runner.NoResources, Reason: err.Error(), Hint: follow.HintDisk}
		}
	}
	return follow.Verdict{}
}

// words returns the program and its first arguments.
func (s *startup) words() []string {
	if len(s.turn.Spec.Command) > 0 {
		return s.turn.Spec.Command
	}
	return s.client.Kind.Command
}

// command returns the complete command line.
func (s *startup) command() []string {
	args := slices.Clone(s.words())
	for _, a := range s.client.Args {
		args = append(args, s.filled(a))
	}
	if s.turn.Spec.Model != "" {
		for _, a := range s.client.ModelArgs {
			args = append(args, s.filled(a))
		}
	}
	for i := range args {
		args[i] = s.filled(args[i])
	}
	return args
}

// filled returns text with its placeholders replaced by the values of the turn.
func (s *startup) filled(text string) string {
	return strings.NewReplacer("{servers}", s.turn.Files.Servers, "{model}", s.turn.Spec.Model).Replace(text)
}

// environment returns the turn's environment, including the variables that the client needs.
func (s *startup) environment() []string {
	add := map[string]string{}
	for name, value := range s.client.Env {
		isSet := slices.ContainsFunc(s.turn.Env, func(entry string) bool { return strings.HasPrefix(entry, name+"=") })
		if !isSet || strings.Contains(value, "{servers}") {
			add[name] = s.filled(value)
		}
	}
	if s.client.ModeVar != "" && s.turn.Spec.PermissionMode != "" {
		add[s.client.ModeVar] = s.turn.Spec.PermissionMode
	}
	if s.client.ModelVar != "" && s.turn.Spec.Model != "" {
		add[s.client.ModelVar] = s.turn.Spec.Model
	}
	env := slices.DeleteFunc(slices.Clone(s.turn.Env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		_, ours := add[name]
		return ours
	})
	for _, name := range slices.Sorted(maps.Keys(add)) {
		env = append(env, name+"="+add[name])
	}
	return env
}

// removeReady removes the file with which an earlier client proved that it had our tools.
func removeReady(path string) error {
	if err := os.Remove(path); path != "" && err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
