package main

import (
	"bytes"
	"encoding/json"

	"gopkg.in/yaml.v3"
)

// keyed is a mapping that preserves the order of its keys in JSON and YAML.
type keyed []entry

type entry struct {
	key   string
	value any
}

// MarshalJSON returns a JSON object with the keys in the order of k.
func (k keyed) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, e := range k {
		if i > 0 {
			out.WriteByte(',')
		}
		for _, part := range []any{e.key, e.value} {
			data, err := json.Marshal(part)
			if err != nil {
				return nil, err
			}
			out.Write(data)
			out.WriteByte(':')
		}
		out.Truncate(out.Len() - 1)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// MarshalYAML returns a YAML mapping with the keys in the order of k.
func (k keyed) MarshalYAML() (any, error) {
	node := &yaml.Node{Kind: yaml.MappingNode}
	for _, e := range k {
		var name, value yaml.Node
		if err := name.Encode(e.key); err != nil {
			return nil, err
		}
		if err := value.Encode(e.value); err != nil {
			return nil, err
		}
		node.Content = append(node.Content, &name, &value)
	}
	if len(k) == 0 {
		node.Style = yaml.FlowStyle
	}
	return node, nil
}
