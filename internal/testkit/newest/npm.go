package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// A release is the newest version of a package.
type release struct {
	Version   string
	Published string            // the day, such as 2026-11-24
	Needs     map[string]string // its dependencies, with their ranges
}

// latest asks npm for the newest version of a package.
func latest(ctx context.Context, pkg string) (release, error) {
	view := func(fields ...string) ([]byte, error) {
		cmd := exec.CommandContext(ctx, "npm", append([]string{"view", "--json", pkg + "@latest"}, fields...)...)
		out, err := cmd.Output()
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("npm view %s: %w: %s", pkg, err, strings.TrimSpace(string(exit.Stderr)))
		}
		return out, err
	}
	var told struct {
		Version      string
		Time         map[string]string
		Dependencies map[string]string
	}
	out, err := view("version", "time", "dependencies")
	if err != nil {
		return release{}, err
	}
	if err := json.Unmarshal(out, &told); err != nil {
		return release{}, fmt.Errorf("npm view %s: %w", pkg, err)
	}
	day, _, _ := strings.Cut(told.Time[told.Version], "T")
	if told.Version == "" || day == "" {
		return release{}, fmt.Errorf("npm view %s: version %q of %q", pkg, told.Version, day)
	}
	return release{told.Version, day, told.Dependencies}, nil
}
