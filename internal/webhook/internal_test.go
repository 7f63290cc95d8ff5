package webhook

import (
	"net/netip"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
)

func TestIsPublic(t *testing.T) {
	for addr, want := range map[string]bool{
		"8.8.8.8": true, "1.1.1.1": true, "2606:4700::1111": true, "172.15.0.1": true, "172.32.0.1": true, "100.63.0.1": true, "100.128.0.1": true,
		"::ffff:8.8.8.8": true, "64:ff9b::808:808": true, "2002:808:808::1": true,
		"10.0.0.1": false, "172.16.0.1": false, "172.31.255.255": false, "192.168.1.1": false, "127.0.0.1": false, "127.9.9.9": false,
		"169.254.169.254": false, "0.0.0.0": false, "0.1.2.3": false, "100.64.0.1": false, "100.127.255.255": false, "224.0.0.1": false, "255.255.255.255": false,
		"240.0.0.1": false, "198.18.0.1": false, "192.0.2.1": false, "192.0.0.8": false,
		"::": false, "::1": false, "fe80::1": false, "fe80::1%eth0": false, "fc00::1": false, "fd12::1": false, "ff02::1": false, "fec0::1": false,
		"::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false, "::127.0.0.1": false, "64:ff9b::7f00:1": false, "64:ff9b::a9fe:a9fe": false, "64:ff9b:1::1": false,
		"2002:7f00:1::": false, "2002:a00:1::": false, "2001:0:1:2::": false, "2001:db8::1": false, "100::1": false,
		"3fff::1": false, "3fff:fff:ffff::1": false, "3fff:1000::1": true, "5f00::1": false, "4000::1": false, "192.88.99.1": false,
		// SIIT (RFC 7915) and ISATAP (RFC 5214), with local and universal identifiers
		"::ffff:0:127.0.0.1": false, "::ffff:0:8.8.8.8": false, "2606:4700::5efe:10.0.0.1": false, "2606:4700::200:5efe:127.0.0.1": false,
		"fe80::5efe:8.8.8.8": false, "2606:4700::5efe:8.8.8.8": true, "2002:808:808::5efe:10.0.0.1": false, "2002:808:808::5efe:8.8.8.8": true, "64:ff9b::10.0.0.1": false,
	} {
		if got := IsPublic(netip.MustParseAddr(addr)); got != want {
			t.Errorf("IsPublic(%s) = %t", addr, got)
		}
	}
}

func TestMayConnect(t *testing.T) {
	public, private := netip.MustParseAddr("8.8.8.8"), netip.MustParseAddr("10.0.0.1")
	for _, test := range []struct {
		addr         netip.Addr
		allowed, tls bool
		want         string
	}{
		{public, false, true, ""}, {public, true, true, ""}, {private, true, true, ""}, {private, true, false, ""},
		{public, true, false, "it requires https"}, {public, false, false, "it requires https"},
		{private, false, true, "private: true"}, {private, false, false, "private: true"},
	} {
		err := Hook{Private: test.allowed}.mayConnect(test.addr, test.tls)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, private %t, TLS %t: %v, want %q", test.addr, test.allowed, test.tls, err, test.want)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "30": 30 * time.Second, " 30 ": 30 * time.Second, "0.25": 250 * time.Millisecond, "-5": 0, "NaN": 0, "soon": 0,
		"Inf": longestRest, "1e300": longestRest, "99999999": longestRest, "1e999": longestRest, "-1e999": 0, strings.Repeat("9", 400): longestRest,
		"Sun, 22 Nov 2026 10:01:00 GMT": time.Minute, "Sun, 22 Nov 2026 09:00:00 GMT": 0, "Sun, 22 Nov 2099 10:00:00 GMT": longestRest,
	} {
		if got := retryAfter(value, now); got != want {
			t.Errorf("retryAfter(%q) = %v, want %v", value, got, want)
		}
	}
}

// Three attempts are made within a minute. The next three attempts follow after waits of
// 5 minutes, 30 minutes and 2 hours.
func TestNext(t *testing.T) {
	at := time.Duration(0)
	var tries []time.Duration
	for failed := 1; ; failed++ {
		tries = append(tries, at)
		wait, again := next(DefaultWaits(), failed, 0)
		if !again {
			break
		}
		at += wait
	}
	want := []time.Duration{0, 20 * time.Second, time.Minute, 6 * time.Minute, 36 * time.Minute, 156 * time.Minute}
	if len(tries) != len(want) {
		t.Fatalf("tries at %v, want %v", tries, want)
	}
	for i := range want {
		if tries[i] != want[i] {
			t.Errorf("try %d is at %v, want %v", i+1, tries[i], want[i])
		}
	}
	if wait, _ := next(DefaultWaits(), 1, time.Hour); wait != time.Hour {
		t.Errorf("the receiver asked for an hour and got %v", wait)
	}
	if wait, _ := next(DefaultWaits(), 5, time.Hour); wait != 2*time.Hour {
		t.Errorf("the receiver's hour shortens our wait to %v", wait)
	}
	if _, again := next(DefaultWaits(), 6, time.Hour); again {
		t.Error("a receiver that asks for time gets more tries than others")
	}
}

func TestCutUTF16(t *testing.T) {
	for _, s := range []string{"short", strings.Repeat("a", 20), strings.Repeat("😀", 11), strings.Repeat(`\*`, 11), strings.Repeat(`\\`, 11), "aaaaaaaaaaaaaaaaaaa😀", "a" + strings.Repeat(`\\\*`, 9)} {
		got := cutUTF16(s, 20)
		if n := len(utf16.Encode([]rune(got))); n > 20 {
			t.Errorf("%q has %d units", got, n)
		}
		kept, wasCut := strings.CutSuffix(got, "…")
		if wasCut == (got == s) && s != got || !strings.HasPrefix(s, kept) {
			t.Errorf("%q became %q", s, got)
		}
		if marks := len(kept) - len(strings.TrimRight(kept, `\`)); marks%2 == 1 {
			t.Errorf("%q ends in half a mark", got)
		}
	}
}
