package tmux

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Pane describes one pane.
type Pane struct {
	Title   string   // shown in the pane's upper border; must be unique in the session
	Command []string // program and arguments, run without a shell
	Dir     string   // working folder; "" means the caller's working folder
}

// Shown is the result of [Server.Show].
type Shown struct {
	Created bool     // whether Show created the session
	Added   []string // titles of the panes that Show created
	Revived []string // titles of the panes whose command had ended and was restarted
}

// A window of a new session has this size until a terminal displays it. The tmux default
// of 80 by 24 has room for the panes of only a few agents.
const (
	columns = "220"
	rows    = "55"
)

// mostPanes is the maximum number of panes in a window; more panes would be unreadable.
const mostPanes = 9

// mark is the pane option that contains our copy of the title. The program in the pane can
// change the title itself.
const mark = "@claude-swarm"

// Show creates the session with these panes. In an existing session, it adds missing panes,
// restarts panes whose command has ended, and leaves other panes and windows unchanged. It
// does not attach a terminal.
func (s *Server) Show(ctx context.Context, session string, panes []Pane) (Shown, error) {
	var done Shown
	for _, p := range panes {
		if p.Title == "" || len(p.Command) == 0 {
			return done, fmt.Errorf("pane %q: needs a title and a command", p.Title)
		}
	}
	if len(panes) == 0 {
		return done, errors.New("a session needs a pane")
	}
	there, err := s.Has(ctx, session)
	if err != nil {
		return done, err
	}
	if !there {
		if err := s.create(ctx, session, panes[0]); err == nil {
			done.Created = true
			done.Added = append(done.Added, panes[0].Title)
		} else if there, _ := s.Has(ctx, session); !there { // if the session exists now, another process has just created it
			return done, err
		}
	}
	have, err := s.list(ctx, session)
	if err != nil {
		return done, err
	}
	for _, p := range panes {
		i := slices.IndexFunc(have, func(old pane) bool { return old.title == p.Title })
		switch {
		case i < 0:
			if err := s.add(ctx, session, p); err != nil {
				return done, fmt.Errorf("pane %s: %w", p.Title, err)
			}
			done.Added = append(done.Added, p.Title)
		case have[i].dead:
			args := append([]string{"respawn-pane", "-k", "-t", have[i].id}, start(p)...)
			if _, err := s.run(ctx, args...); err != nil {
				return done, fmt.Errorf("pane %s: %w", p.Title, err)
			}
			done.Revived = append(done.Revived, p.Title)
		}
	}
	return done, nil
}

// Titles returns the titles of our panes in the session, and for each of them whether its
// command is running.
func (s *Server) Titles(ctx context.Context, session string) (map[string]bool, error) {
	have, err := s.list(ctx, session)
	if err != nil {
		return nil, err
	}
	titles := make(map[string]bool, len(have))
	for _, p := range have {
		titles[p.title] = !p.dead
	}
	return titles, nil
}

// create creates the session with its first pane.
func (s *Server) create(ctx context.Context, session string, p Pane) error {
	args := []string{"new-session", "-d", "-s", session, "-x", columns, "-y", rows, "-n", "swarm", "-P", "-F", "#{pane_id}"}
	id, err := s.run(ctx, append(args, start(p)...)...)
	if err != nil {
		return err
	}
	return s.setOptions(ctx, id, p)
}

// add creates another pane in the last of our windows that has room for it, or otherwise
// in a new window.
func (s *Server) add(ctx context.Context, session string, p Pane) error {
	have, err := s.list(ctx, session)
	if err != nil {
		return err
	}
	count := make(map[string]int)
	last := make(map[string]string) // the last pane of each window, after which a new pane is inserted
	for _, old := range have {
		count[old.window]++
		last[old.window] = old.id
	}
	// The colon marks the name as that of a session, not of a window.
	args := []string{"new-window", "-d", "-t", exactly(session) + ":", "-n", "swarm"}
	for _, old := range have {
		if count[old.window] < mostPanes {
			args = []string{"split-window", "-d", "-t", last[old.window]}
		}
	}
	args = append(args, "-P", "-F", "#{pane_id}")
	id, err := s.run(ctx, append(args, start(p)...)...)
	if err != nil {
		return err
	}
	return s.setOptions(ctx, id, p)
}

// setOptions sets the title of a new pane. It also gives the window's panes borders that
// show their titles, and makes the panes equally large. A pane stays open when its
// command ends, so that a person can read the command's last output.
func (s *Server) setOptions(ctx context.Context, id string, p Pane) error {
	_, err := s.run(ctx,
		"set-option", "-p", "-t", id, mark, argument(p.Title), ";",
		"select-pane", "-t", id, "-T", argument(strings.ReplaceAll(p.Title, "#", "##")), ";",
		"set-option", "-w", "-t", id, "remain-on-exit", "on", ";",
		"set-option", "-w", "-t", id, "pane-border-status", "top", ";",
		"set-option", "-w", "-t", id, "pane-border-format", " #{?"+mark+",#{"+mark+"},#{pane_title}} ", ";",
		"select-layout", "-t", id, "tiled")
	return err
}

// A pane is one of our panes in a running session.
type pane struct {
	id, window, title string
	dead              bool
}

// list returns our panes in all windows of the session, in the order in which they appear
// on the screen.
func (s *Server) list(ctx context.Context, session string) ([]pane, error) {
	out, err := s.run(ctx, "list-panes", "-s", "-t", exactly(session), "-F", "#{pane_id} #{window_id} #{pane_dead} #{"+mark+"}")
	if err != nil {
		return nil, err
	}
	var panes []pane
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 4)
		if len(f) == 4 && f[3] != "" {
			panes = append(panes, pane{id: f[0], window: f[1], dead: f[2] == "1", title: f[3]})
		}
	}
	return panes, nil
}

// start returns the tmux arguments for a pane's command and folder.
func start(p Pane) []string {
	var args []string
	if p.Dir != "" {
		// tmux interprets the folder's path as a format string.
		args = append(args, "-c", argument(strings.ReplaceAll(p.Dir, "#", "##")))
	}
	args = append(args, "--")
	if len(p.Command) == 1 {
		// tmux passes a single word to a shell, but not several words.
		return append(args, "'"+strings.ReplaceAll(p.Command[0], "'", `'\''`)+"'")
	}
	for _, word := range p.Command {
		args = append(args, argument(word))
	}
	return args
}

// argument escapes a ; at the end of a word, which would otherwise end the tmux command.
func argument(word string) string {
	if cut, found := strings.CutSuffix(word, ";"); found {
		return cut + `\;`
	}
	return word
}
