package turn

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/tokens"
	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/claude"
)

// The swarm's tokens, and the secrets that other clients need to reach this client, are
// removed from events and outcomes, even if the client prints them.
func TestSecretsOfEvents(t *testing.T) {
	const token = "NDGFHCVWAUMSOU4NHL3JBTNHQD"
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "tokens"), []byte("coder "+token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	lines := []string{
		`{"type":"system","subtype":"init","session_id":"s","messaging_socket_path":"/run/cc-socks/4711.sock","tools":[]}`,
		`{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"echo ` + token + `"}}]}}`,
		`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"CLAUDE_SWARM_TOKEN=` + token + `\nCLAUDE_CODE_MESSAGING_TOKEN=abcdef0123456789\nCLAUDE_CODE_MESSAGING_SOCKET=/run/cc-socks/4711.sock\nHOME=/root"}]}}`,
		`{"type":"assistant","message":{"id":"m2","role":"assistant","content":[{"type":"text","text":"It is ` + token + `, abcdef0123456789 at /run/cc-socks/4711.sock."}]}}`,
	}
	s := NewSecrets(tokens.NewSource(home))
	dec := streamjson.NewDecoder(strings.NewReader(strings.Join(lines, "\n")+"\n"), 0)
	var all strings.Builder
	for {
		ev, err := dec.Next()
		if err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		raw := string(ev.Raw)
		got := s.event(claude.Kind(), ev)
		if string(ev.Raw) != raw {
			t.Error("the event itself was changed")
		}
		all.Write(got.Raw)
		for _, b := range got.Blocks {
			all.WriteString(b.Text + string(b.Input) + "\n")
		}
	}
	out := runner.Outcome{Text: "It is " + token, Reason: "no " + token, Denied: []runner.Denial{{Tool: "Bash", Input: []byte(`{"command":"` + token + ` abcdef0123456789"}`)}}}
	out.Decisions = []runner.Decision{{Request: runner.PermissionRequest{Command: "echo " + token, Title: "run echo " + token, Paths: []string{"/" + token}, Input: []byte(`{"env":"` + token + `"}`)}}}
	s.outcome(&out)
	asked := out.Decisions[0].Request
	all.WriteString(out.Text + out.Reason + string(out.Denied[0].Input) + asked.Command + asked.Title + asked.Paths[0] + string(asked.Input))
	for _, secret := range []string{token, "abcdef0123456789", "4711.sock"} {
		if strings.Contains(all.String(), secret) {
			t.Errorf("%s is left in\n%s", secret, &all)
		}
	}
	for _, want := range []string{"It is [token of coder], [messaging token] at [messaging socket].", "CLAUDE_SWARM_TOKEN=[token of coder]", "HOME=/root", "no [token of coder]"} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("%q is missing in\n%s", want, &all)
		}
	}
}
