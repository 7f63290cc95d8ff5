package irc

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"
)

// Config specifies the server to connect to and the names to use. Addr and Nick must be
// set. For every other field, the zero value means the default.
type Config struct {
	Addr  string      // host:port
	Clear bool        // connect without TLS; the default is TLS with a verified certificate, without a fallback
	TLS   *tls.Config // sets a different authority or a client certificate (see [TLSFiles]); nil means the system's authorities

	Nick     string // the wanted nick; [State] contains the actual nick
	User     string // "" means the nick without the characters that servers do not accept in a user name
	RealName string // "" means the nick
	Pass     string // the server's password; "" means no password
	SASL     *SASL  // nil means no login
	Bot      bool   // set the server's user mode for bots (BOT= in 005)

	Caps []string // capabilities to request in addition to those that this package uses

	Flood   Flood
	LineLen int // maximum bytes in a line, for a server that accepts more than it announces; 0 means LINELEN in 005, or 512 if it is missing

	RegisterTimeout time.Duration // maximum time from dialing to the end of the registration; 0 means 60 s
	PingAfter       time.Duration // the client sends a PING after this long without a line; 0 means 60 s
	PingTimeout     time.Duration // the connection ends after this long without an answer; 0 means 30 s
	ProofTimeout    time.Duration // the connection ends if a line remains unproven for this long; 0 means 90 s
	NickAfter       time.Duration // pause before the client requests the wanted nick again, doubling up to 10 min; 0 means 15 s

	Secrets []string     // strings to mask in sent text and in the log, like Pass and the SASL password
	Log     *slog.Logger // nil means no log; raw lines are masked and logged at level debug

	// Dial makes the connection underneath TLS; nil means [net.Dialer].
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// SASL contains the data for a login. The mechanism PLAIN requires TLS or a loopback
// connection.
type SASL struct {
	Mechanism string // PLAIN, or EXTERNAL for the client certificate
	User      string // the account; with EXTERNAL, the account that the certificate must belong to, or "" for any account
	Password  string
}

// TLSFiles makes the TLS part of a [Config] from PEM files. These contain an authority
// that replaces the system's authorities, and a client certificate with its key. Each
// file name can be "".
func TLSFiles(authority, cert, key string) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if authority != "" {
		pem, err := os.ReadFile(authority)
		if err != nil {
			return nil, fmt.Errorf("TLS authority: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("TLS authority: no certificate in %s", authority)
		}
	}
	if cert != "" || key != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("TLS client certificate: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// withDefaults sets the defaults. The error is [ErrConfig] if the configuration cannot
// work.
func (c Config) withDefaults() (Config, error) {
	refuse := func(why string) (Config, error) { return c, fmt.Errorf("%w: %s", ErrConfig, why) }
	host, _, err := net.SplitHostPort(c.Addr)
	if err != nil {
		return refuse("the address is not host:port: " + err.Error())
	}
	if c.Nick == "" {
		return refuse("no nick")
	}
	if c.User == "" {
		c.User = userOf(c.Nick)
	}
	if c.RealName == "" {
		c.RealName = c.Nick
	}
	for _, name := range []string{c.Nick, c.User} {
		if _, err := Msg("NICK", name, "").Clean(); err != nil {
			return refuse(err.Error())
		}
	}
	if c.SASL != nil {
		switch c.SASL.Mechanism {
		case "PLAIN":
			if c.SASL.User == "" || c.SASL.Password == "" {
				return refuse("SASL PLAIN without an account or password")
			}
		case "EXTERNAL":
			if c.Clear || c.TLS == nil || len(c.TLS.Certificates) == 0 && c.TLS.GetClientCertificate == nil {
				return refuse("SASL EXTERNAL without a TLS client certificate")
			}
		default:
			return refuse(fmt.Sprintf("SASL mechanism %q: want PLAIN or EXTERNAL", c.SASL.Mechanism))
		}
	}
	if !c.Clear {
		c.TLS = c.TLS.Clone()
		if c.TLS == nil {
			c.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
		}
		if c.TLS.ServerName == "" {
			c.TLS.ServerName = host
		}
	}
	c.RegisterTimeout = orDefault(c.RegisterTimeout, time.Minute)
	c.PingAfter = orDefault(c.PingAfter, time.Minute)
	c.PingTimeout = orDefault(c.PingTimeout, 30*time.Second)
	c.ProofTimeout = orDefault(c.ProofTimeout, 90*time.Second)
	c.NickAfter = orDefault(c.NickAfter, 15*time.Second)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Dial == nil {
		c.Dial = (&net.Dialer{KeepAlive: 30 * time.Second}).DialContext
	}
	return c, nil
}

func (c Config) masker() *Masker {
	own := append([]string{c.Pass}, c.Secrets...)
	if c.SASL != nil {
		own = append(own, c.SASL.Password)
	}
	return NewMasker(own...)
}

// userOf makes a user name from a nick. It removes characters, because ngircd accepts
// only letters, digits and a few others.
func userOf(nick string) string {
	plain := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_.", r) {
			return r
		}
		return -1
	}, nick)
	return cmp.Or(strings.TrimLeft(plain, "-_."), "user")
}

// orDiscard returns the log, or a log that drops all records if log is nil.
func orDiscard(log *slog.Logger) *slog.Logger {
	if log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return log
}
