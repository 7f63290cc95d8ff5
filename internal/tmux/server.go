package tmux

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// ErrMissing is returned by [Find] if tmux is not installed.
var ErrMissing = errors.New("tmux is missing")

// Options specify a tmux server. The zero value means the user's default server.
type Options struct {
	Program string   // "" means tmux, looked up in PATH
	Socket  string   // name of a separate server, as in tmux -L
	Environ []string // environment of the tmux program; nil means the environment of this process
}

// A Server is a running tmux server, or one that the first session will start. It does not
// keep a connection open and is safe for concurrent use.
type Server struct {
	program string
	socket  string
	env     []string
}

// Find finds the tmux program. It does not start a server. The error is [ErrMissing] if
// tmux is not installed.
func Find(o Options) (*Server, error) {
	if o.Program == "" {
		o.Program = "tmux"
	}
	program, err := exec.LookPath(o.Program)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMissing, err)
	}
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	env := slices.DeleteFunc(slices.Clone(o.Environ), func(v string) bool {
		return strings.HasPrefix(v, "CLAUDE_SWARM_")
	})
	return &Server{program: program, socket: o.Socket, env: env}, nil
}

// SessionName derives the name of a project's session from its folder. The name is
// readable, unique for each folder, and free of characters that are special in a tmux
// target.
func SessionName(project string) string {
	base := strings.Map(func(c rune) rune {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
			return c
		}
		return '-'
	}, filepath.Base(project))
	sum := sha256.Sum256([]byte(project))
	return "swarm-" + base[:min(len(base), 24)] + "-" + hex.EncodeToString(sum[:3])
}

// Has reports whether the session exists.
func (s *Server) Has(ctx context.Context, session string) (bool, error) {
	_, err := s.run(ctx, "has-session", "-t", exactly(session))
	if ee, ok := errors.AsType[*exec.ExitError](err); ok && ee.Exited() {
		return false, nil // no such session, or no server at all
	}
	return err == nil, err
}

// Close ends the session and the viewers in its panes.
func (s *Server) Close(ctx context.Context, session string) error {
	_, err := s.run(ctx, "kill-session", "-t", exactly(session))
	return err
}

// Attach returns the command that displays the session in this terminal. The caller must
// connect the command to the terminal and run it. Inside tmux, the command for the default
// server switches the current client to the session and exits. In all other cases, the
// command runs until the person detaches.
func (s *Server) Attach(ctx context.Context, session string) *exec.Cmd {
	inside := slices.ContainsFunc(s.env, func(v string) bool {
		return strings.HasPrefix(v, "TMUX=") && v != "TMUX="
	})
	if inside && s.socket == "" {
		return s.command(ctx, "switch-client", "-t", exactly(session))
	}
	cmd := s.command(ctx, "attach-session", "-t", exactly(session))
	// A client cannot switch to a separate server, and tmux refuses to nest sessions while
	// TMUX is set.
	cmd.Env = slices.DeleteFunc(slices.Clone(cmd.Env), func(v string) bool { return strings.HasPrefix(v, "TMUX=") })
	return cmd
}

// exactly returns a target that matches only this name, not names that begin with it.
func exactly(session string) string { return "=" + session }

func (s *Server) command(ctx context.Context, args ...string) *exec.Cmd {
	if s.socket != "" {
		args = append([]string{"-L", s.socket}, args...)
	}
	cmd := exec.CommandContext(ctx, s.program, args...)
	cmd.Env = s.env
	return cmd
}

// A commandError describes a tmux command that failed, with the message that tmux
// printed.
type commandError struct {
	command, said string
	err           error
}

func (e *commandError) Error() string { return "tmux " + e.command + ": " + e.said }
func (e *commandError) Unwrap() error { return e.err }

// run executes one tmux command and returns its output without the trailing newline. The
// error contains tmux's message.
func (s *Server) run(ctx context.Context, args ...string) (string, error) {
	cmd := s.command(ctx, args...)
	var out, says bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &says
	if err := cmd.Run(); err != nil {
		if text := strings.TrimSpace(says.String()); text != "" {
			return "", &commandError{args[0], text, err}
		}
		return "", fmt.Errorf("tmux %s: %w", args[0], err)
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}
