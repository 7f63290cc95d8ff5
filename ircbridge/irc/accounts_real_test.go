package irc_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/irctest"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// try opens a connection and closes it.
func try(t *testing.T, cfg irc.Config) (irc.State, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c, err := irc.Dial(ctx, cfg)
	if err != nil {
		return irc.State{}, err
	}
	st := c.State()
	return st, c.Close(ctx, "")
}

func tlsFiles(t *testing.T, authority *irctest.Authority, client irctest.Certificate) *tls.Config {
	t.Helper()
	config, err := irc.TLSFiles(authority.File, client.File, client.KeyFile)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// A client verifies a server's certificate, and does not register with a server that has
// no TLS.
func TestCertificatesOfServers(t *testing.T) {
	for name, start := range map[string]func(testing.TB, irctest.Certificate) string{"ngircd": irctest.NgircdTLS, "inspircd": irctest.InspircdTLS} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			authority := irctest.NewAuthority(t)
			addr := start(t, authority.Issue("server"))
			trusted := tlsFiles(t, authority, irctest.Certificate{})
			if st, err := try(t, irc.Config{Addr: addr, Nick: "ann", TLS: trusted}); err != nil || !st.TLS || st.Account != "" {
				t.Errorf("with its authority: %v, %+v", err, st)
			}
			_, err := try(t, irc.Config{Addr: addr, Nick: "ann"})
			if _, ok := errors.AsType[x509.UnknownAuthorityError](err); !ok || irc.Final(err) {
				t.Errorf("without its authority: %v", err)
			}
			_, err = try(t, irc.Config{Addr: addr, Nick: "ann", TLS: tlsFiles(t, irctest.NewAuthority(t), irctest.Certificate{})})
			if _, ok := errors.AsType[*tls.CertificateVerificationError](err); !ok {
				t.Errorf("with another authority: %v", err)
			}
			other := trusted.Clone()
			other.ServerName = "irc.example"
			_, err = try(t, irc.Config{Addr: addr, Nick: "ann", TLS: other})
			if _, ok := errors.AsType[x509.HostnameError](err); !ok {
				t.Errorf("by another name: %v", err)
			}
			_, err = try(t, irc.Config{Addr: start(t, authority.Expired("old")), Nick: "ann", TLS: trusted})
			if e, ok := errors.AsType[x509.CertificateInvalidError](err); !ok || e.Reason != x509.Expired || irc.Final(err) {
				t.Errorf("with an expired certificate: %v", err)
			}
		})
	}
	onEveryServer(t, func(t *testing.T, addr string) {
		_, err := try(t, irc.Config{Addr: addr, Nick: "ann", TLS: &tls.Config{}, RegisterTimeout: 200 * time.Millisecond})
		if err == nil || irc.Final(err) {
			t.Errorf("a server without TLS: %v", err)
		}
	})
}

// A client that must log in disconnects from a server that accepts no logins.
func TestLoginWithoutAccounts(t *testing.T) {
	onEveryServer(t, func(t *testing.T, addr string) {
		cfg := irc.Config{Addr: addr, Clear: true, Nick: "ann", SASL: &irc.SASL{Mechanism: "PLAIN", User: "ann", Password: "the-right-one"}}
		if _, err := try(t, cfg); !errors.Is(err, irc.ErrNoSASL) || irc.Final(err) || !irc.Unwelcome(err) {
			t.Errorf("a login without accounts: %v", err)
		}
	})
}

// TLS, passwords and client certificates work with a real server and real services.
func TestLoginAtRealServices(t *testing.T) {
	n := irctest.NewNetwork(t)
	annsCert, evesCert := n.Authority.Issue("ann"), n.Authority.Issue("eve")
	n.Register("ann", "the-right-one", annsCert)
	trusted := tlsFiles(t, n.Authority, irctest.Certificate{})
	plain := func(password string) *irc.SASL {
		return &irc.SASL{Mechanism: "PLAIN", User: "ann", Password: password}
	}

	t.Run("files", func(t *testing.T) {
		for _, names := range [][3]string{{"no such file"}, {annsCert.KeyFile}, {"", annsCert.File, annsCert.File}} {
			if _, err := irc.TLSFiles(names[0], names[1], names[2]); err == nil {
				t.Errorf("TLSFiles(%q): no error", names)
			}
		}
	})
	t.Run("PLAIN", func(t *testing.T) {
		if st, err := try(t, irc.Config{Addr: n.TLS, Nick: "ann", TLS: trusted, SASL: plain("the-right-one")}); err != nil || st.Account != "ann" {
			t.Errorf("the right password: %v, account %q", err, st.Account)
		}
		if _, err := try(t, irc.Config{Addr: n.TLS, Nick: "ann", TLS: trusted, SASL: plain("the-wrong-one")}); !errors.Is(err, irc.ErrSASL) || !irc.Final(err) {
			t.Errorf("a wrong password: %v", err)
		}
	})
	t.Run("EXTERNAL", func(t *testing.T) {
		for _, user := range []string{"", "ann"} {
			cfg := irc.Config{Addr: n.TLS, Nick: "ann", TLS: tlsFiles(t, n.Authority, annsCert), SASL: &irc.SASL{Mechanism: "EXTERNAL", User: user}}
			if st, err := try(t, cfg); err != nil || st.Account != "ann" {
				t.Errorf("the certificate of ann, user %q: %v, account %q", user, err, st.Account)
			}
		}
		cfg := irc.Config{Addr: n.TLS, Nick: "ann", TLS: tlsFiles(t, n.Authority, annsCert), SASL: &irc.SASL{Mechanism: "EXTERNAL", User: "eve"}}
		if _, err := try(t, cfg); !errors.Is(err, irc.ErrSASL) || !strings.Contains(err.Error(), "as ann, not as eve") {
			t.Errorf("the certificate of ann for eve: %v", err)
		}
		cfg.TLS = tlsFiles(t, n.Authority, evesCert)
		if _, err := try(t, cfg); !errors.Is(err, irc.ErrSASL) || !irc.Final(err) {
			t.Errorf("a certificate without an account: %v", err)
		}
	})
	t.Run("services come and go", func(t *testing.T) {
		cfg := irc.Config{Addr: n.TLS, Nick: "ann", TLS: trusted, SASL: plain("the-right-one"), Flood: fast}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		c, err := irc.Dial(ctx, cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close(ctx, "")
		join(t, c, "#room")
		bob := dial(t, irc.Config{Addr: n.Addr, Nick: "bob", Flood: fast})
		join(t, bob, "#room")
		heard := func(text string) {
			t.Helper()
			if err := delivered(t, c.Send("#room", text)); err != nil {
				t.Fatal(err)
			}
			if m := until(t, bob, text, is("PRIVMSG", "#room", text)); m.Tags["account"] != "ann" {
				t.Errorf("%s: tags %v", text, m.Tags)
			}
		}
		heard("before")
		n.StopServices()
		heard("without services")
		cfg.Nick = "ann2"
		if _, err := try(t, cfg); !errors.Is(err, irc.ErrNoSASL) || irc.Final(err) || !irc.Unwelcome(err) {
			t.Errorf("a login without services: %v", err)
		}
		n.StartServices()
		heard("with services again")
		if st, err := try(t, cfg); err != nil || st.Account != "ann" {
			t.Errorf("a login with services again: %v, account %q", err, st.Account)
		}
	})
}
