package main

import (
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/internal/rights"
)

// Each verb is in the table of rights, and each line of the table is a verb.
func TestEachVerbHasARight(t *testing.T) {
	known := map[string]bool{}
	each(newApp(nil, nil, nil, nil).Commands, "", func(c *cli.Command, name string) { known[name] = true })
	for name := range known {
		if _, ok := rights.Verbs()[name]; !ok {
			t.Errorf("internal/rights does not say who may use %q", name)
		}
	}
	for name := range rights.Verbs() {
		if !known[name] {
			t.Errorf("internal/rights names %q, which is no verb", name)
		}
	}
}
