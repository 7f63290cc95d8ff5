package runner

import "slices"

// An Option is a key below backend_options that the backend itself interprets.
type Option struct {
	Name string
	Type string // the type of its value in words, such as "list of strings"
	Doc  string // one sentence that describes its effect
	// Check returns an error if a value is invalid. The error text is a phrase such as
	// "want a list". A value is nil, a bool, an int, a float64, a string, a []any or a
	// map[string]any.
	Check func(value any) error
}

// Takes reports whether a client of the kind accepts options.
func (k *Kind) Takes() bool { return k.Options != nil }

// Option returns the option with the given name, or nil if the backend does not interpret
// it.
func (k *Kind) Option(name string) *Option {
	if i := slices.IndexFunc(k.Options, func(o Option) bool { return o.Name == name }); i >= 0 {
		return &k.Options[i]
	}
	return nil
}
