package docs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/testkit/acptest"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/acp"
	"github.com/claude-swarm/claude-swarm/swarm/runner/backends"
)

// The tables on the backends page are generated from the descriptions of the client
// kinds.
func TestBackendsPage(t *testing.T) {
	fill(t, "backends.md", "kinds", kindsTable())
	fill(t, "backends.md", "modes", modesTable())
	fill(t, "backends.md", "lacks", lacksTable())
	fill(t, "backends.md", "options", optionsTable())
	fill(t, "backends.md", "rows", rowsTable(t))
}

// The README lists every client that the tests run, with its version.
func TestReadmeNamesTheClients(t *testing.T) {
	var b strings.Builder
	b.WriteString("| `backend:` | client | install | tested version |\n| --- | --- | --- | --- |\n")
	for _, k := range backends.Kinds() {
		if k.Program() != "" {
			fmt.Fprintf(&b, "| `%s` | %s | `%s` | %s |\n", k.Name, k.Title, k.Install, k.Version.Supported)
		}
	}
	fill(t, "../README.md", "clients", b.String())
}

// rowOf returns the row of a client that speaks the Agent Client Protocol, or nil if
// there is no such row.
func rowOf(k *runner.Kind) *acp.Client {
	for _, c := range acp.Clients() {
		if c.Kind.Name == k.Name {
			return c
		}
	}
	return nil
}

func kindsTable() string {
	var b strings.Builder
	b.WriteString("| `backend:` | client | program | install | tested version | signs in with |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, k := range backends.Kinds() {
		program, install := "of `command:`", k.Install
		if k.Program() != "" {
			program, install = "`"+strings.Join(k.Command, " ")+"`", "`"+k.Install+"`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", k.Name, k.Title, program, install, k.Version.Supported, cell(k.Login.Try))
	}
	return b.String()
}

func modesTable() string {
	var b strings.Builder
	b.WriteString("| backend | `permission_mode` (the first is the default) | asks | takes the tools from | they are proven |\n| --- | --- | --- | --- | --- |\n")
	for _, k := range backends.Kinds() {
		modes := []string{}
		for _, m := range k.Modes {
			if m == k.Mode {
				modes = append([]string{"`" + m + "`"}, modes...)
			} else {
				modes = append(modes, "`"+m+"`")
			}
		}
		asks, from, proven := "never; it denies calls that are not allowed", "its command line", "before the prompt"
		if k.Asks {
			asks = k.Asking
		}
		if c := rowOf(k); c != nil {
			from = c.Servers.String()
			if c.LateTools {
				proven = "at the end of the first turn"
			}
		}
		all := strings.Join(modes, ", ")
		if all == "" {
			all = "the modes of the program"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", k.Name, all, asks, from, proven)
	}
	return b.String()
}

// lacksTable returns the table of the features that each kind lacks.
func lacksTable() string {
	var b strings.Builder
	b.WriteString("| backend | reports a compaction | steered in a turn | reports dollars | ends a turn at its dollar cap | tokens of a result | silence after which the model is considered unresponsive | warm client, `linger` |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n")
	said := func(yes bool) string {
		if yes {
			return "yes"
		}
		return "no"
	}
	tokens := map[runner.TokensWay]string{runner.TokensOfResult: "of the turn", runner.TokensOfProcess: "total of the process", runner.TokensOfSession: "total of the session"}
	for _, k := range backends.Kinds() {
		silence, dollars := "`stall_timeout`", said(k.Cost != runner.CostUnknown)
		if c := rowOf(k); c != nil {
			dollars = "if the client does"
			if c.Silence > 0 {
				silence = c.Silence.String()
			}
		}
		steers := said(k.Steers)
		if k.Name == "acp" {
			steers = "if the program offers it"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s | %s | %s |\n", k.Name, said(k.Hooks != nil), steers, dollars, said(k.Caps), tokens[k.Tokens], silence, k.Linger)
	}
	return b.String()
}

func optionsTable() string {
	var b strings.Builder
	b.WriteString("| key below `backend_options` | value | what it says |\n| --- | --- | --- |\n")
	for _, o := range backends.Kind("acp").Options {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", o.Name, cell(o.Type), cell(o.Doc))
	}
	return b.String()
}

func rowsTable(t *testing.T) string {
	var b, reasons strings.Builder
	b.WriteString("| promise |")
	for _, c := range acptest.Clients {
		b.WriteString(" " + c.Name + " " + c.Version + " |")
	}
	b.WriteString("\n| --- |" + strings.Repeat(" --- |", len(acptest.Clients)) + "\n")
	listed := 0
	for _, r := range acptest.Rows {
		b.WriteString("| " + r.Promise + " |")
		for _, c := range acptest.Clients {
			why, cannot := acptest.Cannot[c.Name][r.Name]
			if !cannot {
				b.WriteString(" yes |")
				continue
			}
			listed++
			b.WriteString(" **no** |")
			fmt.Fprintf(&reasons, "- No: %s. %s %s.\n", r.Promise, c.Name, why)
		}
		b.WriteString("\n")
	}
	all := 0
	for client, rows := range acptest.Cannot {
		if _, err := acptest.Find(client); err != nil {
			t.Error(err)
		}
		all += len(rows)
	}
	if all != listed {
		t.Errorf("%d of %d reasons belong to a row", listed, all)
	}
	return b.String() + "\n" + reasons.String()
}
