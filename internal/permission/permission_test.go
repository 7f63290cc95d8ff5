package permission_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
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

// Allowing one command does not allow another command on the same line.
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
	for _, want := range []permission.Answer{permission.Allow, permission.Ask, permission.Deny} {
		r := permission.Rules{Otherwise: want}
		for _, kind := range []string{"edit", "execute", "fetch", "delete", "other"} {
			if got, _ := r.Decide(runner.PermissionRequest{Kind: kind}); got != want {
				t.Errorf("otherwise %s: %s of %s", want, got, kind)
			}
		}
		for _, kind := range []string{"read", "search", "think"} {
			if got, _ := r.Decide(runner.PermissionRequest{Kind: kind}); got != permission.Allow {
				t.Errorf("otherwise %s: %s of %s, want allow", want, got, kind)
			}
			r := permission.Rules{Otherwise: want, Deny: []permission.Entry{{Kind: kind}}}
			if got, _ := r.Decide(runner.PermissionRequest{Kind: kind}); got != permission.Deny {
				t.Errorf("otherwise %s: %s of %s, which an entry denies", want, got, kind)
			}
		}
	}
}

func TestPathsAreThoseOfTheAgentsFolder(t *testing.T) {
	for _, c := range []struct {
		allow, path string
		want        permission.Answer
	}{
		{"", "/home/ann/shop/a.go", permission.Allow},
		{"", "a.go", permission.Allow},
		{"", "/home/ann/shop", permission.Allow},
		{"", "/home/ann/shop/../.ssh/config", permission.Deny},
		{"", "../shop2/a.go", permission.Deny},
		{"", "/home/ann/shopping/a.go", permission.Deny},
		{"edit docs/*", "/home/ann/shop/docs/a.md", permission.Allow},
		{"edit /etc/*", "/etc/hosts", permission.Allow},
		{"edit /etc/*", "/etc/../root/.profile", permission.Deny},
		{"edit ../other/*", "/home/ann/other/x", permission.Deny}, // an entry for this file must use its absolute path
	} {
		r := rules(t, c.allow, "", "")
		r.Dir = "/home/ann/shop"
		if got, _ := r.Decide(runner.PermissionRequest{Kind: "edit", Paths: []string{c.path}}); got != c.want {
			t.Errorf("allow %q: edit of %s: %s, want %s", c.allow, c.path, got, c.want)
		}
	}
	r := rules(t, "", "", "edit secrets/*")
	r.Dir = "/home/ann/shop"
	for _, path := range []string{"/home/ann/shop/secrets/key", "secrets/key", "docs/../secrets/key"} {
		if got, _ := r.Decide(runner.PermissionRequest{Kind: "edit", Paths: []string{"a.go", path}}); got != permission.Deny {
			t.Errorf("edit of %s: %s, want deny", path, got)
		}
	}
	// If a call has no path, the file that it affects is unknown.
	r = rules(t, "delete docs/*", "", "")
	if got, _ := r.Decide(runner.PermissionRequest{Kind: "delete", Title: "docs/a"}); got != permission.Deny {
		t.Errorf("delete without a path: %s, want deny", got)
	}
}

func TestEachCommandOfALineNeedsAnEntry(t *testing.T) {
	r := permission.Rules{}
	for _, text := range []string{"execute go test*", "execute npm test", "execute make all > build.log", "execute grep *"} {
		e, err := permission.ParseEntry(text)
		if err != nil {
			t.Fatal(err)
		}
		r.Allow = append(r.Allow, e)
	}
	for command, want := range map[string]string{
		"go test ./... && npm test":             "execute go test*, execute npm test",
		"go test ./a; go test ./b":              "execute go test*",
		"go test ./... 2>&1 | grep -v 'ok;'":    "execute go test*, execute grep *",
		"! npm test || go test >/dev/null 2>&1": "execute npm test, execute go test*",
		"npm test\ngo test ./x":                 "execute npm test, execute go test*",
		"make all > build.log":                  "execute make all > build.log",
		`grep "a & b" x`:                        "execute grep *",
		"go test && npm publish":                "",
		"npm test --save":                       "",
		"make all > other.log":                  "",
		"make all >> build.log":                 "",
		"make all > build.log && go test":       "", // the entry matches only the whole line
		"grep x > build.log":                    "",
		"npm test &":                            "",
		"npm test & go test":                    "",
		"(npm test)":                            "",
		"{ npm test; }":                         "",
		"if npm test; then go test; fi":         "",
		"go test $HOME":                         "",
		`go test "$(npm test)"`:                 "",
		"go test `npm test`":                    "",
		"go test <(npm test)":                   "",
		"go test $'a'":                          "",
		"go test a$":                            "", // plain text in bash, but not in every shell
		"grep x <<E\nE":                         "",
		"PATH=. go test":                        "",
		"go test\r\nnpm test":                   "",
		"npm test # ; and more":                 "",
		"npm test |":                            "",
		"go test 'abc":                          "",
		"npm test >&file":                       "",
		"npm test 2>/dev/null/../x":             "",
		"eval npm test":                         "",
		"\"go\" test":                           "",
	} {
		got, by := r.Decide(runner.PermissionRequest{Kind: "execute", Command: command})
		if (got == permission.Allow) != (want != "") || by != want {
			t.Errorf("Decide(%q) = %s by %q, want %q", command, got, by, want)
		}
	}
	if got, by := rules(t, "execute", "", "").Decide(runner.PermissionRequest{Kind: "execute", Command: "a $(b) > 'c"}); got != permission.Allow {
		t.Errorf("an entry without a pattern: %s by %q, want allow", got, by)
	}
	// The title of a call is not its command line.
	if got, by := r.Decide(runner.PermissionRequest{Kind: "execute", Title: "npm test"}); got != permission.Deny {
		t.Errorf("a command that the client does not report: %s by %q, want deny", got, by)
	}
}

// An entry in deny also matches a command inside another command or in quotes.
func TestDenyLooksIntoALine(t *testing.T) {
	r := rules(t, "execute", "", "execute rm *")
	for _, command := range []string{
		"rm x", `r\m x`, `"rm" x`, "'r'm x", "ls; rm x", "ls && rm x", "ls | rm x", "ls $(rm x)", "ls `rm x`", "ls <(rm x)", "(rm x)",
		"f() { rm x; }; f", "if rm x; then ls; fi", "sudo rm x", "A=b rm x", "bash -c 'rm x'", "rm  x", "rm\tx", "rm x 'unfinished", "ls\nrm x", "ls & rm x",
	} {
		if got, by := r.Decide(runner.PermissionRequest{Kind: "execute", Command: command}); got != permission.Deny {
			t.Errorf("Decide(%q) = %s by %q, want deny", command, got, by)
		}
	}
}

// An entry in deny without a * also matches the command when it has arguments.
func TestDenyOfACommandMeansItsArgumentsToo(t *testing.T) {
	for command, want := range map[string]permission.Answer{
		"rm": permission.Deny, "rm x": permission.Deny, "ls; rm x": permission.Deny, "rmdir x": permission.Allow,
	} {
		if got, by := rules(t, "execute", "", "execute rm").Decide(runner.PermissionRequest{Kind: "execute", Command: command}); got != want {
			t.Errorf("Decide(%q) = %s by %q, want %s", command, got, by, want)
		}
	}
	r := rules(t, "", "", "edit docs") // a path has no arguments
	r.Otherwise = permission.Allow
	if got, by := r.Decide(runner.PermissionRequest{Kind: "edit", Paths: []string{"docs and more"}}); got != permission.Allow {
		t.Errorf("edit of another path: %s by %q, want allow", got, by)
	}
}

// EntryFor returns an entry that allows the call, if such an entry exists and is short.
func TestEntryFor(t *testing.T) {
	long := strings.Repeat("x", 200)
	for _, test := range []struct {
		call runner.PermissionRequest
		want string // "" for none
	}{
		{runner.PermissionRequest{Kind: "execute", Command: "go  test\t./..."}, "execute go test ./..."},
		{runner.PermissionRequest{Kind: "execute", Command: "go test", Paths: []string{"a"}}, "execute go test"},
		{runner.PermissionRequest{Kind: "execute", Command: "go test 'a"}, ""}, // the shell cannot parse it
		{runner.PermissionRequest{Kind: "execute", Command: "go test", Beside: []byte("{}")}, ""},
		{runner.PermissionRequest{Kind: "execute", Title: "go test"}, ""},
		{runner.PermissionRequest{Kind: "execute", Command: long}, ""},
		{runner.PermissionRequest{Kind: "execute", Command: long[len("execute "):]}, "execute " + long[len("execute "):]},
		{runner.PermissionRequest{Kind: "other", Tool: "files__write", Title: "write", Paths: []string{"a"}}, "tool files__write"},
		{runner.PermissionRequest{Kind: "delete", Paths: []string{"docs/a"}, Title: "delete"}, "delete docs/a"},
		{runner.PermissionRequest{Kind: "delete", Paths: []string{"docs/a", "docs/b"}, Title: "delete"}, ""},
		{runner.PermissionRequest{Kind: "delete", Paths: []string{"docs/a "}}, ""}, // would be parsed as a different path
		{runner.PermissionRequest{Kind: "delete", Title: "docs/a"}, ""},
		{runner.PermissionRequest{Kind: "fetch", Title: "https://example.org"}, "fetch https://example.org"},
		{runner.PermissionRequest{Kind: "fetch", Title: "several", Paths: []string{"a", "b"}}, ""},
		{runner.PermissionRequest{Kind: "fetch"}, ""},
		{runner.PermissionRequest{Kind: "dance", Title: "x"}, ""},
	} {
		e, ok := permission.EntryFor(test.call)
		if ok != (test.want != "") || ok && e.String() != test.want {
			t.Errorf("EntryFor(%+v) = %q, %v, want %q", test.call, e, ok, test.want)
		}
	}
}

func TestALongLineIsDenied(t *testing.T) {
	long := runner.PermissionRequest{Kind: "execute", Command: "go test " + strings.Repeat("x", 64<<10)}
	for _, allow := range []string{"execute go test*", "execute"} {
		want := permission.Deny
		if allow == "execute" {
			want = permission.Allow
		}
		if got, _ := rules(t, allow, "", "").Decide(long); got != want {
			t.Errorf("allow %s: %s, want %s", allow, got, want)
		}
	}
}

// FuzzAllowedCommands parses each allowed line differently from Decide, and checks that
// it runs only the allowed command.
func FuzzAllowedCommands(f *testing.F) {
	for _, line := range []string{
		"ok", "ok a b", "ok && ok x", "ok | ok", "ok 'a;b' \"c|d\"", "ok 2>&1", "ok >/dev/null; ok", "! ok", "ok\nok", `ok \; x`, "ok $(x)", "ok `x`",
		"ok > x", "ok & x", "ok # x", "ok; x", "ok <<E\nx\nE\n", "ok \\\nx", "ok $'\\'' x", "ok {a,b}", "time ok", "ok |& ok", "ok &>/dev/null", "ok \r x",
	} {
		f.Add(line)
	}
	rules := permission.Rules{Allow: []permission.Entry{{Kind: "execute", Pattern: "ok"}, {Kind: "execute", Pattern: "ok *"}}}
	f.Fuzz(func(t *testing.T, line string) {
		if got, _ := rules.Decide(runner.PermissionRequest{Kind: "execute", Command: line}); got != permission.Allow {
			return
		}
		for _, command := range commandsOf(t, line) {
			if command = strings.TrimLeft(command, " \t!"); command != "" && command != "ok" && !strings.HasPrefix(command, "ok ") && !strings.HasPrefix(command, "ok\t") {
				t.Errorf("%q is allowed, with %q", line, command)
			}
		}
	})
}

// quiet matches the redirections that are allowed everywhere.
var quiet = regexp.MustCompile(`^(>&[0-9]+|&?>>?[ \t]*/dev/null|<[ \t]*/dev/null)($|[ \t\n;|&<>])`)

// commandsOf splits a line at the operators outside quotes. It fails the test if an
// operator in the line starts a command inside another one, or reads or writes a file.
func commandsOf(t *testing.T, line string) []string {
	t.Helper()
	var all []string
	var now strings.Builder
	quote := byte(0)
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote == '\'':
			if c == quote {
				quote = 0
			}
		case c == '\\':
			i++
			if i < len(line) && line[i] == '\n' {
				now.WriteByte(' ') // the command continues on the next line
				continue
			}
		case c == '$' || c == '`':
			t.Errorf("%q is allowed, with %q", line, line[i:])
		case quote == '"':
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case (c == '>' || c == '<' || c == '&') && quiet.MatchString(line[i:]):
			now.WriteByte(' ')
			i += len(quiet.FindStringSubmatch(line[i:])[1]) - 1
			continue
		case c == '<' || c == '>' || c == '(' || c == ')':
			t.Errorf("%q is allowed, with %q", line, line[i:])
		case c == '&' && i+1 < len(line) && line[i+1] == '&', c == '|' && i+1 < len(line) && (line[i+1] == '|' || line[i+1] == '&'):
			i++
			fallthrough
		case c == ';' || c == '|' || c == '\n':
			all = append(all, now.String())
			now.Reset()
			continue
		case c == '&':
			t.Errorf("%q is allowed, with %q", line, line[i:])
		}
		now.WriteByte(line[min(i, len(line)-1)])
	}
	return append(all, now.String())
}

// Without an entry, an edit is allowed only in the agent's folder, and a link is treated as
// the file that it points to.
func TestEditsStayInTheFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("/etc", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]permission.Answer{
		"a.go": permission.Allow, filepath.Join(dir, "new", "a.go"): permission.Allow, ".": permission.Allow,
		"": permission.Deny, "../a.go": permission.Deny, "link/passwd": permission.Deny, "link/new/file": permission.Deny, "~/.bashrc": permission.Deny, "file:///etc/passwd": permission.Deny,
	} {
		r := runner.PermissionRequest{Kind: "edit"}
		if path != "" {
			r.Paths = []string{path}
		}
		if got, _ := (permission.Rules{Dir: dir}).Decide(r); got != want {
			t.Errorf("an edit of %q: %v, want %v", path, got, want)
		}
	}
}

// A pattern allows a command, but no additional rights that the client requests with it.
func TestMoreThanACommandIsNotAllowedByItsPattern(t *testing.T) {
	const beside = `{"additionalPermissions":{"network":{"enabled":true}},"url":"https://evil.example/"}`
	for _, test := range []struct {
		allow, deny string
		beside      string
		want        permission.Answer
	}{
		{"execute npm *", "", "", permission.Allow},
		{"execute npm *", "", beside, permission.Deny},
		{"execute", "", beside, permission.Allow},
		{"execute", "execute evil.example", beside, permission.Deny},
		{"execute", "execute good.example", beside, permission.Allow},
	} {
		r := rules(t, test.allow, "", test.deny)
		r.Otherwise = permission.Deny
		call := runner.PermissionRequest{Kind: "execute", Command: "npm test"}
		if test.beside != "" {
			call.Beside = []byte(test.beside)
		}
		if got, rule := r.Decide(call); got != test.want {
			t.Errorf("allow %q, deny %q, beside %q: %v by %q, want %v", test.allow, test.deny, test.beside, got, rule, test.want)
		}
	}
}

// A program's options before its command hide nothing.
func TestDenyLooksPastOptions(t *testing.T) {
	r := rules(t, "execute", "", "execute git push*")
	for command, want := range map[string]permission.Answer{
		"git -C sub push":                            permission.Deny,
		"git -c a=b push origin":                     permission.Deny,
		"git --git-dir=.git push":                    permission.Deny,
		"git --git-dir .git --work-tree . -P push":   permission.Deny,
		"sudo git -C sub push":                       permission.Deny,
		"bash -c 'git -C sub push'":                  permission.Deny,
		"ls && git   -C 'sub' push":                  permission.Deny,
		"/usr/bin/git --no-pager -c x.y=z push -f x": permission.Deny,
		"git -C sub status":                          permission.Allow,
		"git log -- push":                            permission.Allow,
		"git commit -m push":                         permission.Allow,
	} {
		if got, by := r.Decide(runner.PermissionRequest{Kind: "execute", Command: command}); got != want {
			t.Errorf("Decide(%q) = %s by %q, want %s", command, got, by, want)
		}
	}
}

// folderWithLinks returns an agent's folder with the file secrets/key, and links to it.
func folderWithLinks(t *testing.T) string {
	dir := filepath.Join(t.TempDir(), "shop")
	if err := os.MkdirAll(filepath.Join(dir, "secrets", "deep"), 0o700); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"link": "secrets", "new": filepath.Join("secrets", "not-yet"), "again": "new", "here": ".", "down": "secrets/deep"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// An entry in deny matches a path in every form in which a client may write it.
func TestDenyOfAPathMeansEveryFormOfIt(t *testing.T) {
	dir := folderWithLinks(t)
	r := rules(t, "", "", "edit secrets/*")
	r.Otherwise, r.Dir, r.Home = permission.Allow, dir, filepath.Dir(dir)
	for _, kind := range []string{"edit", "delete", "move", "other", "", "Edit", "EDIT", "edit "} {
		for _, path := range []string{
			"secrets/key", "./secrets//key", dir + "/secrets/key", dir + "/../shop/secrets/key", "file://" + dir + "/secrets/key", "FILE://localhost" + dir + "/secrets/key",
			"file://" + dir + "/%73ecrets/key", "/proc/self/cwd/secrets/key", "/proc/123/cwd/secrets/key", "/proc/thread-self/cwd/./secrets/key", "/proc/self/task/1/cwd/secrets/key",
			"/proc/self/root" + dir + "/secrets/key", "/proc/self/root/proc/self/cwd/secrets/key", "~/shop/secrets/key", "link/key", "here/here/secrets/key", "new", "again", "down/../key", "here/down/../not-yet",
		} {
			if got, by := r.Decide(runner.PermissionRequest{Kind: kind, Paths: []string{"a.go", path}}); got != permission.Deny || by != "edit secrets/*" {
				t.Errorf("%q of %s: %s by %q, want deny", kind, path, got, by)
			}
		}
	}
	reads := rules(t, "", "", "read secrets/*")
	reads.Dir = dir
	if got, by := reads.Decide(runner.PermissionRequest{Kind: "search", Paths: []string{"link/key"}}); got != permission.Deny {
		t.Errorf("a search of a file that may not be read: %s by %q, want deny", got, by)
	}
	for _, kind := range []string{"read", "search", "edit", "delete"} {
		if got, by := r.Decide(runner.PermissionRequest{Kind: kind, Paths: []string{"public/key"}}); got != permission.Allow {
			t.Errorf("%q of another file: %s by %q, want allow", kind, got, by)
		}
	}
}

// A link in a folder that an entry allows does not lead out of the agent's folder.
func TestAllowOfAPathEndsWhereItsLinkLeads(t *testing.T) {
	dir := folderWithLinks(t)
	if err := os.Symlink("/etc", filepath.Join(dir, "etc")); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		allow, path string
		want        permission.Answer
	}{
		{"edit etc/*", "etc/hosts", permission.Deny},
		{"edit /etc/*", "etc/hosts", permission.Allow},
		{"edit link/*", "link/key", permission.Allow},
		{"edit secrets/*", "link/key", permission.Allow},
	} {
		r := rules(t, test.allow, "", "")
		r.Otherwise, r.Dir = permission.Deny, dir
		if got, by := r.Decide(runner.PermissionRequest{Kind: "edit", Paths: []string{test.path}}); got != test.want {
			t.Errorf("allow %q: edit of %s: %s by %q, want %s", test.allow, test.path, got, by, test.want)
		}
	}
}

// A call whose file is unknown may use the one that an entry denies.
func TestACallWithoutAPathFallsUnderOtherwise(t *testing.T) {
	for _, want := range []permission.Answer{permission.Allow, permission.Ask, permission.Deny} {
		for _, kind := range []string{"read", "search", "edit", "delete", "unheard-of"} {
			r := permission.Rules{Otherwise: want, Deny: []permission.Entry{{Kind: "read", Pattern: "secrets/*"}, {Kind: "search", Pattern: "secrets/*"}}}
			if got, by := r.Decide(runner.PermissionRequest{Kind: kind}); got != want {
				t.Errorf("otherwise %s: %s without a path: %s by %q", want, kind, got, by)
			}
		}
	}
}

// The swarm's tools need no entry, but an entry in deny counts for them too.
func TestOwnTools(t *testing.T) {
	own := runner.PermissionRequest{Kind: "other", Tool: "mcp__dead-drop__send", Own: true}
	for _, test := range []struct {
		deny string
		want permission.Answer
	}{
		{"", permission.Allow},
		{"execute", permission.Allow},
		{"other", permission.Deny},
		{"tool mcp__dead-drop__*", permission.Deny},
		{"tool files__*", permission.Allow},
	} {
		r := rules(t, "", "other", test.deny)
		r.Otherwise = permission.Deny
		if got, by := r.Decide(own); got != test.want {
			t.Errorf("deny %q: %s by %q, want %s", test.deny, got, by, test.want)
		}
	}
}

// No entry allows what is protected.
func TestProtectedFiles(t *testing.T) {
	dir := folderWithLinks(t)
	r := rules(t, "edit", "", "")
	r.Allow = append(r.Allow, permission.Entry{Kind: "delete"}, permission.Entry{Kind: "read"}, permission.Entry{Kind: "tool", Pattern: "*"})
	r.Otherwise, r.Dir = permission.Allow, dir
	r.Protected = runner.Protected{
		Unread:    []runner.ProtectedPath{{Dir: dir, Name: "secrets"}},
		Unwritten: []runner.ProtectedPath{{Dir: dir, Name: "swarm.yaml"}, {Dir: dir, Name: "**/.git"}},
	}
	for _, test := range []struct {
		kind, path string
		want       permission.Answer
	}{
		{"read", "secrets/key", permission.Deny},
		{"search", "link", permission.Deny},
		{"read", "down/../key", permission.Deny},
		{"read", "file://" + dir + "/secrets/key", permission.Deny},
		{"read", "swarm.yaml", permission.Allow},
		{"edit", "swarm.yaml", permission.Deny},
		{"edit", "Swarm.YAML", permission.Deny},
		{"edit", "new", permission.Deny},
		{"other", "swarm.yaml", permission.Deny},
		{"edit", "sub/.git/hooks/pre-commit", permission.Deny},
		{"edit", ".github/workflows/x", permission.Allow},
		{"edit", dir, permission.Allow},
		{"delete", dir, permission.Deny},
		{"move", "..", permission.Deny},
		{"delete", "sub", permission.Allow},
	} {
		got, by := r.Decide(runner.PermissionRequest{Kind: test.kind, Paths: []string{test.path}})
		if got != test.want || (got == permission.Deny) != (by == permission.ByProtection) {
			t.Errorf("%s of %s: %s by %q, want %s", test.kind, test.path, got, by, test.want)
		}
	}
	if got, by := r.Decide(runner.PermissionRequest{Kind: "other", Tool: "files__write", Paths: []string{"secrets/key"}}); got != permission.Deny {
		t.Errorf("a tool of another server: %s by %q, want deny", got, by)
	}
	if got, by := r.Decide(runner.PermissionRequest{Kind: "fetch", Paths: []string{"file://" + dir + "/secrets/key"}}); got != permission.Deny {
		t.Errorf("a fetch of the file: %s by %q, want deny", got, by)
	}
}
