package config

import (
	"math"

	"gopkg.in/yaml.v3"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// The limits on a value in backend_options. They are needed because aliases in YAML can
// expand to more than the file contains.
const (
	mostDeep   = 20
	mostValues = 10000
)

// plain returns the value of any node: nil, a bool, an int, a float64, a string, a []any or
// a map[string]any.
func plain(n *yaml.Node) (any, *Error) {
	left := mostValues
	return plainBelow(n, mostDeep, &left)
}

func plainBelow(n *yaml.Node, deep int, left *int) (any, *Error) {
	if *left--; deep == 0 || *left < 0 {
		return nil, wrong("", "is too large or too deep")
	}
	switch n = follow(n); n.Kind {
	case yaml.SequenceNode:
		list := []any{}
		for _, item := range n.Content {
			value, e := plainBelow(item, deep-1, left)
			if e != nil {
				return nil, e
			}
			list = append(list, value)
		}
		return list, nil
	case yaml.MappingNode:
		keys := make(map[string]any)
		for i := 0; i+1 < len(n.Content); i += 2 {
			k := follow(n.Content[i])
			if _, twice := keys[k.Value]; twice {
				return nil, wrong("", "%s: written twice", k.Value)
			} else if k.Kind != yaml.ScalarNode || k.Tag == "!!merge" {
				return nil, wrong("", "a key must be a name, not %s", kind(k))
			}
			value, e := plainBelow(n.Content[i+1], deep-1, left)
			if e != nil {
				return nil, e
			}
			keys[k.Value] = value
		}
		return keys, nil
	}
	return plainScalar(n)
}

// plainScalar returns the value of a scalar node. It returns a date as a string.
func plainScalar(n *yaml.Node) (any, *Error) {
	var err error
	switch n.ShortTag() {
	case "!!null":
		return nil, nil
	case "!!bool":
		var b bool
		if err = n.Decode(&b); err == nil {
			return b, nil
		}
	case "!!int":
		var i int
		if err = n.Decode(&i); err == nil {
			return i, nil
		}
	case "!!float":
		var f float64
		if err = n.Decode(&f); err == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
			return f, nil
		}
	case "!!str", "!!timestamp":
		return n.Value, nil
	}
	return nil, wrong("", "%s is not a value: want text, a number, true or false, null, a list or keys with values", n.Value)
}

// options checks an agent's options. The options in defaults apply only to agents that
// use the backend in defaults. The backend passes unknown options on to its client.
func (r *reader) options(a *Agent, k *runner.Kind, general bool) {
	path := "agents." + a.Name + ".backend_options"
	if !general {
		var own map[string]any
		for name, value := range a.Client.Options {
			if _, here := r.at[below(path, name)]; here {
				if own == nil {
					own = make(map[string]any)
				}
				own[name] = value
			}
		}
		a.Client.Options = own
	}
	if !k.Takes() {
		return
	}
	var known []string
	for _, o := range k.Options {
		known = append(known, o.Name)
	}
	for name, value := range a.Client.Options {
		at := r.find(below(path, name))
		if o := k.Option(name); o == nil {
			if near := dropbox.Nearest(name, known); len(near) > 0 {
				e := wrong("", "backend %s does not recognize it and passes it on to the client", k.Name)
				e.Near = near
				r.remark(at.key, below(path, name), e)
			}
		} else if err := o.Check(value); err != nil {
			r.once(at.value, below(path, name), wrong("", "%v", err))
		}
	}
}
