package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/webhook"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// The configuration accepts the name of every event.
func TestEventsOfWebhooks(t *testing.T) {
	for _, word := range journal.Words() {
		f := parse(t, "webhooks: [{name: x, url: 'https://x.example/', events: ["+string(word)+"]}]\nagents: {a: }\n")
		if got := f.Webhooks[0].Events; len(got) != 1 || got[0] != string(word) {
			t.Errorf("events: [%s] became %v", word, got)
		}
	}
}

func TestSecretsOfWebhooks(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	const good = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	write("good", good+"\nanything\n", 0o600)
	write("open", good+"\n", 0o640)
	write("empty", "\n"+good, 0o600)
	write("short", "whsec_MfKQ9r8GKYqrTwjUPD8\n", 0o600)
	env := map[string]string{"SECRET": good, "BAD": "not base64!", "TOKEN": "tk_x", "TWO": "tk x", "URL": "https://x.example/T0PSECRET", "INSIDE": "https://10.0.0.1/T0PSECRET"}
	for keys, want := range map[string]string{
		"url: 'https://x.example/'":                                "",
		"url: 'https://x.example/', secret_env: SECRET":            "",
		"url: 'https://x.example/', secret_file: good":             "",
		"url: 'https://x.example/', kind: ntfy, secret_env: TOKEN": "",
		"kind: slack, url_env: URL":                                "",
		"url: 'https://x.example/', secret_env: NONE":              "2:63: webhooks.secret_env: webhook ops: the variable NONE is not set (try: export NONE=",
		"url_env: NONE":   "2:33: webhooks.url_env: webhook ops: the variable NONE is not set (try: export NONE=https://…",
		"url_env: INSIDE": "webhook ops: 10.0.0.1 is an address of this machine or of a private network (try: private: true",
		"url: 'https://x.example/', secret_env: BAD":                         "the secret is not whsec_ followed by 24 to 64 bytes in base64 (try: make one: echo",
		"url: 'https://x.example/', secret_file: short":                      "the secret is not whsec_",
		"url: 'https://x.example/', kind: ntfy, secret_env: TWO":             "the secret contains a space",
		"url: 'https://x.example/', secret_file: missing":                    "missing does not exist (try: umask 077; echo \"whsec_",
		"url: 'https://x.example/', kind: ntfy, secret_file: missing":        "missing does not exist (try: umask 077; printf",
		"url: 'https://x.example/', secret_file: open":                       "open (try: chmod 600 ",
		"url: 'https://x.example/', secret_file: empty":                      "contains no secret: the first line is empty",
		"url: 'https://x.example/', secret_file: .":                          "is not a regular file",
		"private: true, url_env: INSIDE, secret_file: good, events: [limit]": "",
	} {
		f, err := config.Parse(filepath.Join(dir, config.Name), []byte("agents: {a: }\nwebhooks: [{name: ops, "+keys+"}]\n"))
		if err != nil {
			t.Fatalf("%s: %v", keys, err)
		}
		hooks, err := f.Hooks(func(name string) string { return env[name] })
		told := ""
		if errs, ok := err.(config.Errors); ok {
			told = errs[0].Error() + " (try: " + errs[0].Try + ")"
		}
		if (want == "") != (err == nil) || !strings.Contains(told, want) || strings.Contains(told, "T0PSECRET") {
			t.Errorf("%s: %s, want %s", keys, told, want)
		}
		if (err == nil) != (len(hooks) == 1) {
			t.Errorf("%s: %d webhooks", keys, len(hooks))
		}
	}
	f := parse(t, "agents: {a: }\nwebhooks: [{name: ops, url_env: URL, secret_env: SECRET, kind: generic, private: true, events: [limit]}]\n")
	hooks, err := f.Hooks(func(name string) string { return env[name] })
	want := []webhook.Hook{{Name: "ops", URL: env["URL"], Kind: webhook.Generic, Secret: good, Events: []journal.Word{journal.LimitReached}, Private: true}}
	if diff := cmp.Diff(want, hooks); diff != "" || err != nil {
		t.Errorf("%v, -want +got:\n%s", err, diff)
	}
	if got := f.HookSecrets(); !cmp.Equal(got, []string{"URL", "SECRET"}) {
		t.Errorf("HookSecrets = %v", got)
	}
}
