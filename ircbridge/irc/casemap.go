package irc

// A CaseMapping specifies which characters a server treats as equal in nicks, channels
// and accounts. On inspircd, dup{nick} and DUP[NICK] are the same nick; on ergo, ngircd
// and ircd-hybrid they are not.
type CaseMapping string

// The mappings that servers announce. If a server announces no mapping, RFC1459 applies.
// An announced mapping that is not in this list is treated as ASCII.
const (
	ASCII         CaseMapping = "ascii"
	RFC1459       CaseMapping = "rfc1459"
	RFC1459Strict CaseMapping = "rfc1459-strict"
)

// Fold returns the normalized form of a name, for use as a map key. The normalized form
// has as many bytes as the name.
func (c CaseMapping) Fold(name string) string {
	for i := range len(name) {
		if c.fold(name[i]) == name[i] {
			continue
		}
		folded := []byte(name)
		for j := i; j < len(folded); j++ {
			folded[j] = c.fold(folded[j])
		}
		return string(folded)
	}
	return name
}

// Same reports whether the server treats two names as the same.
func (c CaseMapping) Same(a, b string) bool { return len(a) == len(b) && c.Fold(a) == c.Fold(b) }

func (c CaseMapping) fold(r byte) byte {
	if r >= 'A' && r <= 'Z' {
		return r + 'a' - 'A'
	}
	if c == "" || c == RFC1459 || c == RFC1459Strict {
		switch r {
		case '[', ']', '\\':
			return r + '{' - '['
		case '~':
			if c != RFC1459Strict {
				return '^'
			}
		}
	}
	return r
}
