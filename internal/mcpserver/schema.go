package mcpserver

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// A Schema is the part of JSON Schema that the tools' structs need.
type Schema struct {
	Type        string // object, array, string, integer, number or boolean
	OrNull      bool   // null is also valid
	Description string
	Enum        []string
	Minimum     *float64
	Maximum     *float64
	Items       *Schema    // for an array
	Properties  []Property // for an object, in the order of the struct's fields
	Required    []string
	Closed      bool // other properties of an object are not allowed
}

// A Property is a named property of an object.
type Property struct {
	Name string
	*Schema
}

// Property returns the schema of the property with the given name, or nil if the object
// has no such property.
func (s *Schema) Property(name string) *Schema {
	for _, p := range s.Properties {
		if p.Name == name {
			return p.Schema
		}
	}
	return nil
}

// MarshalJSON writes the schema in the form that clients read.
func (s *Schema) MarshalJSON() ([]byte, error) {
	out := struct {
		Type        any      `json:"type"`
		Description string   `json:"description,omitempty"`
		Enum        []string `json:"enum,omitempty"`
		Minimum     *float64 `json:"minimum,omitempty"`
		Maximum     *float64 `json:"maximum,omitempty"`
		Items       *Schema  `json:"items,omitempty"`
		Properties  any      `json:"properties,omitempty"`
		Required    []string `json:"required,omitempty"`
		Additional  *bool    `json:"additionalProperties,omitempty"`
	}{s.Type, s.Description, s.Enum, s.Minimum, s.Maximum, s.Items, nil, s.Required, nil}
	if s.OrNull {
		out.Type = []string{"null", s.Type}
	}
	if len(s.Properties) > 0 {
		out.Properties = properties(s.Properties)
	}
	if s.Closed {
		out.Additional = new(bool)
	}
	return marshal(out)
}

// properties are the properties of an object, in order.
type properties []Property

func (list properties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, p := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := marshal(p.Name)
		if err != nil {
			return nil, err
		}
		of, err := marshal(p.Schema)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(of)
	}
	return []byte("{" + b.String() + "}"), nil
}

// marshal returns the JSON form of a value. It does not escape <, > and &, because a
// model reads the output.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// schemaOf returns the schema of a struct; the package comment describes the struct tags.
// It panics if the struct contains a type that has no schema.
func schemaOf[T any]() *Schema {
	of := reflect.TypeFor[T]()
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	s := schemaFor(of)
	for _, p := range s.Properties {
		if p.Type == "array" {
			p.OrNull = false // a list may be omitted but must not be null
		}
	}
	return s
}

func schemaFor(of reflect.Type) *Schema {
	if of.Implements(reflect.TypeFor[encoding.TextMarshaler]()) { // for example, a time
		return &Schema{Type: "string"}
	}
	switch of.Kind() {
	case reflect.Pointer:
		s := schemaFor(of.Elem())
		s.OrNull = true
		return s
	case reflect.Slice:
		return &Schema{Type: "array", OrNull: true, Items: schemaFor(of.Elem())}
	case reflect.String:
		return &Schema{Type: "string"}
	case reflect.Bool:
		return &Schema{Type: "boolean"}
	case reflect.Int, reflect.Int64:
		return &Schema{Type: "integer"}
	case reflect.Float64:
		return &Schema{Type: "number"}
	case reflect.Struct:
		return objectOf(of)
	}
	panic(fmt.Sprintf("mcpserver: no schema is known for the type %s", of))
}

// objectOf returns the schema of a struct, including the fields of embedded structs.
func objectOf(of reflect.Type) *Schema {
	s := &Schema{Type: "object", Closed: true}
	for _, f := range reflect.VisibleFields(of) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || !f.IsExported() || name == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		p := schemaFor(f.Type)
		p.Description = f.Tag.Get("jsonschema")
		if words := f.Tag.Get("enum"); words != "" {
			p.Enum = strings.Split(words, ",")
		}
		p.Minimum, p.Maximum = bound(f, "minimum"), bound(f, "maximum")
		s.Properties = append(s.Properties, Property{name, p})
		if !slices.Contains(strings.Split(options, ","), "omitempty") && !slices.Contains(strings.Split(options, ","), "omitzero") {
			s.Required = append(s.Required, name)
		}
	}
	return s
}

func bound(f reflect.StructField, tag string) *float64 {
	text := f.Tag.Get(tag)
	if text == "" {
		return nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(fmt.Sprintf("mcpserver: %s of %s: %v", tag, f.Name, err))
	}
	return &n
}
