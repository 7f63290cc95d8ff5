package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// sites is the number of mutants that a draw takes from each package.
const sites = 6

// notDrawn lists the packages of the program that the draws leave out, with the reason.
var notDrawn = map[string]string{
	".":                     "a table: the tested versions of the clients",
	"internal/rights":       "a table: who may use which verb",
	"swarm/runner/backends": "a table: the backends of this version",
	"internal/fakeapi":      "a generator: the scripted model of the tests and the demo",
	"internal/compat":       "a table of facts about the real client, which only the real client can check",
}

// workedOn lists the packages in which each mutant of draw 1 is caught or has a reason in
// equivalents.txt. One that escapes there makes the run fail.
var workedOn = []string{
	"dropbox/outbox",
	"internal/bridge", "internal/client", "internal/control", "internal/provision",
	"swarm/hold", "swarm/journal", "swarm/mail", "swarm/notice",
	"swarm/runner", "swarm/runner/acp", "swarm/runner/claude", "swarm/runner/follow",
}

// drawn returns a target for each package of the program from which a draw takes mutants:
// all of its files that are built on this platform.
func drawn(ctx context.Context, root string) ([]target, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-json=Dir,GoFiles,Module", "./cmd/claude-swarm")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list -deps: %w", err)
	}
	var all []target
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			Dir     string
			GoFiles []string
			Module  *struct{ Main bool }
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list -deps: %w", err)
		}
		if p.Module == nil || !p.Module.Main {
			continue
		}
		pkg, err := filepath.Rel(root, p.Dir)
		if err != nil {
			return nil, err
		}
		if notDrawn[pkg] != "" {
			continue
		}
		t := target{pkg: pkg}
		if i := slices.IndexFunc(targets, func(t target) bool { return t.pkg == pkg }); i >= 0 {
			t = targets[i] // the same tests, so that what is known about a mutant counts for both
		}
		t.files = p.GoFiles
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b target) int { return cmp.Compare(a.pkg, b.pkg) })
	return all, nil
}

// draw takes [sites] mutants from each package. The same seed takes the same ones, as long as
// their code does not change.
func draw(all []mutant, seed int) []mutant {
	lot := func(m mutant) string {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", seed, m.id()))
		return string(sum[:])
	}
	of := map[string][]mutant{}
	for _, m := range all {
		of[m.pkg] = append(of[m.pkg], m)
	}
	chosen := map[string]bool{}
	for _, mine := range of {
		slices.SortFunc(mine, func(a, b mutant) int { return cmp.Compare(lot(a), lot(b)) })
		for _, m := range mine[:min(sites, len(mine))] {
			chosen[m.id()] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(m mutant) bool { return !chosen[m.id()] })
}
