package main

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
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

// orders are the arguments with which a script tries each verb that is not for turns.
var orders = map[string][]string{
	"start":         {"start", "start reviewer"},
	"stop":          {"stop", "stop --now", "stop reviewer"},
	"restart":       {"restart"},
	"reload":        {"reload", "reload --accept"},
	"pause":         {"pause reviewer"},
	"resume":        {"resume reviewer"},
	"drain":         {"drain", "drain reviewer"},
	"undrain":       {"undrain", "undrain reviewer"},
	"attach":        {"attach --as reviewer"},
	"init":          {"init --subscribe lead=task.*", "init --upgrade"},
	"irc run":       {"irc run"},
	"budget raise":  {"budget raise swarm.day 5"},
	"merge":         {"merge k7f3q9m2xd", "merge --undo k7f3q9m2xd", "merge"},
	"verify":        {"verify test"},
	"unhalt":        {"unhalt"},
	"remove":        {"remove reviewer --keep"},
	"dead retry":    {"dead retry aaaaaaaaaa"},
	"dead purge":    {"dead purge aaaaaaaaaa"},
	"refused retry": {"refused retry aaaaaaaaaa"},
	"webhooks test": {"webhooks test hook"},
}

// listDenied writes the command lines of all verbs that no turn may use. A verb that is new
// in the table needs its arguments above.
func listDenied(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: denied FILE")
	}
	var lines strings.Builder
	for _, verb := range slices.Sorted(maps.Keys(rights.Verbs())) {
		if rights.OfVerb(verb).Right.Allows(rights.Caller{Agent: "coder", InTurn: true}) {
			continue
		}
		if len(orders[verb]) == 0 {
			ts.Fatalf("no arguments for %q", verb)
		}
		lines.WriteString(strings.Join(orders[verb], "\n") + "\n")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(lines.String()), 0o600))
}
