package compat

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/screen"
)

// A Result is what [Run] found out about a program on this machine. It counts as long as
// neither the program's file nor the facts change.
type Result struct {
	V       int       `json:"v"`
	Program string    `json:"program"` // the file's path, without links
	Version string    `json:"version"`
	At      time.Time `json:"at"`
	Answers []Answer  `json:"answers"`

	Size     int64     `json:"size"` // of the file, in bytes
	Modified time.Time `json:"modified"`
	Hash     string    `json:"hash"`  // of the file, SHA-256
	Facts    string    `json:"facts"` // a hash of the facts and recordings
}

// Count returns the number of answers in the state.
func (r *Result) Count(s State) int { return count(r.Answers, s) }

func count(answers []Answer, s State) int {
	n := 0
	for _, a := range answers {
		if a.State == s {
			n++
		}
	}
	return n
}

// String returns the result in a few words, such as "tested here: 26 of 27, 1 differs".
func (r *Result) String() string {
	said := fmt.Sprintf("tested here: %d of %d", r.Count(Yes), len(r.Answers))
	if n := r.Count(Differs); n > 0 {
		said += fmt.Sprintf(", %d %s", n, map[bool]string{true: "differs", false: "differ"}[n == 1])
	}
	if n := r.Count(No) + r.Count(Unknown); n > 0 {
		said += ", " + screen.Several(n, "fails", "fail")
	}
	return said
}

// A Cache keeps results in a folder, one file for each program. Several processes may use
// one folder.
type Cache struct{ Dir string }

// UserCache returns the cache of the user who runs this program.
func UserCache() (Cache, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return Cache{}, err
	}
	return Cache{filepath.Join(dir, "claude-swarm", "compat")}, nil
}

// Keep stores what a run found out about a command. The caller ran it just now.
func (c Cache) Keep(command []string, r *Report) (*Result, error) {
	path, info, err := fileOf(command)
	if err != nil {
		return nil, err
	}
	got := &Result{V: 1, Program: path, Version: r.Version, At: time.Now().UTC(), Answers: r.Answers, Size: info.Size(), Modified: info.ModTime().UTC(), Facts: edition()}
	if got.Hash, err = hashOf(path); err != nil {
		return nil, err
	}
	return got, c.write(command, path, got)
}

func (c Cache) write(command []string, path string, r *Result) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return err
	}
	return durable.Files{}.Write(c.name(command, path), durable.Options{Volatile: true}, data)
}

// Find returns the result that was kept for a command, or nil if there is none that still
// counts. It reads the whole file of the program only if the file has a new time and the
// same size.
func (c Cache) Find(command []string) (*Result, error) {
	path, info, err := fileOf(command)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(c.name(command, path))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var r Result
	if json.Unmarshal(data, &r) != nil || r.V != 1 || r.Facts != edition() || r.Size != info.Size() || len(r.Answers) != len(facts) {
		return nil, nil // of another version of claude-swarm or of the program
	}
	if r.Modified.Equal(info.ModTime()) {
		return &r, nil
	}
	hash, err := hashOf(path)
	if err != nil || hash != r.Hash {
		return nil, err
	}
	r.Modified = info.ModTime().UTC()
	return &r, c.write(command, path, &r)
}

// name returns the path of the file for a program with its first arguments.
func (c Cache) name(command []string, path string) string {
	sum := sha256.Sum256([]byte(strings.Join(slices.Concat([]string{path}, command[1:]), "\x00")))
	return filepath.Join(c.Dir, hex.EncodeToString(sum[:12])+".json")
}

// fileOf finds the file that a command runs.
func fileOf(command []string) (path string, info os.FileInfo, err error) {
	if path, err = exec.LookPath(command[0]); err != nil {
		return "", nil, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", nil, err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return "", nil, err
	}
	info, err = os.Stat(path)
	return path, info, err
}

func hashOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// edition returns a hash of the facts and of what is recorded about them.
func edition() string {
	sum := sha256.New()
	for _, f := range facts {
		fmt.Fprintf(sum, "%s\x00%s\x00%q\x00", f.name, f.claim, f.wants)
	}
	for _, v := range slices.Sorted(func(yield func(string) bool) {
		for version := range recordings() {
			if !yield(version) {
				return
			}
		}
	}) {
		io.WriteString(sum, recordings()[v].Format(v))
	}
	return hex.EncodeToString(sum.Sum(nil)[:12])
}
