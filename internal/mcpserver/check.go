package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// check validates the arguments of a call against the tool's schema. The error is for the
// model, which then retries: it says which argument is wrong, why, and what was probably
// meant. check handles only flat schemas, because all argument schemas are flat.
func check(arguments json.RawMessage, schema *Schema) (json.RawMessage, error) {
	if len(bytes.TrimSpace(arguments)) == 0 || string(bytes.TrimSpace(arguments)) == "null" {
		arguments = json.RawMessage("{}")
	}
	var given map[string]any
	if err := json.Unmarshal(arguments, &given); err != nil {
		return nil, fmt.Errorf("the arguments are not a JSON object")
	}
	var known []string
	for _, p := range schema.Properties {
		known = append(known, p.Name)
	}
	slices.Sort(known)
	for _, name := range slices.Sorted(maps.Keys(given)) {
		p := schema.Property(name)
		if p == nil {
			return nil, unknownArgument(name, known)
		}
		if err := checkValue(name, given[name], p); err != nil {
			return nil, err
		}
	}
	for _, name := range schema.Required {
		if _, ok := given[name]; !ok {
			return nil, fmt.Errorf("the argument %s is missing: %s", name, schema.Property(name).Description)
		}
	}
	return arguments, nil
}

func unknownArgument(name string, known []string) error {
	switch near := dropbox.Nearest(name, known); {
	case len(near) > 0:
		return fmt.Errorf("there is no argument %q; did you mean %s?", name, near[0])
	case len(known) == 0:
		return fmt.Errorf("there is no argument %q; it takes none", name)
	}
	return fmt.Errorf("there is no argument %q; it takes %s", name, strings.Join(known, ", "))
}

func checkValue(name string, v any, p *Schema) error {
	switch v := v.(type) {
	case string:
		if p.Type != "string" {
			break
		}
		if len(p.Enum) > 0 && !slices.Contains(p.Enum, v) {
			return notOneOf(name, v, p.Enum)
		}
		return nil
	case float64:
		if p.Type != "integer" && p.Type != "number" {
			break
		}
		switch {
		case p.Type == "integer" && v != float64(int64(v)):
			return fmt.Errorf("%s: want a whole number, got %v", name, v)
		case p.Minimum != nil && v < *p.Minimum:
			return fmt.Errorf("%s: %v is too small; the minimum is %v", name, v, *p.Minimum)
		case p.Maximum != nil && v > *p.Maximum:
			return fmt.Errorf("%s: %v is too large; the maximum is %v", name, v, *p.Maximum)
		}
		return nil
	case bool:
		if p.Type == "boolean" {
			return nil
		}
	case []any:
		if p.Type != "array" {
			break
		}
		for i, item := range v {
			if err := checkValue(fmt.Sprintf("%s[%d]", name, i), item, p.Items); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("%s: want %s, got %s", name, kindOf(p), kindOfValue(v))
}

func notOneOf(name, v string, words []string) error {
	text := fmt.Sprintf("%s: %q is not one of %s", name, v, strings.Join(words, ", "))
	if near := dropbox.Nearest(v, words); len(near) > 0 {
		text += "; did you mean " + near[0] + "?"
	}
	return fmt.Errorf("%s", text)
}

// kindOf describes the type that an argument must have.
func kindOf(p *Schema) string {
	switch p.Type {
	case "string":
		return "text"
	case "integer":
		return "a whole number"
	case "boolean":
		return "true or false"
	case "array":
		return "a list of strings"
	}
	return p.Type
}

func kindOfValue(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return "text"
	case float64, bool:
		return fmt.Sprint(v)
	case []any:
		return "a list"
	}
	return "an object"
}
