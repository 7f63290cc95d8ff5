package shown_test

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/claude-swarm/claude-swarm/internal/view"
)

// statusSchema is the schema of `status --json`, shut: it accepts no field that it does
// not describe. The published schema accepts such fields, because a later version may add
// them.
var statusSchema = sync.OnceValues(func() (*jsonschema.Resolved, error) {
	data, err := os.ReadFile("../status.schema.json")
	if err != nil {
		return nil, err
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, err
	}
	shut(&s)
	return s.Resolve(nil)
})

// shut makes a schema and those inside it accept only the fields that they describe.
func shut(s *jsonschema.Schema) {
	for _, p := range s.Properties {
		shut(p)
		s.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
	}
	if s.Items != nil {
		shut(s.Items)
	}
}

// checkStatus reports how the output of `status --json` differs from its schema.
func checkStatus(t *testing.T, out []byte) error {
	t.Helper()
	schema, err := statusSchema()
	if err != nil {
		t.Fatal(err)
	}
	var status any
	if err := json.Unmarshal(out, &status); err != nil {
		t.Fatalf("%v in\n%s", err, out)
	}
	return schema.Validate(status)
}

func matchesStatus(t *testing.T, out []byte) {
	t.Helper()
	if err := checkStatus(t, out); err != nil {
		t.Errorf("status --json does not match docs/status.schema.json: %v\n%s", err, out)
	}
}

// A status in which everything has a value also matches the schema.
func TestAFullStatusMatchesTheSchema(t *testing.T) {
	var full view.Status
	fill(reflect.ValueOf(&full).Elem())
	out, err := json.Marshal(full)
	if err != nil {
		t.Fatal(err)
	}
	matchesStatus(t, out)
	for name, other := range map[string]string{
		"a missing field": strings.Replace(string(out), `"drops":1,`, "", 1),
		"another field":   strings.Replace(string(out), `"drops":1,`, `"drops":1,"dropped":1,`, 1),
		"another type":    strings.Replace(string(out), `"drops":1,`, `"drops":"1",`, 1),
		"another word":    strings.Replace(string(out), `"kind":"daemon"`, `"kind":"demon"`, 1),
		"null":            strings.Replace(string(out), `"drops":1,`, `"drops":null,`, 1),
	} {
		if other == string(out) {
			t.Errorf("%s: the status has no such place:\n%s", name, out)
		} else if checkStatus(t, []byte(other)) == nil {
			t.Errorf("the schema accepts a status with %s", name)
		}
	}
}

// words are the values of the types that have only some words as values.
var words = map[string]string{
	"swarm.State": "idle", "view.NeedKind": "daemon", "runner.Billing": "api", "budget.Kind": "agent", "budget.Answer": "more",
}

// fill sets everything that can be set in v.
func fill(v reflect.Value) {
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Date(2026, 11, 21, 4, 51, 2, 0, time.UTC)))
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i))
			}
		}
	case v.Kind() == reflect.String:
		v.SetString("x")
		if word, ok := words[v.Type().String()]; ok {
			v.SetString(word)
		}
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.CanInt():
		v.SetInt(1)
	default:
		v.SetFloat(0.5)
	}
}
