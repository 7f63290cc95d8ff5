package config

import (
	"reflect"
	"slices"
)

// ChangedKeys lists, in alphabetical order, the top-level keys whose values differ between
// two files. It leaves out agents and defaults, because the caller compares the settings of
// each agent.
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
