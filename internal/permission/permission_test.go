package permission_test

import (
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/permission"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

func TestEntriesAreRead(t *testing.T) {
	for text, want := range map[string]permission.Entry{
		"read":               {Kind: "read"},
		" execute  go test*": {Kind: "execute", Pattern: "go test*"},
		"tool files__*":      {Kind: "tool", Pattern: "files__*"},
	} {
		got, err := permission.ParseEntry(text)
		if err != nil || got != want {
			t.Errorf("ParseEntry(%q) = %v, %v, want %v", text, got, err, want)
		}
		if again, err := permission.ParseEntry(got.String()); err != nil || again != got {
			t.Errorf("ParseEntry(%q) = %v, %v, want %v", got, again, err, got)
		}
	}
	for _, text := range []string{"", "exec ls", "tool", "Read", "*"} {
		if got, err := permission.ParseEntry(text); err == nil {
			t.Errorf("ParseEntry(%q) = %v, want an error", text, got)
		}
	}
}

func rules(t *testing.T, allow, ask, deny string) permission.Rules {
	one := func(text string) []permission.Entry {
		if text == "" {
			return nil
		}
		e, err := permission.ParseEntry(text)
		if err != nil {
			t.Fatal(err)
		}
		return []permission.Entry{e}
	}
	return permission.Rules{Allow: one(allow), Ask: one(ask), Deny: one(deny)}
}

func TestDenyGoesBeforeAskAndAskBeforeAllow(t *testing.T) {
	r := rules(t, "execute", "execute git push*", "execute rm -rf*")
	for command, want := range map[string]permission.Answer{
		"ls":                            permission.Allow,
		"git push origin main":          permission.Ask,
		"cd sub && git push":            permission.Ask,
		"rm -rf /":                      permission.Deny,
		"git push && rm  -rf x":         permission.Deny,
		"sh -c 'rm -rf x'":              permission.Deny,
		"/bin/rm -rf x":                 permission.Deny,
		"git log --grep 'farm -rfather": permission.Allow,
	} {
		if got, by := r.Decide(runner.PermissionRequest{Kind: "execute", Command: command}); got != want {
			t.Errorf("Decide(%q) = %s by %q, want %s", command, got, by, want)
		}
	}
}

// A command that is allowed does not open the door for another one behind it.
func TestAnAllowedCommandAllowsNoOther(t *testing.T) {
	r := rules(t, "execute go test*", "", "")
	for command, want := range map[string]permission.Answer{
		"go test ./...":          permission.Allow,
		"go  test":               permission.Allow,
		"go test ./... ; rm x":   permission.Deny,
		"go test && rm x":        permission.Deny,
		"go test $(rm x)":        permission.Deny,
		"go test `rm x`":         permission.Deny,
		"go test\nrm x":          permission.Deny,
		"go test > ../elsewhere": permission.Deny,
		"go vet":                 permission.Deny,
		"":                       permission.Deny,
	} {
		if got, by := r.Decide(runner.PermissionRequest{Kind: "execute", Command: command}); got != want {
			t.Errorf("Decide(%q) = %s by %q, want %s", command, got, by, want)
		}
	}
}

func TestPathsAndTools(t *testing.T) {
	for _, c := range []struct {
		allow, deny string
		call        runner.PermissionRequest
		want        permission.Answer
	}{
		{"delete docs/*", "", runner.PermissionRequest{Kind: "delete", Paths: []string{"docs/a", "docs/b"}}, permission.Allow},
		{"delete docs/*", "", runner.PermissionRequest{Kind: "delete", Paths: []string{"docs/a", "src/b"}}, permission.Deny},
		{"", "edit *.env", runner.PermissionRequest{Kind: "edit", Paths: []string{"a.go", "x/.env"}}, permission.Deny},
		{"", "edit *.env", runner.PermissionRequest{Kind: "edit", Paths: []string{"a.go"}}, permission.Allow},
		{"tool files__read*", "", runner.PermissionRequest{Kind: "other", Tool: "files__read_all"}, permission.Allow},
		{"tool files__read*", "", runner.PermissionRequest{Kind: "other", Tool: "files__write"}, permission.Deny},
		{"", "", runner.PermissionRequest{Kind: "read", Tool: "mail__read"}, permission.Deny},
		{"", "", runner.PermissionRequest{Kind: "search"}, permission.Allow},
		{"", "", runner.PermissionRequest{Kind: "fetch"}, permission.Deny},
		{"fetch *example.org*", "", runner.PermissionRequest{Kind: "fetch", Title: "GET https://example.org/a"}, permission.Allow},
	} {
		if got, by := rules(t, c.allow, "", c.deny).Decide(c.call); got != c.want {
			t.Errorf("allow %q, deny %q: Decide(%+v) = %s by %q, want %s", c.allow, c.deny, c.call, got, by, c.want)
		}
	}
}

func TestOtherwise(t *testing.T) {
	call := runner.PermissionRequest{Kind: "read"}
	for _, want := range []permission.Answer{permission.Allow, permission.Ask, permission.Deny} {
		if got, _ := (permission.Rules{Otherwise: want}).Decide(call); got != want {
			t.Errorf("otherwise %s: %s", want, got)
		}
	}
}
