package bridge

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
)

// A Right allows a person on the network to perform one kind of action.
type Right string

// The rights. No right includes another.
const (
	Talk    Right = "talk"    // speak to agents, answer their questions, ask for the status
	Tasks   Right = "task"    // give tasks
	Control Right = "control" // pause, resume, abort, halt, join and leave channels
)

// Rights lists all rights.
func Rights() []Right { return []Right{Talk, Tasks, Control} }

// A Permit gives rights to a person. Exactly one of Account, Mask and Nick is set. A person
// who matches several permits has the rights of all of them; a person who matches no permit
// has no rights.
type Permit struct {
	Account string // the account that the server confirms; the safe choice
	Mask    string // nick!user@host, with * and ? as wildcards; only as reliable as the host that the server reports
	Nick    string // allowed only if the server is on this machine, because a nick is not proof of identity
	May     []Right
}

// Check returns an error if the permit cannot be used with a server at the given address.
func (p Permit) Check(addr string) error {
	set := 0
	for _, who := range []string{p.Account, p.Mask, p.Nick} {
		if who != "" {
			set++
		}
	}
	switch {
	case set != 1:
		return errors.New("a permit must name exactly one of account, mask and nick")
	case len(p.May) == 0:
		return fmt.Errorf("the permit for %s allows nothing", p.who())
	case p.Account != "" && strings.ContainsAny(p.Account, "*? "):
		return fmt.Errorf("%q is not an account; a mask can be given as mask", p.Account)
	case p.Nick != "" && !Loopback(addr):
		return fmt.Errorf("the nick %s proves nothing on a server on another machine (%s): permit an account or a mask", p.Nick, addr)
	case p.Nick != "" && strings.ContainsAny(p.Nick, "*?!@ "):
		return fmt.Errorf("%q is not a nick; a mask can be given as mask", p.Nick)
	}
	for _, r := range p.May {
		if !slices.Contains(Rights(), r) {
			return fmt.Errorf("%q is not a right; the rights are talk, task and control", r)
		}
	}
	if p.Mask != "" {
		_, rest, ok := strings.Cut(p.Mask, "!")
		_, host, ok2 := strings.Cut(rest, "@")
		if !ok || !ok2 {
			return fmt.Errorf("%q is not a mask of the form nick!user@host", p.Mask)
		}
		if strings.Trim(host, "*?.") == "" && !Loopback(addr) {
			return fmt.Errorf("the mask %s allows every host, and so anyone who takes that nick", p.Mask)
		}
	}
	return nil
}

func (p Permit) who() string {
	switch {
	case p.Account != "":
		return "account " + p.Account
	case p.Mask != "":
		return "mask " + p.Mask
	}
	return "nick " + p.Nick
}

// A Person is the author of a line, as the network identifies them.
type Person struct {
	Nick, User, Host string
	Account          string // "" means that the person is not logged in
}

// A caseMapping folds names the way the network does, so that equal nicks become equal
// strings.
type caseMapping interface {
	Fold(name string) string // Fold keeps the length
	Same(a, b string) bool
}

// IdlePermits returns one line about each permit that has no effect behind a bouncer on
// this machine. Permits for nicks, and masks that allow every host, have no effect, because
// the server itself is on another machine and other people can take the nick there.
func IdlePermits(permits []Permit) (why []string) {
	for _, p := range permits {
		if p.Check("") != nil {
			why = append(why, fmt.Sprintf("the permit for %s never matches: the server is a bouncer, which does not show who is behind it", p.who()))
		}
	}
	return why
}

// rightsOf returns the rights that these permits give a person on a server at the given
// address.
func rightsOf(permits []Permit, p Person, c caseMapping, addr string) []Right {
	var may []Right
	for _, permit := range permits {
		if permit.Check(addr) != nil || !permit.matches(p, c) {
			continue
		}
		for _, r := range permit.May {
			if !slices.Contains(may, r) {
				may = append(may, r)
			}
		}
	}
	return may
}

func (p Permit) matches(who Person, c caseMapping) bool {
	switch {
	case p.Account != "":
		return who.Account != "" && who.Account != "*" && c.Same(p.Account, who.Account)
	case p.Mask != "":
		// A source without a user and host is a server, not a person.
		return who.Host != "" && matchMask(c.Fold(p.Mask), c.Fold(who.Nick+"!"+who.User+"@"+who.Host))
	}
	return who.Nick != "" && who.Host != "" && c.Same(p.Nick, who.Nick)
}

// matchMask matches s against a pattern in which * matches any bytes and ? matches one
// byte. Its running time is proportional to len(pattern) * len(s).
func matchMask(pattern, s string) bool {
	star, retry := -1, 0
	i, j := 0, 0
	for j < len(s) {
		switch {
		case i < len(pattern) && pattern[i] == '*':
			star, retry = i, j
			i++
		case i < len(pattern) && (pattern[i] == '?' || pattern[i] == s[j]):
			i++
			j++
		case star >= 0:
			retry++
			i, j = star+1, retry
		default:
			return false
		}
	}
	return strings.Trim(pattern[i:], "*") == ""
}

// Loopback reports whether an address, in the form host or host:port, can only refer to
// this machine.
func Loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		host = strings.Trim(addr, "[]")
	}
	if strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
