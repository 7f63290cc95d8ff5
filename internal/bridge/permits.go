package bridge

import "slices"

// permits are those of a bridge, with what judging by them needs of the network.
type permits struct {
	allow []Permit
	link  Link
}

// of is what a person may do.
func (p permits) of(who Person) []Right { return rightsOf(p.allow, who, p.link, p.link.Vouched()) }

// may says whether a person has a right.
func (p permits) may(who Person, need Right) bool { return slices.Contains(p.of(who), need) }
