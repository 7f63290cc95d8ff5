package git

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	// Committer is the name of the committer of every commit that the program makes.
	Committer = "swarm"
	// MailHost is the domain of every e-mail address in these commits. Its top-level domain is
	// reserved and never exists, so no mail can be sent there.
	MailHost = "@claude-swarm.invalid"
)

// The errors that a caller can test for with errors.Is.
var (
	// ErrNoGit reports that the git program was not found.
	ErrNoGit = errors.New("git is not installed")
	// ErrNoRepository reports that a folder is not in a git working tree.
	ErrNoRepository = errors.New("not in a git repository")
	// ErrBare reports that a folder is in a repository without a working tree. It is an
	// ErrNoRepository, too.
	ErrBare = fmt.Errorf("%w with a working tree", ErrNoRepository)
)

// Timeout limits the duration of one git process, so that a hung process, for example
// one that waits for a lock on an unreachable network drive, cannot prevent the daemon
// from exiting.
const Timeout = 2 * time.Minute

// A Repo runs git in one repository. It keeps no files or processes open, and several
// goroutines may use it.
type Repo struct {
	// GitDir is the absolute path of the repository's folder, such as .git. In a linked
	// worktree it is that worktree's own.
	GitDir string
	// Prefix is the path of the folder with which Find was called in its working tree, with a
	// trailing slash; "" if the folder is the root of the tree.
	Prefix string

	path   string
	env    []string
	sha256 bool // whether the repository uses SHA-256 rather than SHA-1 object names
}

// Find asks git which repository contains a folder. program is the git program; "" means git,
// looked up in PATH. environ is git's environment; variables that name another repository are
// removed from it. The error is [ErrNoGit], [ErrNoRepository], an [*OwnerError], or another error
// from git.
func Find(ctx context.Context, program string, environ []string, dir string) (*Repo, error) {
	found, err := exec.LookPath(cmp.Or(program, "git"))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoGit, err)
	}
	g := &Repo{path: found, env: cleaned(environ)}
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	out, err := output(g.raw(ctx, dir, "rev-parse", "--is-inside-work-tree", "--is-bare-repository", "--show-object-format", "--absolute-git-dir", "--show-prefix"))
	if gitErr, ok := errors.AsType[*ProgramError](err); ok && strings.Contains(gitErr.stderr, "not a git repository") {
		return nil, ErrNoRepository
	} else if err != nil {
		return nil, err
	}
	// The prefix is last because it may contain a line break.
	lines := strings.SplitN(string(out), "\n", 5)
	if len(lines) == 5 && lines[1] == "true" {
		return nil, ErrBare
	} else if len(lines) != 5 || lines[0] != "true" {
		return nil, ErrNoRepository // a folder inside .git
	}
	g.sha256 = lines[2] == "sha256"
	g.GitDir = lines[3]
	g.Prefix = strings.TrimSuffix(lines[4], "\n")
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
	return slices.Clip(append(env,
		"LC_ALL=C",                // git's messages are parsed
		"GIT_TERMINAL_PROMPT=0",   // nobody can answer a prompt
		"GIT_OPTIONAL_LOCKS=0",    // never refresh an index as a side effect
		"GIT_NO_LAZY_FETCH=1",     // never fetch missing objects in a partial clone
		"GIT_ALLOW_PROTOCOL=none", // the same for git before 2.44; a remote can name a command
		"GIT_LITERAL_PATHSPECS=1", // the name of a folder may contain *
		"GIT_NO_REPLACE_OBJECTS=1",
		"GIT_COMMITTER_NAME="+Committer, // recorded in the reflog, too
		"GIT_COMMITTER_EMAIL="+Committer+MailHost,
	))
}

// settings overrides all configuration files.
var settings = []string{
	"-c", "core.hooksPath=/dev/null", // otherwise, moving a branch would run the reference-transaction hook
	"-c", "core.fsmonitor=false",
	"-c", "commit.gpgSign=false",
	"-c", "log.showSignature=false",
	// merge.verifySignatures runs one of these; the program false says that the signature is bad
	"-c", "gpg.program=false",
	"-c", "gpg.openpgp.program=false",
	"-c", "gpg.x509.program=false",
	"-c", "gpg.ssh.program=false",
	"-c", "submodule.recurse=false",
	"-c", "core.alternateRefsCommand=true", // the program true
	"-c", "core.sshCommand=false", // the program false
	"-c", "gc.auto=0",
	"-c", "maintenance.auto=false",
	"-c", "core.fsync=committed", // make objects durable before the branch refers to them
	"-c", "core.filesRefLockTimeout=2000", // in milliseconds: how long to wait for the user's own git processes
	"-c", "core.packedRefsTimeout=5000",
	"-c", "fastimport.unpackLimit=100", // a turn creates loose objects, a backlog creates a pack
}

// Command returns a git command that needs no working tree. It names the repository by its own
// folder, so that a command that is running while the project is moved goes on in the moved
// repository and writes nothing to the old place.
func (g *Repo) Command(ctx context.Context, args ...string) *exec.Cmd {
	return g.raw(ctx, g.GitDir, append([]string{"--git-dir=."}, args...)...)
}

func (g *Repo) raw(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, g.path, slices.Concat(settings, args)...)
	cmd.Dir = dir
	cmd.Env = g.env
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // git then removes its lock files
	cmd.WaitDelay = 5 * time.Second
	// Ctrl-C in the terminal of a foreground daemon is intended for the daemon, which
	// still records the last turn. The separate process group prevents the signal from
	// interrupting git.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// Run runs a git command that needs no working tree, and returns its output. The error is an
// [*OwnerError] or a [*ProgramError].
func (g *Repo) Run(ctx context.Context, args ...string) ([]byte, error) {
	return g.run(ctx, []string{g.GitDir}, g.GitDir, []string{"--git-dir=."}, args, nil)
}

// RunIn is like Run for a command in a folder of a working tree. The file .git there says which
// repository it is, so nobody else must have been able to write it.
func (g *Repo) RunIn(ctx context.Context, dir string, args ...string) ([]byte, error) {
	return g.run(ctx, []string{g.GitDir}, dir, nil, args, nil)
}

// RunTree is like Run for a command in the linked working tree dir, whose own folder in the
// repository is gitDir. It does not read the file .git in the tree, which an agent can change.
func (g *Repo) RunTree(ctx context.Context, gitDir, dir string, args ...string) ([]byte, error) {
	return g.RunTreeEnv(ctx, gitDir, dir, nil, args...)
}

// RunTreeEnv is like RunTree, with further variables, such as GIT_INDEX_FILE.
func (g *Repo) RunTreeEnv(ctx context.Context, gitDir, dir string, env []string, args ...string) ([]byte, error) {
	return g.run(ctx, []string{gitDir}, dir, []string{"--git-dir=" + gitDir, "--work-tree=" + dir}, args, env)
}

// RemoveTree runs git worktree remove for the linked working tree dir, whose own folder in the
// repository is gitDir, or "" if it is unknown. If something in the tree would be lost, git ends
// with status 128.
func (g *Repo) RemoveTree(ctx context.Context, gitDir, dir string) error {
	// Git looks for changes in the tree with that tree's configuration.
	dirs := []string{g.GitDir}
	if gitDir != "" {
		dirs = append(dirs, gitDir)
	}
	_, err := g.run(ctx, dirs, g.GitDir, []string{"--git-dir=."}, []string{"worktree", "remove", dir}, nil)
	return err
}

// run runs a command in dir. No command runs that the configurations of gitDirs name.
func (g *Repo) run(ctx context.Context, gitDirs []string, dir string, options, args, env []string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	args, turnedOff, err := g.guarded(ctx, gitDirs, args)
	if err != nil {
		return nil, err
	}
	cmd := g.raw(ctx, dir, slices.Concat(options, args)...)
	cmd.Env = slices.Concat(cmd.Env, turnedOff, env)
	return output(cmd)
}

// Exited reports whether an error says that git ended with an exit status.
func Exited(err error, status int) bool {
	e, ok := errors.AsType[*exec.ExitError](err)
	return ok && e.ExitCode() == status
}

func output(cmd *exec.Cmd) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, Failed(cmd, err, stderr.String())
	}
	return stdout.Bytes(), nil
}

// A ProgramError describes a failed git command, including its error output.
type ProgramError struct {
	verb   string
	err    error
	stderr string
}

func newProgramError(cmd *exec.Cmd, err error, stderr string) *ProgramError {
	verb := "git"
	for i := 1; i < len(cmd.Args); i++ {
		switch arg := cmd.Args[i]; {
		case arg == "-c":
			i++
		case !strings.HasPrefix(arg, "-"):
			return &ProgramError{"git " + arg, err, stderr}
		}
	}
	return &ProgramError{verb, err, stderr}
}

func (e *ProgramError) Error() string {
	said := strings.Join(strings.Fields(e.stderr), " ")
	if said == "" {
		return e.verb + ": " + e.err.Error()
	}
	if len(said) > 400 {
		said = strings.ToValidUTF8(said[:400], "") + "…"
	}
	return e.verb + ": " + said
}

func (e *ProgramError) Unwrap() error { return e.err }

// Blob returns git's object name for a file with this content.
func (g *Repo) Blob(data []byte) string {
	var h hash.Hash = sha1.New()
	if g.sha256 {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", len(data))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}
