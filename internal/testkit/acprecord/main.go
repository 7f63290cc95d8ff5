package main

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/internal/testkit/acptest"
	"github.com/claude-swarm/claude-swarm/internal/testkit/models"
)

func main() {
	if os.Getenv(toolsVar) != "" {
		os.Exit(report(serveTools(context.Background())))
	}
	if status, done, err := acptest.Again(); done {
		os.Exit(max(status, report(err)))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(report(run(ctx, os.Args[1:])))
}

func report(err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, "acprecord:", err)
	return 1
}

// run records the named dialogues, such as "codex" or "codex/turn", or all dialogues if
// names is empty.
func run(ctx context.Context, names []string) error {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return err
	}
	root := strings.TrimSpace(string(out))
	for _, name := range names {
		client, wanted, one := strings.Cut(name, "/")
		if _, err := acptest.Find(client); err != nil {
			return err
		}
		if one && !slices.ContainsFunc(rows, func(r row) bool { return r.name == wanted }) {
			return fmt.Errorf("no row is called %s", wanted)
		}
	}
	var all []error
	for _, c := range acptest.Clients {
		folder := filepath.Join(root, "testdata", "acp", c.Name+"-"+c.Version)
		if err := os.MkdirAll(folder, 0o777); err != nil {
			return err
		}
		for _, r := range rows {
			if len(names) > 0 && !slices.Contains(names, c.Name) && !slices.Contains(names, c.Name+"/"+r.name) {
				continue
			}
			if err := record(ctx, c, r, root, filepath.Join(folder, r.name+".jsonl")); err != nil {
				all = append(all, fmt.Errorf("%s, %s: %w", c.Name, r.name, err))
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	return errors.Join(all...)
}

// record runs one row in a new home folder and writes its file.
func record(ctx context.Context, c acptest.Client, r row, root, file string) (err error) {
	dir, err := os.MkdirTemp("", "acp")
	if err != nil {
		return err
	}
	defer func() {
		if e := os.RemoveAll(dir); err == nil && e != nil {
			err = e
		}
	}()
	web := httptest.NewServer(&models.Server{})
	defer web.Close()
	home, err := acptest.Prepare(c, root, dir, web.URL)
	if err != nil {
		return err
	}
	d := &dialogue{home: home, decide: "allow_once"}
	defer d.end()
	if r.before != nil {
		if err := d.start(ctx); err != nil {
			return err
		}
		r.before(d)
		d.end()
	}
	if err := d.start(ctx); err != nil {
		return err
	}
	r.play(d)
	d.end()
	names := map[string]string{dir: "/tmp/acp", root: "/repository", web.URL: "http://127.0.0.1:8080", exe(): "/repository/tools"}
	if installed, err := filepath.EvalSymlinks(filepath.Join(root, ".tools")); err == nil {
		names[installed] = "/repository/.tools"
	}
	data, err := neutral(d.lines, names)
	if err != nil {
		return err
	}
	fmt.Printf("%-9s %-16s %6d bytes  %s\n", c.Name, r.name, len(data), strings.Join(d.odd, "; "))
	if len(data) > maxFile {
		return fmt.Errorf("%d bytes are more than %d", len(data), maxFile)
	}
	return os.WriteFile(file, data, 0o666)
}

// maxFile is the maximum size of a recording, in bytes, so that recordings stay short
// enough to read.
const maxFile = 60_000

func exe() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}
