package config

import (
	"reflect"
	"slices"
)

// ChangedKeys lists the keys of the top level whose values differ between two files, in
// alphabetical order. It leaves out agents and defaults: the caller compares their settings
// agent by agent.
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
