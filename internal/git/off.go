package git

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// executable matches the keys of a repository's configuration that name a command and whose
// names the repository chooses, so that settings cannot list them. Git prints keys in lower case
// except for the part in the middle.
const executable = `^(filter\..*\.(clean|smudge|process|required)|merge\..*\.driver|hook\..*\.(command|event|enabled))$`

// off returns the settings that turn such a key off.
func off(key string) (settings [][2]string) {
	dot := strings.LastIndexByte(key, '.')
	switch name, last := key[:dot], key[dot+1:]; {
	case strings.HasPrefix(key, "filter.") && last == "required":
		return [][2]string{{key, "false"}}
	case strings.HasPrefix(key, "merge."):
		return [][2]string{{key, "false"}} // the program false: git then reports a conflict
	case strings.HasPrefix(key, "hook."):
		return [][2]string{{name + ".enabled", "false"}, {name + ".command", "false"}}
	}
	return [][2]string{{key, ""}} // git then uses no filter
}

// harmless are the commands of git that neither read nor write a working tree, write no index and
// merge nothing. Git can compare a file with the index when it writes one, for example in write-tree.
var harmless = []string{
	"rev-parse", "rev-list", "symbolic-ref", "for-each-ref", "update-ref", "ls-tree", "cat-file", "commit-tree", "mktree",
	"merge-base", "config", "fast-import", "check-ref-format", "check-ignore", "check-attr",
}

// comparing are the commands of git that can print the changes of files, for which a repository
// can name a program.
var comparing = []string{"diff", "diff-tree", "diff-index", "diff-files", "log", "show"}

// guarded returns the arguments of a command, and the variables with which it runs no command
// that the configurations of gitDirs name. A program that changes the configuration at the same
// moment could still add one; only somebody who can run commands anyway can do that.
func (g *Repo) guarded(ctx context.Context, gitDirs, args []string) (guardedArgs, env []string, err error) {
	at := slices.IndexFunc(args, func(a string) bool { return !strings.HasPrefix(a, "-") })
	switch {
	case at < 0 || slices.Contains(harmless, args[at]):
		return args, nil, nil
	case slices.Contains(comparing, args[at]):
		args = slices.Insert(slices.Clone(args), at+1, "--no-ext-diff", "--no-textconv")
	}
	env, err = g.turnedOff(ctx, gitDirs)
	return args, env, err
}

// turnedOff returns the variables that turn off the commands that the configurations of several
// repository folders name. An argument -c would not do, because the name of a filter may contain =.
func (g *Repo) turnedOff(ctx context.Context, gitDirs []string) (env []string, err error) {
	n := 0
	for _, dir := range gitDirs {
		keys, err := g.keys(ctx, dir)
		if err != nil {
			return nil, err
		}
		for _, key := range keys {
			for _, s := range off(key) {
				env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, s[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, s[1]))
				n++
			}
		}
	}
	if n > 0 {
		env = append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", n))
	}
	return env, nil
}

// keys returns the keys of a configuration that match [executable].
func (g *Repo) keys(ctx context.Context, gitDir string) ([]string, error) {
	out, err := output(g.raw(ctx, g.GitDir, "--git-dir="+gitDir, "config", "--includes", "-z", "--name-only", "--get-regexp", executable))
	if Exited(err, 1) {
		return nil, nil // there are none
	}
	keys := strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 })
	slices.Sort(keys)
	return slices.Compact(keys), err
}

// Filters returns the names of the filters that the repository's configuration defines, such as
// lfs. This package never runs them.
func (g *Repo) Filters(ctx context.Context) (names []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	keys, err := g.keys(ctx, g.GitDir)
	for _, key := range keys {
		name, ok := strings.CutPrefix(key[:strings.LastIndexByte(key, '.')], "filter.")
		if ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, err
}
