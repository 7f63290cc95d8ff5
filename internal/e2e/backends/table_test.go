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

// cannot are the rows that a client cannot pass, with the reason: the end of a sentence that
// begins with its name.
var cannot = map[string]map[string]string{
	"gemini": {
		"cancel": "forgets a session whose first turn was stopped: the next turn has a new one",
		"resume": "deletes a session that it has taken up, unless ~/.gemini/settings.json has general.sessionRetention.enabled: false",
	},
	"opencode": {
		"tokens": "tells the tokens of the last request alone",
	},
	"cline": {
		"tokens": "tells no tokens",
	},
}

// results are what the rows showed.
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

// check runs a row for a client. The result must be the one that the list of reasons tells.
func check(t *testing.T, c acptest.Client, r row) {
	began := time.Now()
	err := r.test(newLive(t, c))
	why, listed := cannot[c.Name][r.name]
	switch {
	case err == nil && listed:
		note(c.Name, r.name, "FAILED")
		t.Errorf("%s passes the row %q; the list says that it %s", c.Name, r.name, why)
	case err == nil:
		note(c.Name, r.name, "yes")
	case listed:
		note(c.Name, r.name, "no")
		t.Logf("as listed: %v", err)
	default:
		note(c.Name, r.name, "FAILED")
		t.Error(err)
	}
	t.Logf("%s, %s: %.1f s", c.Name, r.name, time.Since(began).Seconds())
}

// printTable prints rows and clients, and the reason for each no.
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
	for _, r := range rows {
		ran := slices.ContainsFunc(acptest.Clients, func(c acptest.Client) bool { return results.of[c.Name][r.name] != "" })
		if !ran {
			continue
		}
		fmt.Fprintf(w, "| %-42s |", r.promise)
		for _, c := range acptest.Clients {
			result := results.of[c.Name][r.name]
			fmt.Fprintf(w, " %-*s |", len(c.Name)+1+len(c.Version), result)
			if result == "no" {
				reasons = append(reasons, fmt.Sprintf("no: %s: %s %s", r.promise, c.Name, cannot[c.Name][r.name]))
			}
		}
		fmt.Fprintln(w)
	}
	for _, reason := range reasons {
		fmt.Fprintln(w, reason)
	}
}
