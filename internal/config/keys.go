package config

import (
	"cmp"
	"reflect"
)

// A Key is one entry of the reference, from which docs/configuration.md is generated.
type Key struct {
	// Path is the path of the key: "debounce", "log.max_size_mb", "agents.NAME.role".
	// Every key of agents.NAME is also a key of defaults.
	Path string
	// Type describes the allowed values: "text", "time span", "true or false", or the
	// allowed words, separated by |.
	Type string
	// Default is the value of a key that the file does not set, as YAML.
	Default string
	// Doc describes what the key does, with its unit and bounds.
	Doc string
}

// Keys returns the reference: every key, in the order of the documentation.
func Keys() []Key { return reference("", fileType) }

// reference returns the keys of a struct and of the structs in it.
func reference(path string, t reflect.Type) (keys []Key) {
	nothing := map[string]string{"text": `""`, "number": "0", "time span": "0s", "true or false": "false", "list": "[]", "names with keys": "{}", "keys with values": "{}"}
	for _, f := range fieldsOf(t) {
		switch doc, written := t.FieldByIndex(f.index).Tag.Lookup("doc"); {
		case written:
			keys = append(keys, Key{path + f.key, f.what, cmp.Or(f.standard, nothing[f.what], "null"), doc})
		case f.key == "agents":
			keys = append(keys, reference("agents.NAME.", agentType)...)
		case !f.has("later"):
			keys = append(keys, reference(path+f.key+".", t.FieldByIndex(f.index).Type)...)
		}
	}
	return keys
}
