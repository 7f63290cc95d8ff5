package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// A memory stores findings in a file, one per line, so that a run can be interrupted.
type memory struct {
	mu   sync.Mutex
	file *os.File
	by   map[string]finding // the newest finding about each mutant, by its id
}

func openMemory(path string) (*memory, error) {
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	k := &memory{by: map[string]finding{}}
	for scan := bufio.NewScanner(bytes.NewReader(data)); scan.Scan(); {
		var f finding
		if json.Unmarshal(scan.Bytes(), &f) == nil { // the last line of an interrupted run may be incomplete
			k.by[f.Mutant] = f
		}
	}
	k.file, err = os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	return k, err
}

func (k *memory) add(f finding) error {
	data, err := json.Marshal(f)
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.by[f.Mutant] = f
	_, err = k.file.Write(append(data, '\n'))
	return err
}

// known returns the finding about a mutant if it is still valid. A finding about a caught
// mutant is valid until its file changes, and one about an escaped mutant until the package
// or its tests change.
func (k *memory) known(m mutant, s states) (finding, bool) {
	f, ok := k.by[m.id()]
	return f, ok && f.State == s.of(m, f.Verdict)
}

// states contains hashes of the sources.
type states struct {
	files    map[string]string // by path in the module
	packages map[string]string // by folder; each hash also covers the tests that run, including those in other folders
}

func (s states) of(m mutant, v verdict) string {
	if v == caught {
		return s.files[m.pkg+"/"+m.file]
	}
	return s.packages[m.pkg]
}

func readStates(root string, targets []target) (states, error) {
	s := states{map[string]string{}, map[string]string{}}
	for _, t := range targets {
		whole := sha256.New()
		for _, dir := range t.tests() {
			err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
				if err != nil || !d.Type().IsRegular() {
					return err
				}
				data, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				name, err := filepath.Rel(root, path)
				if err != nil {
					return err
				}
				sum := sha256.Sum256(data)
				fmt.Fprintf(whole, "%s %x\n", name, sum)
				s.files[name] = fmt.Sprintf("%x", sum[:8])
				return nil
			})
			if err != nil {
				return s, err
			}
		}
		s.packages[t.pkg] = fmt.Sprintf("%x", whole.Sum(nil)[:8])
	}
	return s, nil
}
