package irc

import (
	"maps"
	"strconv"
	"strings"
)

// ISupport contains the features that a server announces in its 005 lines. It maps each
// token to its value, or to "" if the token has no value.
type ISupport map[string]string

// add adds one 005 line. Its first parameter is our nick, and its last parameter is a
// sentence. -TOKEN removes a token.
func (s ISupport) add(params []string) {
	if len(params) < 3 {
		return
	}
	for _, token := range params[1 : len(params)-1] {
		if name, ok := strings.CutPrefix(token, "-"); ok {
			delete(s, strings.ToUpper(name))
			continue
		}
		name, value, _ := strings.Cut(token, "=")
		s[strings.ToUpper(name)] = unescapeISupport(value)
	}
}

// unescapeISupport decodes \xHH, such as \x20, \x5C and \x3D.
func unescapeISupport(s string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, `\x`)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if len(after) >= 2 {
			if c, err := strconv.ParseUint(after[:2], 16, 8); err == nil {
				b.WriteByte(byte(c))
				s = after[2:]
				continue
			}
		}
		b.WriteString(`\x`)
		s = after
	}
}

// Number returns the value of a token, or its second argument if the value is not a
// number greater than 0.
func (s ISupport) Number(token string, otherwise int) int {
	if n, err := strconv.Atoi(s[token]); err == nil && n > 0 {
		return n
	}
	return otherwise
}

// CaseMapping returns the mapping that CASEMAPPING announces. It returns RFC1459 if the
// server announces no mapping, and ASCII if the mapping is unknown.
func (s ISupport) CaseMapping() CaseMapping {
	switch c := CaseMapping(strings.ToLower(s["CASEMAPPING"])); c {
	case "":
		return RFC1459
	case RFC1459, RFC1459Strict:
		return c
	}
	return ASCII
}

// IsChannel reports whether a target is a channel on this server, according to CHANTYPES.
func (s ISupport) IsChannel(target string) bool {
	types, ok := s["CHANTYPES"]
	if !ok {
		types = "#&"
	}
	return target != "" && strings.IndexByte(types, target[0]) >= 0
}

// ranks returns the prefix characters in PREFIX, highest rank first. In NAMES, these
// characters appear in front of a nick.
func (s ISupport) ranks() string {
	if _, signs, ok := strings.Cut(s["PREFIX"], ")"); ok {
		return signs
	}
	return "~&@%+"
}

// MaxTargets returns the maximum number of targets of one command, according to TARGMAX.
// It returns 1 if TARGMAX does not list the command, and 0 if TARGMAX sets no limit for
// it.
func (s ISupport) MaxTargets(command string) int {
	for entry := range strings.SplitSeq(s["TARGMAX"], ",") {
		if name, value, ok := strings.Cut(entry, ":"); ok && strings.EqualFold(name, command) {
			n, _ := strconv.Atoi(value)
			return n
		}
	}
	return 1
}

func (s ISupport) clone() ISupport { return maps.Clone(s) }
