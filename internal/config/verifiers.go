package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/swarm/verify"
)

// Verification determines how finished work is verified.
type Verification struct {
	// Verifiers contains the verifiers by name.
	Verifiers map[string]verify.Settings `key:"verifiers" type:"names with keys" is:"verifier" like:"{run: %s}" doc:"Commands that judge a commit: {test: {run: make test, timeout: 10m}}. sh runs the line in a clean working tree at the commit; exit status 0 is green. memory_mb: the most memory of all its processes together; 0: any amount. run_in: a program that runs it, such as [bwrap, …]. A verifier executes the code of the commit as your user; see docs/verifiers.md."`
	Protect   []string                   `key:"protect" is:"protected,once" doc:"Files that a verifier takes from the branch into which the work goes, such as [ci/, \"*_test.go\"]: whoever edits them changes nothing for the verifier. Without a / before its end, a pattern stands for files and folders in any folder; otherwise it begins at the root of the repository. ** is any number of folders."`
}

// protected reads a pattern in protect.
func protected(_ *reader, s string) (string, *Error) {
	if err := verify.CheckPattern(s); err != nil {
		return "", wrong("protect: [ci/, \"*_test.go\"]", "%q is not a pattern: %v", s, err)
	}
	return s, nil
}

// verifier requires the command line. ok is false if the verifier has another problem.
func (r *reader) verifier(s *verify.Settings, path string, ok bool) {
	if ok && strings.TrimSpace(s.Run) == "" {
		r.fail(path, path[strings.LastIndex(path, ".")+1:]+": {run: make test}", "the command line is missing")
	}
}

// VerifierDrop returns the names of the environment variables that verifiers do not get: the
// passwords of IRC, the secrets of webhooks, and everything in env_drop, because a verifier runs
// the code of each agent.
func (f *File) VerifierDrop() []string {
	names := append(f.IRC.Secrets(), f.HookSecrets()...)
	for _, a := range f.Agents {
		names = append(names, a.EnvDrop...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// verify checks that the agents' verifiers exist, and that these agents work in a working tree:
// only then there is a commit.
func (r *reader) verify(f *File) {
	known := slices.Sorted(maps.Keys(f.Verifiers))
	for _, a := range f.Agents {
		path := "agents." + a.Name + ".verify"
		for _, name := range a.Verify {
			if slices.Contains(known, name) {
				continue
			}
			e := unlike(name, known, "there is no verifier %s", name)
			if len(e.Near) == 0 {
				e.Try = "verifiers: {" + name + ": {run: make test}}"
			}
			r.once(r.find(path).value, path, e)
		}
		if len(a.Verify) > 0 && !a.Worktree.Mode.On() {
			r.once(r.find(path).value, path, wrong("worktree: task", "%s works in no working tree, so there is no commit to verify", a.Name))
		}
	}
}
