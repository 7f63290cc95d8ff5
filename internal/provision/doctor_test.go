package provision_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/provision"
	"github.com/claude-swarm/claude-swarm/internal/testkit/execfile"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/runner/claude"
)

// examine calls Examine on a project with one agent, whose client is a shell script. The
// client must print its version within the time.
func examine(t *testing.T, script string, within time.Duration) []provision.Finding {
	t.Helper()
	return examineWith(t, script, within, func(*provision.DoctorOptions) {})
}

// examineWith is [examine] with other options.
func examineWith(t *testing.T, script string, within time.Duration, change func(*provision.DoctorOptions)) []provision.Finding {
	t.Helper()
	dir := t.TempDir()
	client := filepath.Join(dir, "client")
	if script != "" {
		if err := execfile.Write(client, []byte("#!/bin/sh\n"+script+"\n")); err != nil {
			t.Fatal(err)
		}
	}
	yaml := fmt.Sprintf("agents: {coder: {command: %s}}\n", client)
	path := filepath.Join(dir, "claude-swarm.yaml")
	if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	o := provision.DoctorOptions{
		Config: path, Version: "1.0", ClientTimeout: within,
		Getenv: func(name string) string { return map[string]string{"HOME": "/tmp"}[name] },
	}
	change(&o)
	return provision.Examine(t.Context(), o)
}

// of returns the findings with this name.
func of(findings []provision.Finding, name string) (out []provision.Finding) {
	for _, f := range findings {
		if f.Name == name {
			out = append(out, f)
		}
	}
	return out
}

func TestClients(t *testing.T) {
	for name, tc := range map[string]struct {
		script string
		grade  provision.Grade
		text   string
	}{
		"the oldest version": {"echo '" + claude.Oldest + " (Claude Code)'", provision.Good, claude.Oldest + " (Claude Code)"},
		"one in between":     {"echo '2.1.210 (Claude Code)'", provision.Good, "2.1.210 (Claude Code)"},
		"the newest version": {"echo '" + claude.Newest + " (Claude Code)'", provision.Good, claude.Newest + " (Claude Code)"},
		"an older version":   {"echo '2.1.99 (Claude Code)'", provision.Wrong, "version 2.1.99, which is too old; supported: " + claude.Supported},
		"a newer version":    {"echo '3.0.1 (Claude Code)'", provision.Warn, "version 3.0.1, which has not been tested; tested: " + claude.Supported},
		"another program":    {"echo 'GNU bash'", provision.Wrong, `it reports "GNU bash"`},
		"silent":             {":", provision.Wrong, `it reports ""`},
		"failing":            {"echo 'no node here' >&2; exit 3", provision.Wrong, "exit status 3 no node here"},
		"hanging":            {"sleep 3600 & sleep 3600", provision.Wrong, "did not print its version within 500ms"},
		"missing":            {"", provision.Wrong, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			within := time.Hour
			if name == "hanging" {
				within = 500 * time.Millisecond
			}
			findings := examine(t, tc.script, within)
			got := of(findings, "client")
			if len(got) != 1 || got[0].Grade != tc.grade || !strings.Contains(got[0].Text, tc.text) {
				t.Fatalf("client: %+v, want %s with %q", got, tc.grade, tc.text)
			}
			if tc.grade != provision.Good && got[0].Try == "" {
				t.Errorf("client: %+v does not say what to do", got[0])
			}
			if want := tc.grade != provision.Wrong; provision.Healthy(findings) != want {
				t.Errorf("Healthy = %v, want %v: %+v", !want, want, findings)
			}
		})
	}
}

func TestExamineLeavesNothing(t *testing.T) {
	findings := examine(t, "echo 2.1.197", time.Hour)
	path := strings.TrimSuffix(of(findings, "configuration")[0].Text, ", 1 agent")
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != "claude-swarm.yaml" && e.Name() != "client" {
			t.Errorf("Examine left %s", e.Name())
		}
	}
}

func TestALockWithoutAnAnswer(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "claude-swarm.yaml")
	if err := os.WriteFile(path, []byte("agents: {coder: {}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for by, want := range map[int]string{4711: "pid 4711 holds the project", -1: "something holds"} {
		got := of(provision.Examine(t.Context(), provision.DoctorOptions{
			Config: path, Version: "1.0", LockedBy: by,
			Getenv: func(name string) string { return map[string]string{"HOME": "/tmp", "PATH": ""}[name] },
		}), "daemon")
		if len(got) != 1 || got[0].Grade != provision.Wrong || !strings.Contains(got[0].Text, want) || got[0].Try == "" {
			t.Errorf("LockedBy %d: %+v, want wrong with %q and what to do", by, got, want)
		}
	}
}

// A kind whose program must be named in the configuration has no default program, so
// nothing is known about its login.
func TestAKindWithoutAProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "claude-swarm.yaml")
	if err := os.WriteFile(path, []byte("agents: {coder: {backend: acp, command: [sh, -c, 'echo 1.2.3']}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	findings := provision.Examine(t.Context(), provision.DoctorOptions{
		Config: path, Version: "1.0", Getenv: func(name string) string { return map[string]string{"HOME": "/tmp"}[name] },
	})
	if got := of(findings, "login"); len(got) != 0 {
		t.Errorf("login: %+v, want none", got)
	}
}

// Doctor also checks the program that runs the supervisor's model, but only once if
// agents use the same program.
func TestTheProgramOfTheJudge(t *testing.T) {
	dir := t.TempDir()
	client := filepath.Join(dir, "client")
	if err := execfile.Write(client, []byte("#!/bin/sh\necho '"+claude.Newest+" (Claude Code)'\n")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "claude-swarm.yaml")
	for name, tc := range map[string]struct {
		section, want string
		clients       int
	}{
		"no model":              {"{}", "", 1},
		"the agents' program":   {"{model: small, command: " + client + "}", "ok small judges, run by " + client, 1},
		"a program that is not": {"{model: small, command: /nowhere/claude}", "wrong small cannot judge, because /nowhere/claude does not work; only the rules judge", 2},
	} {
		if err := os.WriteFile(path, fmt.Appendf(nil, "agents: {coder: {command: %s}}\nsupervisor: %s\n", client, tc.section), 0o600); err != nil {
			t.Fatal(err)
		}
		findings := provision.Examine(t.Context(), provision.DoctorOptions{
			Config: path, Version: "1.0", ClientTimeout: time.Hour, Getenv: func(name string) string { return map[string]string{"HOME": "/tmp"}[name] },
		})
		got := ""
		for _, f := range of(findings, "supervisor") {
			got += fmt.Sprint(f.Grade, " ", f.Text)
		}
		if got != tc.want || len(of(findings, "client")) != tc.clients {
			t.Errorf("%s: supervisor %q, want %q; clients %+v, want %d", name, got, tc.want, of(findings, "client"), tc.clients)
		}
	}
}

// For a version outside of the range, doctor says what was found out about it on this
// machine, if anything was.
func TestAClientThatWasTestedHere(t *testing.T) {
	for name, tc := range map[string]struct {
		words string
		holds bool
		grade provision.Grade
		text  string
	}{
		"all hold":   {"tested here: 27 of 27", true, provision.Good, "3.0.1 (Claude Code); tested here: 27 of 27"},
		"some do":    {"tested here: 26 of 27, 1 differs", false, provision.Warn, "version 3.0.1, tested here: 26 of 27, 1 differs; tested: " + claude.Supported},
		"not tested": {"", false, provision.Warn, "version 3.0.1, which has not been tested; tested: " + claude.Supported},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []string
			findings := examineWith(t, "echo '3.0.1 (Claude Code)'", time.Hour, func(o *provision.DoctorOptions) {
				o.Tested = func(command []string, version string) (string, bool) {
					asked = append(asked, filepath.Base(command[0])+" "+version)
					return tc.words, tc.holds
				}
			})
			got := of(findings, "client")
			if len(got) != 1 || got[0].Grade != tc.grade || !strings.Contains(got[0].Text, tc.text) {
				t.Errorf("client: %+v, want %s …%s…", got, tc.grade, tc.text)
			}
			if tc.grade == provision.Warn && !strings.HasPrefix(got[0].Try, "claude-swarm compat; or ") {
				t.Errorf("try: %s", got[0].Try)
			}
			if len(asked) != 1 || asked[0] != "client 3.0.1" {
				t.Errorf("asked about %q", asked)
			}
		})
	}
}

// A program that npm's launcher starts works, but a person should know what to run.
func TestLauncher(t *testing.T) {
	for script, want := range map[string]string{
		"":                        "",
		"/lib/swarm/install.js":   "node /lib/swarm/install.js",
		"/my lib/swarm/it's/a.js": `node '/my lib/swarm/it'\''s/a.js'`,
	} {
		found := of(examineWith(t, "", time.Second, func(o *provision.DoctorOptions) { o.InstallScript = script }), "program")
		switch {
		case want == "" && len(found) > 0:
			t.Errorf("without a launcher: %+v", found)
		case want != "" && (len(found) != 1 || found[0].Grade != provision.Warn || found[0].Try != want):
			t.Errorf("with the script %s: %+v, want a warning with %s", script, found, want)
		}
	}
}

// A problem with git is wrong if the audit needs git, and otherwise a warning or nothing.
func TestGitAndTheAudit(t *testing.T) {
	const foreign = "#!/bin/sh\nprintf \"fatal: detected dubious ownership in repository at '/a b'\\nTo add an exception\\n\" >&2\nexit 128\n"
	const none = "#!/bin/sh\necho 'fatal: not a git repository (or any of the parent directories): .git' >&2\nexit 128\n"
	for name, c := range map[string]struct {
		git   string // the program; "" for none
		audit bool
		grade provision.Grade // "" for no finding
		text  string
		try   string
	}{
		"another user's repository":              {foreign, false, provision.Warn, "/a b", "git config --global --add safe.directory '/a b'"},
		"another user's repository, and audit":   {foreign, true, provision.Wrong, "; audit.git is on", "git config --global --add safe.directory '/a b'"},
		"no repository":                          {none, false, "", "", ""},
		"no repository, and audit":               {none, true, provision.Wrong, "audit.git is on, but", "git init"},
		"no git":                                 {"", false, "", "", ""},
		"no git, and audit":                      {"", true, provision.Wrong, "audit.git is on, but git is not on the PATH", "install git, or audit: {git: false}"},
		"a git that fails for some other reason": {"#!/bin/sh\nexit 3\n", true, provision.Warn, "", "git -C "},
	} {
		t.Run(name, func(t *testing.T) {
			bin := t.TempDir()
			if c.git != "" {
				if err := execfile.Write(filepath.Join(bin, "git"), []byte(c.git)); err != nil {
					t.Fatal(err)
				}
				t.Setenv("PATH", bin+":/usr/bin:/bin")
			} else {
				t.Setenv("PATH", bin)
			}
			got := of(examineWith(t, "", time.Second, func(o *provision.DoctorOptions) {
				text := fmt.Sprintf("agents: {coder: {command: [/nowhere/client]}}\naudit: {git: %v}\n", c.audit)
				if err := os.WriteFile(o.Config, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}), "git")
			if c.grade == "" && len(got) > 0 || c.grade != "" && (len(got) != 1 || got[0].Grade != c.grade || !strings.Contains(got[0].Text, c.text) || !strings.HasPrefix(got[0].Try, c.try)) {
				t.Errorf("git: %+v, want %s with %q and %q", got, c.grade, c.text, c.try)
			}
		})
	}
}

// Doctor checks the address and the state of each webhook, without posting anything.
func TestWebhooks(t *testing.T) {
	withHooks := func(hooks, state string) []provision.Finding {
		return of(examineWith(t, "", time.Second, func(o *provision.DoctorOptions) {
			home := filepath.Join(filepath.Dir(o.Config), ".claude-swarm", "hooks")
			if state != "" {
				if err := errors.Join(os.MkdirAll(home, 0o700), os.WriteFile(filepath.Join(home, "state.json"), []byte(state), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(o.Config, []byte("agents: {coder: {command: [/nowhere/client]}}\n"+hooks), 0o600); err != nil {
				t.Fatal(err)
			}
		}), "webhooks")
	}
	for name, c := range map[string]struct {
		hooks, state string
		grade        provision.Grade // "" for no finding
		text         string
	}{
		"none":                     {"", "", "", ""},
		"an address":               {"webhooks: [{name: ops, url: 'https://1.1.1.1/x'}]\n", "", provision.Good, "ops posts to 1.1.1.1 (claude-swarm webhooks test ops tries it)"},
		"one that is not allowed":  {"webhooks: [{name: ops, url: 'https://ops.invalid/x'}]\n", "", provision.Wrong, "ops: "},
		"a secret that is not set": {"webhooks: [{name: ops, url: 'https://1.1.1.1/x', secret_env: OPS_SECRET}]\n", "", provision.Wrong, "OPS_SECRET"},
	} {
		got := withHooks(c.hooks, c.state)
		if c.grade == "" && len(got) > 0 || c.grade != "" && (len(got) == 0 || got[0].Grade != c.grade || !strings.Contains(got[0].Text, c.text)) {
			t.Errorf("%s: %+v, want %s with %q", name, got, c.grade, c.text)
		}
	}
}

// Clients are probed only if the program that serves their tools is known.
func TestNoProbeWithoutAProgram(t *testing.T) {
	for _, program := range []string{"", "/nowhere/claude-swarm"} {
		asked := 0
		findings := examineWith(t, "echo 1.2.3", time.Hour, func(o *provision.DoctorOptions) {
			o.Program, o.ProbeTimeout = program, time.Millisecond
			text := fmt.Sprintf("agents: {coder: {backend: acp, command: [%s]}}\n", filepath.Join(filepath.Dir(o.Config), "client"))
			if err := os.WriteFile(o.Config, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			o.SpecOf = func(*config.File, config.Agent) swarm.Spec { asked++; return swarm.Spec{} }
		})
		if probed := len(of(findings, "tools")) > 0; probed != (program != "") || (asked > 0) != probed {
			t.Errorf("with the program %q: probed %v, asked for %d settings: %+v", program, probed, asked, findings)
		}
	}
}
