package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	claudeswarm "github.com/claude-swarm/claude-swarm"
	"github.com/claude-swarm/claude-swarm/swarm/runner/backends"
	"github.com/claude-swarm/claude-swarm/swarm/runner/claude"
)

// A bump moves clients.lock, or prints why it cannot.
type bump struct {
	dir    string // the checkout
	out    io.Writer
	again  bool     // also clients whose version does not change
	only   []string // the names of the clients; empty means all
	run    func(ctx context.Context, w io.Writer, env []string, args ...string) error
	latest func(ctx context.Context, pkg string) (release, error)
}

// A change is a client whose line changes, or that is tested again.
type change struct{ was, is claudeswarm.Client }

// errDiffers means that a client was tested and is not as it has to be.
var errDiffers = errors.New("not everything is as it was; clients.lock keeps its versions")

func (b *bump) do(ctx context.Context) (err error) {
	lock := filepath.Join(b.dir, "clients.lock")
	text, err := os.ReadFile(lock)
	if err != nil {
		return err
	}
	clients, err := claudeswarm.Parse(string(text))
	if err != nil {
		return err
	}
	changes, err := b.plan(ctx, clients)
	if err != nil || len(changes) == 0 {
		return err
	}
	// The tests and the Makefile read the file, so it has the new versions while they run.
	if err := os.WriteFile(lock, []byte(relock(string(text), clients)), 0o644); err != nil {
		return err
	}
	keep := false
	defer func() {
		if !keep {
			err = errors.Join(err, os.WriteFile(lock, text, 0o644))
		}
	}()
	var failed []string
	for _, c := range changes {
		found, err := b.test(ctx, c.is)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			fmt.Fprintf(b.out, "%s %s: everything passes\n", c.is.Name, c.is.Newest)
		}
		for _, f := range found {
			failed = append(failed, c.is.Name+" "+c.is.Newest+": "+f)
		}
	}
	if len(failed) > 0 {
		fmt.Fprintf(b.out, "\nwhat differs:\n- %s\n", strings.Join(failed, "\n- "))
		return errDiffers
	}
	keep = true
	return b.write(ctx, changes)
}

// plan asks for the newest versions, replaces the lines of clients that change, and prints
// all of them.
func (b *bump) plan(ctx context.Context, clients []claudeswarm.Client) ([]change, error) {
	var changes []change
	for i, c := range clients {
		if len(b.only) > 0 && !slices.Contains(b.only, c.Name) {
			continue
		}
		r, err := b.latest(ctx, c.Package)
		if err != nil {
			return nil, err
		}
		is := c
		switch {
		case claude.CompareVersions(r.Version, c.Newest) > 0:
			is = moved(c, r)
			fmt.Fprintf(b.out, "%-9s %-8s → %s, of %s\n", c.Name, c.Newest, is.Newest, is.Published)
		case claude.CompareVersions(r.Version, c.Newest) < 0:
			fmt.Fprintf(b.out, "%-9s %-8s npm's newest is %s, which is older\n", c.Name, c.Newest, r.Version)
			continue
		default:
			fmt.Fprintf(b.out, "%-9s %-8s is npm's newest, of %s\n", c.Name, c.Newest, r.Published)
		}
		if is != c || b.again {
			changes = append(changes, change{c, is})
			clients[i] = is
		}
	}
	return changes, nil
}

// test installs a client and tests it. It returns what differs or fails, one line each.
func (b *bump) test(ctx context.Context, c claudeswarm.Client) (found []string, err error) {
	steps := [][]string{{"make", "backends", "ONLY=" + c.Name}}
	if c.Name == "claude" {
		steps = [][]string{
			{"make", "tools", "CLI=" + c.Newest},
			{"make", "compat", "VERSIONS=" + c.Newest, "UPDATE="},
			{"make", "e2e-client", "CLI=" + c.Newest},
		}
	}
	for _, args := range steps {
		fmt.Fprintf(b.out, "\n$ %s\n", strings.Join(args, " "))
		var said bytes.Buffer
		err := b.run(ctx, io.MultiWriter(b.out, &said), nil, args...)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			found = append(found, trouble(said.String(), err)...)
		}
	}
	return found, nil
}

// trouble picks the lines of a failed step that say what is wrong; without any, it is the
// error.
func trouble(said string, err error) []string {
	var lines []string
	for line := range strings.Lines(said) {
		line = strings.TrimRight(line, "\n")
		for _, begin := range []string{"differs ", "no ", "unknown ", "--- FAIL: "} {
			if strings.HasPrefix(line, begin) {
				lines = append(lines, line)
			}
		}
	}
	if len(lines) == 0 {
		return []string{err.Error()}
	}
	return lines
}

// write records the answers and rewrites the pages. clients.lock is already rewritten.
func (b *bump) write(ctx context.Context, changes []change) error {
	var pages []string
	for _, pattern := range []string{"docs/*.md", "docs/dev/*.md"} {
		found, err := filepath.Glob(filepath.Join(b.dir, pattern))
		if err != nil {
			return err
		}
		pages = append(pages, found...)
	}
	texts := map[string]string{}
	for _, page := range append(pages, filepath.Join(b.dir, "README.md"), filepath.Join(b.dir, "CHANGELOG.md")) {
		data, err := os.ReadFile(page)
		if err != nil {
			return err
		}
		texts[page] = string(data)
	}
	var titles []string
	var steps [][]string
	for _, c := range changes {
		if c.was == c.is {
			continue
		}
		titles = append(titles, fmt.Sprintf("%s %s", backends.Kind(c.is.Name).Title, c.is.Newest))
		if c.is.Name == "claude" {
			steps = append(steps, []string{"make", "compat", "VERSIONS=" + c.is.Newest, "UPDATE=1"})
			for _, page := range slices.Sorted(maps.Keys(texts)) {
				texts[page] = renamed(texts[page], c.was, c.is)
			}
		}
	}
	if len(titles) == 0 {
		return nil // everything was only tested again
	}
	changelog := filepath.Join(b.dir, "CHANGELOG.md")
	text, err := noted(texts[changelog], titles)
	if err != nil {
		return err
	}
	texts[changelog] = text
	for _, page := range slices.Sorted(maps.Keys(texts)) {
		if err := os.WriteFile(page, []byte(texts[page]), 0o644); err != nil {
			return err
		}
	}
	steps = append(steps, []string{"go", "test", "./docs", "-run", "^(TestBackendsPage|TestReadmeNamesTheClients)$"})
	for _, args := range steps {
		if err := b.run(ctx, b.out, []string{"UPDATE=1"}, args...); err != nil {
			return err
		}
	}
	if err := b.run(ctx, b.out, nil, "go", "test", ".", "./docs", "./internal/compat", "./internal/testkit/compatpage"); err != nil {
		return err
	}
	fmt.Fprintf(b.out, "\nclients.lock, the tables and the changelog name %s; read the diff, then commit it\n", strings.Join(titles, ", "))
	return nil
}
