package git

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// gitTimeout limits the duration of one git process, so that a hung process, for example
// one that waits for a lock on an unreachable network drive, cannot prevent the daemon
// from exiting.
const gitTimeout = 2 * time.Minute

// A program runs git in one repository.
type program struct {
	path   string
	env    []string
	gitDir string // absolute
	prefix string // the path of the mailboxes in the working tree, with a trailing slash; "" if they are its root
	sha256 bool   // whether the repository uses SHA-256 rather than SHA-1 object names
}

// findRepository asks git which repository contains a folder.
func findRepository(ctx context.Context, path string, environ []string, dir string) (*program, error) {
	if path == "" {
		path = "git"
	}
	found, err := exec.LookPath(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoGit, err)
	}
	g := &program{path: found, env: cleaned(environ)}
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	out, err := g.output(g.raw(ctx, dir, "rev-parse", "--is-inside-work-tree", "--show-object-format", "--absolute-git-dir", "--show-prefix"))
	if gitErr, ok := errors.AsType[*programError](err); ok && strings.Contains(gitErr.stderr, "not a git repository") {
		return nil, ErrNoRepository
	} else if err != nil {
		return nil, err
	}
	// The prefix is last because it may contain a line break.
	lines := strings.SplitN(string(out), "\n", 4)
	if len(lines) != 4 || lines[0] != "true" {
		return nil, ErrNoRepository // a bare repository, or a folder inside .git
	}
	g.sha256 = lines[1] == "sha256"
	g.gitDir = lines[2]
	g.prefix = strings.TrimSuffix(lines[3], "\n")
	return g, nil
}

// cleaned returns an environment for git. It removes the variables that would make git use
// another repository, but keeps those that specify where git and its configuration files
// are. It also adds variables that prevent prompts and side effects.
func cleaned(environ []string) []string {
	keep := []string{"GIT_EXEC_PATH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"}
	env := slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return strings.HasPrefix(name, "GIT_") && !slices.Contains(keep, name)
	})
	return append(env,
		"LC_ALL=C",                // the audit parses git's messages
		"GIT_TERMINAL_PROMPT=0",   // nobody can answer a prompt
		"GIT_OPTIONAL_LOCKS=0",    // never refresh an index as a side effect
		"GIT_NO_LAZY_FETCH=1",     // never fetch missing objects in a partial clone
		"GIT_LITERAL_PATHSPECS=1", // the name of a folder may contain *
		"GIT_NO_REPLACE_OBJECTS=1",
		"GIT_COMMITTER_NAME="+auditor, // recorded in the branch's reflog
		"GIT_COMMITTER_EMAIL="+auditor+mailHost,
	)
}

// settings overrides all configuration files.
var settings = []string{
	"-c", "core.hooksPath=/dev/null", // otherwise, moving a branch would run the reference-transaction hook
	"-c", "core.fsmonitor=false",
	"-c", "commit.gpgSign=false",
	"-c", "gc.auto=0",
	"-c", "maintenance.auto=false",
	"-c", "core.fsync=committed", // make objects durable before the branch refers to them
	"-c", "core.filesRefLockTimeout=2000", // in milliseconds: how long to wait for the user's own git processes
	"-c", "core.packedRefsTimeout=5000",
	"-c", "fastimport.unpackLimit=100", // a turn creates loose objects, a backlog creates a pack
}

// command returns a git command in the repository. It names the repository by its own
// folder, so that a command that is running while the project is moved goes on in the moved
// repository and writes nothing to the old place.
func (g *program) command(ctx context.Context, args ...string) *exec.Cmd {
	return g.raw(ctx, g.gitDir, append([]string{"--git-dir=."}, args...)...)
}

func (g *program) raw(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, g.path, slices.Concat(settings, args)...)
	cmd.Dir = dir
	cmd.Env = g.env
	cmd.WaitDelay = 5 * time.Second
	// Ctrl-C in the terminal of a foreground daemon is intended for the daemon, which
	// still records the last turn. The separate process group prevents the signal from
	// interrupting git.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// run runs a git command in the repository and returns its output.
func (g *program) run(ctx context.Context, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	return g.output(g.command(ctx, args...))
}

func (g *program) output(cmd *exec.Cmd) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, failed(cmd, err, stderr.String())
	}
	return stdout.Bytes(), nil
}

// A programError describes a failed git command, including its error output.
type programError struct {
	verb   string
	err    error
	stderr string
}

func newProgramError(cmd *exec.Cmd, err error, stderr string) *programError {
	verb := "git"
	for i := 1; i < len(cmd.Args); i++ {
		switch arg := cmd.Args[i]; {
		case arg == "-c":
			i++
		case !strings.HasPrefix(arg, "-"):
			return &programError{"git " + arg, err, stderr}
		}
	}
	return &programError{verb, err, stderr}
}

func (e *programError) Error() string {
	said := strings.Join(strings.Fields(e.stderr), " ")
	if said == "" {
		return e.verb + ": " + e.err.Error()
	}
	if len(said) > 400 {
		said = strings.ToValidUTF8(said[:400], "") + "…"
	}
	return e.verb + ": " + said
}

func (e *programError) Unwrap() error { return e.err }

// blob returns git's object name for a file with this content.
func (g *program) blob(data []byte) string {
	var h hash.Hash = sha1.New()
	if g.sha256 {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", len(data))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

// scope returns the final arguments of a git command, which limit the command to the
// mailboxes.
func (g *program) scope() []string {
	if g.prefix == "" {
		return nil
	}
	return []string{strings.TrimSuffix(g.prefix, "/")}
}

// tip returns the branch's newest commit, or "" if there is no branch. The error is
// [ErrCheckedOut] if moving the branch would affect a working tree.
func (g *program) tip(ctx context.Context) (string, error) {
	out, err := g.run(ctx, "for-each-ref", "--format=%(refname)%00%(objectname)%00%(worktreepath)%00", ref)
	if err != nil {
		return "", err
	}
	// The pattern also matches branches below ref, such as dead-drop/x.
	fields := strings.Split(string(out), "\x00")
	for ; len(fields) > 3; fields = fields[3:] {
		if strings.TrimPrefix(fields[0], "\n") != ref {
			continue
		}
		if tree := fields[2]; tree != "" {
			if _, err := os.Stat(tree); !errors.Is(err, os.ErrNotExist) {
				return "", fmt.Errorf("%w in %s", ErrCheckedOut, tree)
			}
		}
		return fields[1], nil
	}
	// A branch without commits can also be checked out, because HEAD contains only its
	// name.
	out, err = g.run(ctx, "symbolic-ref", "-q", "HEAD")
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		return "", err
	}
	if strings.TrimSpace(string(out)) == ref {
		return "", ErrCheckedOut
	}
	return "", nil
}

// ours reports whether any commit on the branch was made by an audit.
func (g *program) ours(ctx context.Context, tip string) (bool, error) {
	out, err := g.run(ctx, "rev-list", "-1", "--fixed-strings", "--committer="+mailHost, tip)
	return len(out) > 0, err
}

// tree returns the mailboxes' files in a commit, with the object name of each file. Paths
// are relative to the mailboxes.
func (g *program) tree(ctx context.Context, tip string) (map[string]string, error) {
	files := map[string]string{}
	if tip == "" {
		return files, nil
	}
	out, err := g.run(ctx, slices.Concat([]string{"ls-tree", "-r", "-z", "--full-tree", tip}, g.scope())...)
	if err != nil {
		return nil, err
	}
	for line := range strings.SplitSeq(string(out), "\x00") {
		kind, name, _ := strings.Cut(line, "\t")
		if name, ok := strings.CutPrefix(name, g.prefix); ok && name != "" {
			files[name] = kind[strings.LastIndexByte(kind, ' ')+1:]
		}
	}
	return files, nil
}

// diff lists the mailboxes' files that differ between two commits. added also includes
// changed files.
func (g *program) diff(ctx context.Context, from, to string) (added, gone []string, err error) {
	out, err := g.run(ctx, slices.Concat([]string{"diff-tree", "-r", "-z", "--no-renames", "--name-status", from, to, "--"}, g.scope())...)
	if err != nil {
		return nil, nil, err
	}
	for fields := strings.Split(string(out), "\x00"); len(fields) > 1; fields = fields[2:] {
		name, ok := strings.CutPrefix(fields[1], g.prefix)
		switch {
		case !ok:
		case fields[0] == "D":
			gone = append(gone, name)
		default:
			added = append(added, name)
		}
	}
	return added, gone, nil
}

var crashReport = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`dumping crash report to .*(fast_import_crash_\d+)`) })

// dropCrashReport removes the file that fast-import leaves in the repository when its input
// ends too early. It is not needed, because our error contains its important part.
func (g *program) dropCrashReport(stderr string) {
	if m := crashReport().FindStringSubmatch(stderr); m != nil {
		_ = os.Remove(filepath.Join(g.gitDir, m[1]))
	}
}
