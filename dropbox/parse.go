package dropbox

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// Parse parses the content of a message file: front matter, written by [Message.Encode]
// or a person, followed by the body. It does not fill in missing fields or check the
// proof. The body is a slice of data, not a copy.
//
// The error is an [*InvalidError], or a [*TooLargeError] if the front matter exceeds 16
// KiB. Keys that occur twice, anchors and aliases are errors.
func Parse(data []byte) (*Message, error) {
	front, body, ok, err := splitFront(data)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, invalid("no front matter: the first line is not ---")
	}
	m, err := parseFront(front)
	if err != nil {
		return nil, err
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	m.Body = body
	return m, nil
}

// splitFront finds the two "---" lines. ok is false for text that does not begin with
// such a line. It is an error if only the second line is missing.
func splitFront(data []byte) (front, body []byte, ok bool, err error) {
	rest, ok := bytes.CutPrefix(data, []byte(fence))
	if !ok {
		if rest, ok = bytes.CutPrefix(data, []byte("---\r\n")); !ok {
			return nil, data, false, nil
		}
	}
	for at := 0; ; {
		line, n := rest[at:], len(rest)-at
		if i := bytes.IndexByte(line, '\n'); i >= 0 {
			line, n = line[:i], i+1
		}
		if string(bytes.TrimSuffix(line, []byte("\r"))) == "---" {
			return rest[:at], rest[at+n:], true, nil
		}
		at += n
		if at > maxFront {
			return nil, nil, true, &TooLargeError{What: "front matter", Size: int64(at), Max: maxFront}
		}
		if at == len(rest) {
			return nil, nil, true, invalid("front matter does not end: there is no second --- line")
		}
	}
}

// parseFront parses front matter, which is YAML without the features that a message does
// not need.
func parseFront(front []byte) (*Message, error) {
	root, err := yamlMapping(front)
	if err != nil {
		return nil, err
	}
	m := &Message{}
	if root == nil {
		return m, nil
	}
	extra := &yaml.Node{Kind: yaml.MappingNode}
	for i := 0; i < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		known, err := m.set(key.Value, value)
		if err != nil {
			return nil, err
		}
		if !known {
			extra.Content = append(extra.Content, key, value)
		}
	}
	if len(extra.Content) > 0 {
		text, err := yaml.Marshal(extra)
		if err != nil {
			return nil, invalid("front matter: %v", err)
		}
		m.Extra = string(text)
		if err := checkExtra(m.Extra); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// yamlMapping parses YAML into its nodes, without comments. It returns nil for empty
// input.
func yamlMapping(text []byte) (_ *yaml.Node, err error) {
	defer func() {
		// Some versions of yaml.v3, such as 3.0.1, panic on broken input instead of
		// returning an error.
		if p := recover(); p != nil {
			err = invalid("front matter: %v", p)
		}
	}()
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, invalid("front matter: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	root := doc.Content[0]
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		return nil, nil
	}
	if root.Kind != yaml.MappingNode {
		return nil, invalid("front matter is not a list of keys and values")
	}
	if err := tame(root); err != nil {
		return nil, err
	}
	for i := 0; i < len(root.Content); i += 2 {
		if key := root.Content[i]; key.Kind != yaml.ScalarNode || key.Value == "" {
			return nil, invalid("front matter line %d: a key must be a word", key.Line)
		}
	}
	return root, nil
}

// tame rejects anchors, aliases, merges and repeated keys at every depth, and removes the
// comments.
func tame(n *yaml.Node) error {
	if n.Anchor != "" || n.Kind == yaml.AliasNode {
		return invalid("front matter line %d: anchors and aliases are not allowed", n.Line)
	}
	n.HeadComment, n.LineComment, n.FootComment = "", "", ""
	if n.Kind == yaml.MappingNode {
		seen := make(map[string]bool, len(n.Content)/2)
		for i := 0; i < len(n.Content); i += 2 {
			key := n.Content[i]
			if key.Tag == "!!merge" {
				return invalid("front matter line %d: merges are not allowed", key.Line)
			}
			if key.Kind == yaml.ScalarNode && seen[key.Value] {
				return invalid("front matter line %d: %s is given twice", key.Line, key.Value)
			}
			seen[key.Value] = key.Kind == yaml.ScalarNode
		}
	}
	for _, c := range n.Content {
		if err := tame(c); err != nil {
			return err
		}
	}
	return nil
}

// checkExtra checks that text consists of complete YAML lines that contain only unknown
// keys.
func checkExtra(text string) error {
	if !strings.HasSuffix(text, "\n") {
		return invalid("unknown keys have no newline at the end")
	}
	_, rest, _, err := splitFront([]byte(fence + text + fence))
	if err != nil || len(rest) > 0 {
		return invalid("unknown keys contain a --- line")
	}
	root, err := yamlMapping([]byte(text))
	if err != nil {
		return err
	}
	if root == nil || root.Style&yaml.FlowStyle != 0 || root.Column != 1 {
		return invalid("unknown keys are not on lines of their own")
	}
	var scratch Message
	for i := 0; i < len(root.Content); i += 2 {
		if known, _ := scratch.set(root.Content[i].Value, root.Content[i+1]); known {
			return invalid("%s is a known key", root.Content[i].Value)
		}
	}
	// Reject text that would change when it is rewritten.
	again, err := yaml.Marshal(root)
	if err != nil || string(again) != text {
		return invalid("unknown keys change when they are rewritten")
	}
	return nil
}

// set sets the field for a key. It returns false if the key is unknown.
func (m *Message) set(key string, n *yaml.Node) (known bool, err error) {
	i := slices.IndexFunc(envelope, func(k envelopeKey) bool { return k.name == key })
	if i < 0 {
		return false, nil
	}
	switch v := envelope[i].field(m).(type) {
	case *string:
		*v, err = yamlString(n)
	case *Type:
		var s string
		s, err = yamlString(n)
		*v = Type(s)
	case *Priority:
		var s string
		if s, err = yamlString(n); err == nil {
			*v, err = ParsePriority(s)
		}
	case *[]string:
		*v, err = yamlList(n)
	case *int:
		*v, err = yamlInt(n)
	case *time.Time:
		*v, err = yamlTime(n)
	case *[]Attachment:
		*v, err = yamlAttachments(n)
	}
	if err != nil {
		return true, fmt.Errorf("front matter line %d, %s: %w", n.Line, key, err)
	}
	return true, nil
}

// yamlString returns the text of any scalar, because even 123 is a valid subject.
func yamlString(n *yaml.Node) (string, error) {
	if n.Kind != yaml.ScalarNode {
		return "", invalid("must be one value")
	}
	if n.ShortTag() == "!!null" {
		return "", nil
	}
	return n.Value, nil
}

// yamlList accepts a list or a single value, which it treats as a list with one entry.
func yamlList(n *yaml.Node) ([]string, error) {
	if n.Kind == yaml.ScalarNode {
		s, err := yamlString(n)
		if s == "" || err != nil {
			return nil, err
		}
		return []string{s}, nil
	}
	if n.Kind != yaml.SequenceNode {
		return nil, invalid("must be a list")
	}
	var list []string
	for _, c := range n.Content {
		s, err := yamlString(c)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

func yamlInt(n *yaml.Node) (int, error) {
	s, err := yamlString(n)
	if err != nil || s == "" {
		return 0, err
	}
	i, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		return 0, invalid("must be a number, not %q", s)
	}
	return int(i), nil
}

// yamlTime parses RFC 3339, with a T or a space before the time of day. The year in UTC
// must be in the range 1 to 9999.
func yamlTime(n *yaml.Node) (time.Time, error) {
	s, err := yamlString(n)
	if err != nil || s == "" {
		return time.Time{}, err
	}
	t, err := time.Parse(time.RFC3339Nano, strings.Replace(s, " ", "T", 1))
	if err != nil {
		return time.Time{}, invalid("must be a time like 2026-11-21T04:51:02Z, not %q", s)
	}
	t = t.UTC()
	if t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}, invalid("the year of %q is out of range", s)
	}
	return t, nil
}

func yamlAttachments(n *yaml.Node) ([]Attachment, error) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		return nil, nil
	}
	if n.Kind != yaml.SequenceNode {
		return nil, invalid("must be a list")
	}
	var list []Attachment
	for _, c := range n.Content {
		if c.Kind != yaml.MappingNode {
			return nil, invalid("must give the name, path, size and sha256 of each")
		}
		var a Attachment
		for i := 0; i < len(c.Content); i += 2 {
			s, err := yamlString(c.Content[i+1])
			if err != nil {
				return nil, err
			}
			switch key := c.Content[i].Value; key {
			case "name":
				a.Name = s
			case "path":
				a.Path = s
			case "sha256":
				a.SHA256 = s
			case "size":
				if a.Size, err = strconv.ParseInt(s, 10, 64); err != nil {
					return nil, invalid("size: must be a number, not %q", s)
				}
			default:
				return nil, invalid("unknown key %q", key)
			}
		}
		list = append(list, a)
	}
	return list, nil
}
