package config

import (
	"reflect"
	"slices"
)

// ChangedKeys lists, in alphabetical order, the top-level keys whose values differ between
// two files. It leaves out agents and defaults; see [ChangedAgents].
func ChangedKeys(old, new *File) []string {
	keys := []string{}
	changedKeys(reflect.ValueOf(old).Elem(), reflect.ValueOf(new).Elem(), &keys)
	slices.Sort(keys)
	return keys
}

func changedKeys(old, new reflect.Value, keys *[]string) {
	for i := range old.NumField() {
		field := old.Type().Field(i)
		key := field.Tag.Get("key")
		switch {
		case field.Anonymous:
			changedKeys(old.Field(i), new.Field(i), keys)
		case key == "" || key == "agents" || key == "defaults":
		case !reflect.DeepEqual(old.Field(i).Interface(), new.Field(i).Interface()):
			*keys = append(*keys, key)
		}
	}
}

// ChangedAgents lists the agents that are in both files with different settings, in the order
// of the new file. A setting that an agent inherits, for example from defaults, counts as its own.
func ChangedAgents(old, new *File) (names []string) {
	for _, agent := range new.Agents {
		i := slices.IndexFunc(old.Agents, func(a Agent) bool { return a.Name == agent.Name })
		if i >= 0 && !reflect.DeepEqual(old.Agents[i], agent) {
			names = append(names, agent.Name)
		}
	}
	return names
}
