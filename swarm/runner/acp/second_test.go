package acp_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/testkit/acpstandin"
	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A turn follows the draft of the protocol's second version (schema from July 2026), in
// which an update, not the answer to the prompt, ends the turn.
func TestSecondVersion(t *testing.T) {
	record, err := filepath.Abs("testdata/second.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	turn := newTurn(t, "acp", "work", acpstandin.PlayVar+"="+record)
	turn.Spec.Options = map[string]any{"protocol": 2}
	asked, result := "", ""
	turn.Permit = func(_ context.Context, r runner.PermissionRequest) runner.Decision {
		asked = r.Kind + " " + r.Command
		return runner.Decision{Request: r, Allowed: true}
	}
	turn.Event = func(ev *streamjson.Event) {
		for _, b := range ev.Blocks {
			if b.Kind == streamjson.BlockToolResult {
				result = b.Text
			}
		}
	}
	out := backend(t, "acp").Run(t.Context(), turn)
	if out.End != runner.Done || out.Text != "All pass." || out.Session != "s-2" || out.Model != "big" {
		t.Errorf("ended %s (%s) with %q in session %q, model %q", out.End, out.Reason, out.Text, out.Session, out.Model)
	}
	if asked != "execute npm test" || result != "3 tests pass" || out.ToolCalls != 1 || out.ContextTokens != 12000 || out.CostUSD != 0.25 {
		t.Errorf("asked for %q, got %q, %d calls, %d tokens of context, %v USD", asked, result, out.ToolCalls, out.ContextTokens, out.CostUSD)
	}
}

// The second version is used only if the configuration requests it.
func TestSecondVersionUnasked(t *testing.T) {
	turn := newTurn(t, "acp", "work", acpstandin.QuirksVar+`={"protocol":2}`)
	if out := backend(t, "acp").Run(t.Context(), turn); out.End != runner.BadSetup {
		t.Errorf("a client of version 2 ended %s (%s), want %s", out.End, out.Reason, runner.BadSetup)
	}
}
