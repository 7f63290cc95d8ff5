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
		"192.88.99.0/24",  // relays for 6to4, an obsolete form (RFC 7526)
		"240.0.0.0/4",     // reserved, including broadcast
		"2001::/23",       // protocol assignments, including Teredo (IPv4 in IPv6)
		"2001:db8::/32",   // documentation
		"3fff::/20",       // documentation (RFC 9637)
	} {
		nets = append(nets, netip.MustParsePrefix(s))
	}
	return nets
})

// unicast is the only part of IPv6 from which public addresses are assigned (RFC 4291 and
// IANA's registry of the IPv6 address space). Outside it are, among others, the forms that
// contain an IPv4 address (::/96, ::ffff:0:0:0/96 of RFC 7915, 64:ff9b:1::/48 of RFC 8215),
// and the addresses that discard (100::/64) or that only a network's routers use (5f00::/16).
var unicast = sync.OnceValue(func() netip.Prefix { return netip.MustParsePrefix("2000::/3") })

// embedded returns the IPv4 addresses that an IPv6 address contains.
func embedded(a netip.Addr) (v4 []netip.Addr) {
	if a.Is4() {
		return nil
	}
	raw := a.As16()
	if isNAT64(a) {
		v4 = append(v4, netip.AddrFrom4([4]byte(raw[12:])))
	}
	if raw[0] == 0x20 && raw[1] == 0x02 { // 2002::/16, 6to4
		v4 = append(v4, netip.AddrFrom4([4]byte(raw[2:6])))
	}
	if raw[8]&^2 == 0 && raw[9] == 0 && raw[10] == 0x5e && raw[11] == 0xfe { // ISATAP, RFC 5214
		v4 = append(v4, netip.AddrFrom4([4]byte(raw[12:])))
	}
	return v4
}

// isNAT64 reports whether a translator replaces an address by the IPv4 address that it
// contains (64:ff9b::/96, RFC 6052).
func isNAT64(a netip.Addr) bool {
	raw := a.As16()
	return a.Is6() && strings.HasPrefix(string(raw[:]), "\x00\x64\xff\x9b\x00\x00\x00\x00\x00\x00\x00\x00")
}

// IsPublic reports whether an address can belong to a public server on the internet.
func IsPublic(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	for _, v4 := range embedded(a) {
		if !IsPublic(v4) {
			return false
		}
	}
	switch {
	case isNAT64(a):
		return true
	case a.Is6() && !unicast().Contains(a):
		return false
	case !a.IsGlobalUnicast() || a.IsPrivate():
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
