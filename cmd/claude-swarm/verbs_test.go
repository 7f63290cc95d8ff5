package main

import "testing"

// commandsFor creates only the command for the typed verb. Each command has the name
// under which verbs lists it.
func TestATypedVerbIsMadeAlone(t *testing.T) {
	all := commandsFor(nil)
	if len(all) != len(verbs()) || len(all) < 30 {
		t.Fatalf("%d commands of %d verbs", len(all), len(verbs()))
	}
	for i, v := range verbs() {
		if all[i].Name != v.name {
			t.Errorf("the verb %s makes the command %s", v.name, all[i].Name)
		}
		got := commandsFor([]string{"claude-swarm", v.name, "coder"})
		if v.name == completeName || v.name == verbTreeName {
			if len(got) != len(all) {
				t.Errorf("%s knows %d verbs of %d", v.name, len(got), len(all))
			}
		} else if len(got) != 1 || got[0].Name != v.name {
			t.Errorf("%s makes %d commands, the first is %s", v.name, len(got), got[0].Name)
		}
	}
	for _, first := range []string{"help", "--config", "sned", ""} {
		if got := commandsFor([]string{"claude-swarm", first, "send"}); len(got) != len(all) {
			t.Errorf("%q makes %d commands of %d", first, len(got), len(all))
		}
	}
}
