package backends_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/acptest"
)

// results contains the results of all rows.
var results struct {
	sync.Mutex
	of map[string]map[string]string // by client and row: yes, no or FAILED
}

func note(client, row, result string) {
	results.Lock()
	defer results.Unlock()
	if results.of == nil {
		results.of = map[string]map[string]string{}
	}
	if results.of[client] == nil {
		results.of[client] = map[string]string{}
	}
	results.of[client][row] = result
}

// check runs a row's test for a client. The test fails if the result disagrees with
// [acptest.Cannot].
func check(t *testing.T, c acptest.Client, r acptest.Row) {
	began := time.Now()
	err := tests[r.Name](newLive(t, c))
	why, listed := acptest.Cannot[c.Name][r.Name]
	switch {
	case err == nil && listed:
		note(c.Name, r.Name, "FAILED")
		t.Errorf("%s passes the row %q; the list says that it %s", c.Name, r.Name, why)
	case err == nil:
		note(c.Name, r.Name, "yes")
	case listed:
		note(c.Name, r.Name, "no")
		t.Logf("as listed: %v", err)
	default:
		note(c.Name, r.Name, "FAILED")
		t.Error(err)
	}
	t.Logf("%s, %s: %.1f s", c.Name, r.Name, time.Since(began).Seconds())
}

// printTable prints a table of rows and clients, and the reason for each "no".
func printTable(w io.Writer) {
	if len(results.of) == 0 {
		return
	}
	var reasons []string
	fmt.Fprintf(w, "\n| %-42s |", "row")
	for _, c := range acptest.Clients {
		fmt.Fprintf(w, " %s %s |", c.Name, c.Version)
	}
	fmt.Fprintf(w, "\n| --- |%s\n", strings.Repeat(" --- |", len(acptest.Clients)))
	for _, r := range acptest.Rows {
		ran := slices.ContainsFunc(acptest.Clients, func(c acptest.Client) bool { return results.of[c.Name][r.Name] != "" })
		if !ran {
			continue
		}
		fmt.Fprintf(w, "| %-42s |", r.Promise)
		for _, c := range acptest.Clients {
			result := results.of[c.Name][r.Name]
			fmt.Fprintf(w, " %-*s |", len(c.Name)+1+len(c.Version), result)
			if result == "no" {
				reasons = append(reasons, fmt.Sprintf("no: %s: %s %s", r.Promise, c.Name, acptest.Cannot[c.Name][r.Name]))
			}
		}
		fmt.Fprintln(w)
	}
	for _, reason := range reasons {
		fmt.Fprintln(w, reason)
	}
}
