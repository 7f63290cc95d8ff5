package webhook

import (
	"fmt"
	"net/netip"
	"strings"
	"sync"
)

// special lists the networks that contain no public servers and for which [netip.Addr]
// has no method.
var special = sync.OnceValue(func() (nets []netip.Prefix) {
	for _, s := range []string{
		"0.0.0.0/8",       // this network
		"100.64.0.0/10",   // shared by the customers of a carrier (RFC 6598)
		"192.0.0.0/24",    // protocol assignments
		"192.0.2.0/24",    // documentation, like the next two networks
		"198.51.100.0/24", //
		"203.0.113.0/24",  //
		"198.18.0.0/15",   // benchmark measurements
		"240.0.0.0/4",     // reserved, including broadcast
		"::/96",           // IPv4 in IPv6, an obsolete form
		"64:ff9b:1::/48",  // IPv4 in IPv6, for private networks (RFC 8215)
		"100::/64",        // discarded
		"2001::/23",       // protocol assignments, including Teredo (IPv4 in IPv6)
		"2001:db8::/32",   // documentation
		"fec0::/10",       // site-local, an obsolete form
	} {
		nets = append(nets, netip.MustParsePrefix(s))
	}
	return nets
})

// embedded returns the IPv4 address that an IPv6 address contains.
func embedded(a netip.Addr) (netip.Addr, bool) {
	raw := a.As16()
	switch {
	case a.Is4():
	case strings.HasPrefix(string(raw[:]), "\x00\x64\xff\x9b\x00\x00\x00\x00\x00\x00\x00\x00"): // 64:ff9b::/96, RFC 6052
		return netip.AddrFrom4([4]byte(raw[12:])), true
	case raw[0] == 0x20 && raw[1] == 0x02: // 2002::/16, 6to4
		return netip.AddrFrom4([4]byte(raw[2:6])), true
	}
	return netip.Addr{}, false
}

// IsPublic reports whether an address can belong to a public server on the internet.
func IsPublic(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if v4, ok := embedded(a); ok {
		return IsPublic(v4)
	}
	if !a.IsGlobalUnicast() || a.IsPrivate() {
		return false // this excludes unspecified, loopback, link-local and multicast addresses
	}
	for _, net := range special() {
		if net.Contains(a) {
			return false
		}
	}
	return true
}

// mayConnect returns an error that says why a webhook must not connect to an address, or
// nil if it may.
func (h Hook) mayConnect(a netip.Addr, tls bool) error {
	switch public := IsPublic(a); {
	case !public && !h.Private:
		return fmt.Errorf("%s is not a public address: private: true allows it", a)
	case public && !tls:
		return fmt.Errorf("%s is a public address: it requires https", a)
	}
	return nil
}
