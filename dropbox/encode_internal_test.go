package dropbox

import (
	"reflect"
	"slices"
	"testing"
)

// A field without a key would be missing from the file, from the parser and from the proof.
func TestEveryFieldHasAKey(t *testing.T) {
	var m Message
	fields := make(map[any]bool)
	for _, k := range envelope {
		if p := k.field(&m); fields[p] {
			t.Errorf("%s is a second key of its field", k.name)
		} else {
			fields[p] = true
		}
	}
	v := reflect.ValueOf(&m).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if !fields[v.Field(i).Addr().Interface()] && !slices.Contains([]string{"Extra", "Body"}, name) {
			t.Errorf("%s has no key", name)
		}
	}
	if envelope[0].name != "v" {
		t.Errorf("the first key is %s, want v, which Encode writes by itself", envelope[0].name)
	}
}
