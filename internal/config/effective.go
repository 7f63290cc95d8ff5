package config

import (
	"reflect"
	"slices"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// Effective returns every key of the reference with its effective value, in the order of
// the reference. It calls mapping to make a mapping from keys and their values. A value is
// a mapping, a list, a string, a number, a [time.Duration], a boolean, or nil for null. The
// result contains no passwords, because the configuration specifies only where to find
// them.
func Effective[M any](f *File, mapping func(keys []string, values []any) M) M {
	full := *f
	full.MaxRunning = f.Running()
	var of func(v reflect.Value, f *field) any // the value of a field
	keyed := func(v reflect.Value) M {
		var keys []string
		var values []any
		for _, f := range fieldsOf(v.Type()) {
			if f.says(v) {
				keys, values = append(keys, f.key), append(values, of(v.FieldByIndex(f.index), &f))
			}
		}
		return mapping(keys, values)
	}
	of = func(v reflect.Value, f *field) any {
		var keys []string
		values := []any{}
		switch {
		case v.Kind() == reflect.Interface && v.IsNil():
			return nil
		case v.Kind() == reflect.Interface: // a value in backend_options
			return of(v.Elem(), f)
		case f.null && v.IsZero():
			return nil
		case f.has("shown") && v.IsZero():
			return "none"
		case v.Kind() == reflect.Pointer:
			return of(v.Elem(), &field{})
		case v.Kind() == reflect.Struct:
			return keyed(v)
		case v.Kind() == reflect.Map:
			for _, name := range v.MapKeys() {
				keys = append(keys, name.String())
			}
			slices.Sort(keys)
			for _, name := range keys {
				values = append(values, of(v.MapIndex(reflect.ValueOf(name)), &field{}))
			}
			return mapping(keys, values)
		case v.Kind() == reflect.Slice:
			for i := range v.Len() {
				values = append(values, of(v.Index(i), &field{}))
			}
			if f.key == "agents" {
				return mapping(full.Names(), values)
			}
			return values
		case v.Kind() == reflect.String:
			return v.String() // including a Session
		}
		return v.Interface()
	}
	return keyed(reflect.ValueOf(full))
}

// says reports whether to show a field of a struct. An empty optional string or list is
// left out if the field is not in the reference.
func (f *field) says(of reflect.Value) bool {
	if s, ok := of.Interface().(runner.Server); ok {
		_, not := serverWants(&s)
		return !slices.Contains(not, f.key)
	}
	v := of.FieldByIndex(f.index)
	missing := v.IsZero() && (v.Kind() == reflect.String || v.Kind() == reflect.Pointer || f.has("absent"))
	return f.key != "defaults" && (!missing || f.told || f.null || f.has("shown"))
}
