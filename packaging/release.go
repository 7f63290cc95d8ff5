package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An order says which packages to make. The working directory is the root of the source.
type order struct {
	out       string     // the folder for the packages
	described string     // the version, as git describe prints it
	platforms []platform // the platforms to make packages for
	build     []string   // the flags of go build
	nfpm      string     // the program that makes deb and rpm
}

// A release is what all packages of one version have in common.
type release struct {
	order
	version string    // a semantic version without a leading v
	time    time.Time // the time of everything in the packages
	scratch string    // a folder that is removed at the end
	files   []string  // the packages that have been made, as names in out
}

// own matches the files that a release consists of. Earlier ones are removed from the
// folder; everything else in it stays.
var own = []string{"claude-swarm_*.tar.gz", "claude-swarm_*.deb", "claude-swarm_*.rpm", "claude-swarm-*.tgz", "checksums.txt", "release-notes.md"}

// make makes the packages.
func (o order) make(ctx context.Context) (err error) {
	r := release{order: o}
	if r.version, err = packageVersion(o.described, func() (string, error) { return git(ctx, "rev-list", "--count", "HEAD") }); err != nil {
		return err
	}
	if r.time, err = sourceTime(ctx); err != nil {
		return err
	}
	if r.scratch, err = os.MkdirTemp("", "packaging"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.scratch)) }()
	if err := r.prepare(); err != nil {
		return err
	}
	common, err := r.commonFiles(ctx)
	if err != nil {
		return err
	}
	for _, p := range o.platforms {
		path, err := r.program(ctx, p)
		if err != nil {
			return err
		}
		program, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files := append([]file{{"bin/claude-swarm", 0o755, program}}, common...)
		stem := "claude-swarm_" + r.version + "_" + p.os + "_" + p.arch
		if err := r.tarball(stem+".tar.gz", stem+"/", files); err != nil {
			return err
		}
		if p.os == "linux" {
			if err := r.system(ctx, p, stem, files); err != nil {
				return err
			}
		}
		if err := r.npmProgram(p, program, common); err != nil {
			return err
		}
	}
	if err := r.npmMain(common); err != nil {
		return err
	}
	if err := r.checksums(); err != nil {
		return err
	}
	return r.notes()
}

// prepare makes the folder for the packages, and removes those of an earlier release.
func (r *release) prepare() error {
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	for _, pattern := range own {
		old, err := filepath.Glob(filepath.Join(r.out, pattern))
		if err != nil {
			return err
		}
		for _, path := range old {
			if err := os.Remove(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// sourceTime returns the time that the environment names or, if there is none, the time of
// the commit.
func sourceTime(ctx context.Context) (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		var err error
		if text, err = git(ctx, "log", "-1", "--format=%ct"); err != nil {
			return time.Time{}, fmt.Errorf("the time of the commit: %w\n  try: set SOURCE_DATE_EPOCH, in seconds since 1970", err)
		}
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

func git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}

// program builds the program for a platform and returns its path.
func (r *release) program(ctx context.Context, p platform) (string, error) {
	path := filepath.Join(r.scratch, p.os+"-"+p.arch)
	cmd := exec.CommandContext(ctx, "go", append(append([]string{"build"}, r.build...), "-o", path, "./cmd/claude-swarm")...)
	// A person's settings for other builds must not change the bytes.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.os, "GOARCH="+p.arch, "GOFLAGS=", "GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("go build for %s: %w", p, err)
	}
	return path, nil
}

// commonFiles returns the files that all packages contain, whatever their platform. The
// program of this machine prints the completions and the help in the manual pages.
func (r *release) commonFiles(ctx context.Context) ([]file, error) {
	var files []file
	for _, name := range []string{"README.md", "CHANGELOG.md", "LICENSE"} {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files = append(files, file{"share/doc/claude-swarm/" + name, 0o644, data})
	}
	program, err := r.program(ctx, platform{runtime.GOOS, runtime.GOARCH})
	if err != nil {
		return nil, err
	}
	said := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, program, args...)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			err = fmt.Errorf("claude-swarm %s: %w", strings.Join(args, " "), err)
		}
		return string(out), err
	}
	for _, c := range []struct{ shell, path string }{
		{"bash", "share/bash-completion/completions/claude-swarm"},
		{"zsh", "share/zsh/site-functions/_claude-swarm"},
		{"fish", "share/fish/vendor_completions.d/claude-swarm.fish"},
	} {
		script, err := said("completion", c.shell)
		if err != nil {
			return nil, err
		}
		files = append(files, file{c.path, 0o644, []byte(script)})
	}
	help, err := said("__verbs")
	if err != nil {
		return nil, err
	}
	verbs, err := parseVerbs(help)
	if err != nil {
		return nil, err
	}
	return append(files, verbs.manPages(r.version, r.time)...), nil
}

// add writes a package, which checksums.txt then names.
func (r *release) add(name string, data []byte) error {
	r.files = append(r.files, name)
	return os.WriteFile(filepath.Join(r.out, name), data, 0o644)
}

// checksums writes checksums.txt, which sha256sum -c reads.
func (r *release) checksums() error {
	var b strings.Builder
	slices.Sort(r.files)
	for _, name := range r.files {
		data, err := os.ReadFile(filepath.Join(r.out, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(data), name)
	}
	return os.WriteFile(filepath.Join(r.out, "checksums.txt"), []byte(b.String()), 0o644)
}
