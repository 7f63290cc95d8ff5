package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A memory notes which units of a part have passed, one per line of a file, so that a run
// can be interrupted. Only one goroutine may use it.
type memory struct {
	dir    string             // the folder of the part, with the units' output
	source string             // the state of the source on which the units run
	passed map[string]float64 // the seconds of each unit that has passed on this source, by name
	file   *os.File
}

// A noted unit has passed.
type noted struct {
	Unit    string    `json:"unit"`
	Source  string    `json:"source"`
	Seconds float64   `json:"seconds"`
	At      time.Time `json:"at"`
}

// openMemory reads what has passed. The caller closes the memory.
func openMemory(folder, part, source string, fresh bool) (*memory, error) {
	m := &memory{dir: filepath.Join(folder, part), source: source, passed: map[string]float64{}}
	if fresh {
		if err := os.RemoveAll(m.dir); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(m.dir, 0o755); err != nil {
		return nil, err
	}
	path := filepath.Join(m.dir, "passed.jsonl")
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for scan := bufio.NewScanner(bytes.NewReader(data)); scan.Scan(); {
		var n noted
		if json.Unmarshal(scan.Bytes(), &n) == nil && n.Source == source { // the last line of a killed run may be incomplete
			m.passed[n.Unit] = n.Seconds
		}
	}
	m.file, err = os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	return m, err
}

func (m *memory) close() { m.file.Close() }

func (m *memory) addPassed(unit string, seconds float64) error {
	data, err := json.Marshal(noted{unit, m.source, seconds, time.Now()})
	if err != nil {
		return err
	}
	m.passed[unit] = seconds
	_, err = m.file.Write(append(data, '\n'))
	return err
}

// run runs a unit with its output in a log file, and returns the last lines of the output.
// When ctx is done, it ends the unit with everything in its process group.
func (m *memory) run(ctx context.Context, u unit) (last []string, err error) {
	name := strings.NewReplacer("/", "-", " ", "-").Replace(u.name) + ".log"
	log, err := os.Create(filepath.Join(m.dir, name))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.CommandContext(ctx, u.args[0], u.args[1:]...)
	cmd.Env = append(os.Environ(), u.env...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = time.Minute
	err = cmd.Run()
	if err == nil {
		return nil, nil
	}
	const most = 16 << 10
	info, statErr := log.Stat()
	if statErr != nil {
		return nil, errors.Join(err, statErr)
	}
	end := make([]byte, min(info.Size(), most))
	if _, readErr := log.ReadAt(end, info.Size()-int64(len(end))); readErr != nil && readErr != io.EOF {
		return nil, errors.Join(err, readErr)
	}
	last = strings.Split(strings.TrimSpace(string(end)), "\n")
	return last[max(0, len(last)-40):], err
}

// sourceState identifies the source: the commit, and what has been changed since.
func sourceState(ctx context.Context) (string, error) {
	commit, err := exec.CommandContext(ctx, "git", "rev-parse", "HEAD").Output()
	if err != nil {
		return "", fmt.Errorf("git rev-parse: %w", err)
	}
	changes, err := exec.CommandContext(ctx, "git", "diff", "HEAD").Output()
	if err != nil {
		return "", fmt.Errorf("git diff: %w", err)
	}
	state := strings.TrimSpace(string(commit))
	if len(changes) > 0 {
		state += fmt.Sprintf(" and changes %x", sha256.Sum256(changes))
	}
	return state, nil
}
