package main

import (
	"errors"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/internal/provision"
)

// initError adds the exit status and a hint to a configuration error. To any other error
// that has no hint, it adds a hint.
func initError(c *cli.Context, err error) error {
	if isConfigError(err) {
		return badConfig(err)
	}
	if nextStep(err) != "" {
		return err
	}
	if e, ok := errors.AsType[*provision.ConflictError](err); ok {
		return hint(err, "mv %s %s && %s", shellWord(e.Path), shellWord(e.Path+".old"), commandTyped(c))
	}
	return hint(err, "ls -ld .")
}
