package backends_test

import (
	"slices"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/runner/backends"
)

// Each kind has a backend, and says all that configuration and daemon need.
func TestEachKindIsComplete(t *testing.T) {
	all := backends.New()
	for _, k := range backends.Kinds() {
		if all[k.Name] == nil || all[k.Name].Kind() != k || backends.Kind(k.Name) != k {
			t.Errorf("%s: no backend is of this kind", k.Name)
		}
		if k.Title == "" || len(k.Command) == 0 || k.Tools == nil {
			t.Errorf("%s: no title, command or tools: %+v", k.Name, k)
		}
		if len(k.Modes) == 0 != (k.Mode == "") || k.Mode != "" && !slices.Contains(k.Modes, k.Mode) || k.Bypass != "" && !slices.Contains(k.Modes, k.Bypass) {
			t.Errorf("%s: mode %q and %q, of %q", k.Name, k.Mode, k.Bypass, k.Modes)
		}
	}
	if len(all) != len(backends.Kinds()) {
		t.Errorf("%d backends of %d kinds", len(all), len(backends.Kinds()))
	}
}
