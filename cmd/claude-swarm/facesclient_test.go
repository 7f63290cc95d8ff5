package main

import (
	"regexp"
	"strings"
	"testing"
)

// If the agents of a swarm use different clients, all front ends (verbs, tools and IRC) name
// the clients, even if the request is about only one agent.
func TestAllFacesNameTheClients(t *testing.T) {
	p, store := projectWithMail(t, "{coder: {backend: codex}, reviewer: }")
	runScripted(t, p, store, map[string]string{"coder": "@say done", "reviewer": "@say done"})

	voice, err := daemonVoice{p, store}.Status(t.Context(), "coder")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ said, want string }{
		"status":         {typed(t, p, "status"), `(?m)^  .*claude 1\.2\.3, scripted-1$`},
		"status, of one": {typed(t, p, "status", "coder"), `(?m)^  .*codex 1\.2\.3, scripted-1$`},
		"status on IRC":  {voice, `(?m)^coder stopped on codex 1\.2\.3: `},
		"history --json": {typed(t, p, "history", "coder", "--json"), `"client": "codex 1\.2\.3"`},
	} {
		if !regexp.MustCompile(c.want).MatchString(c.said) {
			t.Errorf("%s: no %s in\n%s", name, c.want, c.said)
		}
	}
	for name, want := range map[string]string{
		"status":           `{"mixed":true,"agents":[{"backend":"codex","client":"codex 1.2.3","model":"scripted-1"},{"backend":"claude","client":"claude 1.2.3","model":"scripted-1"}]}`,
		"status reviewer":  `{"mixed":true,"agents":[{"client":"claude 1.2.3"}]}`,
		"history reviewer": `{"turns":[{"client":"claude 1.2.3","model":"scripted-1"}]}`,
	} {
		if said := typedJSON[any](t, p, strings.Fields(name)...); !has(said, decoded(t, want)) {
			t.Errorf("%s --json: %v, want %s in it", name, said, want)
		}
	}
	var list any
	toolsOf(t, p)("list_agents", nil, &list)
	if want := `{"agents":[{"client":"codex 1.2.3","model":"scripted-1"},{"client":"claude 1.2.3","model":"scripted-1"}]}`; !has(list, decoded(t, want)) {
		t.Errorf("list_agents: %v, want %s in it", list, want)
	}
}
