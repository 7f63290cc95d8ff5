package bridge

import "slices"

// permits are the permits of a bridge, with the link that provides the data about the
// network.
type permits struct {
	allow []Permit
	link  Link
}

// of returns the rights of a person.
func (p permits) of(who Person) []Right { return rightsOf(p.allow, who, p.link, p.link.Vouched()) }

// may reports whether a person has a right.
func (p permits) may(who Person, need Right) bool { return slices.Contains(p.of(who), need) }
