package main

import (
	"errors"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/internal/provision"
)

// initError adds the exit status and the next step to an error in a configuration. To any
// other error without a next step it adds one.
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
