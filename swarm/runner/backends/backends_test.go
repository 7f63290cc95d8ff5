package backends_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/backends"
)

// Each kind has a backend and sets all fields that the configuration and the daemon need.
func TestEachKindIsComplete(t *testing.T) {
	all := backends.New()
	for _, k := range backends.Kinds() {
		if all[k.Name] == nil || all[k.Name].Kind() != k || backends.Kind(k.Name) != k {
			t.Errorf("%s: no backend is of this kind", k.Name)
		}
		// Doctor and turns use these fields without checking whether they are set.
		for field, lacks := range map[string]bool{
			"Title": k.Title == "", "Command": k.Name != "acp" && (len(k.Command) == 0 || k.Command[0] == ""), "Install": k.Install == "", "Tools": k.Tools == nil, "Recorded": k.Recorded == nil,
			"Version.Supported": k.Version.Supported == "", "Version.Install": k.Version.Install == "", "Version.Read": k.Version.Read == nil,
			"Login.Try": k.Login.File != "" && k.Login.Try == "", "Login.Home": k.Login.File != "" && k.Login.Home == "",
			"Login.Vars": len(k.Login.Vars) == 0,
		} {
			if lacks {
				t.Errorf("%s has no %s", k.Name, field)
			}
		}
		for _, o := range k.Options {
			if o.Name == "" || o.Type == "" || !strings.HasSuffix(o.Doc, ".") || o.Check == nil || k.Option(o.Name).Doc != o.Doc {
				t.Errorf("%s: the option %+v is not complete, or is there twice", k.Name, o)
			}
		}
		if k.Version.Read != nil {
			if _, fit := k.Version.Read("no version of any client"); fit != runner.Foreign {
				t.Errorf("%s: a foreign program fits as %d", k.Name, fit)
			}
		}
		if len(k.Modes) == 0 != (k.Mode == "") || k.Mode != "" && !slices.Contains(k.Modes, k.Mode) || k.Bypass != "" && !slices.Contains(k.Modes, k.Bypass) {
			t.Errorf("%s: mode %q and %q, of %q", k.Name, k.Mode, k.Bypass, k.Modes)
		}
	}
	if backends.Kinds()[0].Echo == nil {
		t.Error("the first kind has no Echo, which the round trip of doctor runs")
	}
	if len(all) != len(backends.Kinds()) {
		t.Errorf("%d backends of %d kinds", len(all), len(backends.Kinds()))
	}
}
