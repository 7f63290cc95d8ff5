package ircbridge

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// Options configure a bridge to IRC. Store, Home, Server.Addr, Server.Nick and
// Channels.Project must be set; [New] sets Name, Title and Mask.
type Options struct {
	bridge.Options

	Server Server
	Style  Style    // "" means StylePrefix
	Join   []string // further channels, which the bridge joins and never leaves

	// Keys contains the keys of channels that require one (mode +k), by channel name. The
	// channel names are not case-sensitive. The keys are secrets.
	Keys map[string]string

	// RejoinAfter lists the pauses between attempts to join a channel that has refused us
	// several times; the last pause repeats. nil means 1, 2, 5 and 10 minutes.
	RejoinAfter []time.Duration

	// With [StyleNicks], Nick returns an agent's nick. With [StyleRelay], it returns the
	// part of the relayed nick before the slash. If Nick is nil, the agent's name is
	// used.
	Nick func(agent string) string

	// Secrets are masked in everything that is sent or logged. The server's passwords and
	// text that looks like a secret are always masked.
	Secrets []string
}

// A Server specifies the server to connect to and the names to use.
type Server struct {
	Addr     string // host, or host:port; the default port is 6697 with TLS, otherwise 6667
	Nick     string // the bridge's nick
	User     string // the user name; "" means the nick without the characters that servers do not accept in a user name
	RealName string // "" means the nick
	Password string // the server's password (PASS); "" means no password

	TLS        bool   // the certificate is always verified
	ServerName string // the name in the certificate; "" means the host
	CAFile     string // PEM file with the trusted authorities; "" means the system's authorities
	CertFile   string // PEM file with our own certificate, which serves as the login with SASL "external"
	KeyFile    string

	SASL         string // "plain", "external", or "" for no login; if the login is refused, the bridge does not retry
	Account      string // "" means the nick or, with "external", any account
	SASLPassword string

	Burst     int           // how many lines may be sent without a pause; 0 means 4
	Rate      float64       // how many lines per second after that; 0 means 1
	Unlimited bool          // removes these limits; only for your own server
	RetryMin  time.Duration // the first pause between two attempts to connect, which doubles each time; 0 means 1 s
	RetryMax  time.Duration // the longest pause between two attempts to connect; 0 means 60 s
	LineLen   int           // maximum bytes in a line, for a server that accepts more than it announces; 0 means the announced length, or 512 if the server announces none

	RegisterTimeout time.Duration // maximum time from dialing to the end of the server's greeting; 0 means 60 s
	PingAfter       time.Duration // how long after the last line the bridge sends a PING; 0 means 60 s
	PingTimeout     time.Duration // the connection counts as dead after this long without an answer; 0 means 30 s
	ProofTimeout    time.Duration // the connection also counts as dead if a line remains unproven for this long; 0 means 90 s
}

// config returns the configuration for the library. It fails if a TLS file cannot be
// used.
func (o *Options) config(nick string) (irc.Config, error) {
	s := o.Server
	c := irc.Config{
		Addr: s.HostPort(), Clear: !s.TLS, Nick: nick, User: s.User, RealName: s.RealName, Pass: s.Password, Bot: true,
		Flood: irc.Flood{Burst: s.Burst, Rate: s.Rate, Off: s.Unlimited}, LineLen: s.LineLen,
		RegisterTimeout: s.RegisterTimeout, PingAfter: s.PingAfter, PingTimeout: s.PingTimeout, ProofTimeout: s.ProofTimeout,
		Secrets: o.secrets(), Log: o.Log,
	}
	if s.TLS {
		var err error
		if c.TLS, err = irc.TLSFiles(s.CAFile, s.CertFile, s.KeyFile); err != nil {
			return irc.Config{}, err
		}
		c.TLS.ServerName = s.ServerName
	}
	if s.SASL != "" {
		c.SASL = &irc.SASL{Mechanism: strings.ToUpper(s.SASL), User: s.Account, Password: s.SASLPassword}
		if c.SASL.User == "" && c.SASL.Mechanism == "PLAIN" {
			c.SASL.User = s.Nick
		}
	}
	return c, nil
}

func (o *Options) backoff() irc.Backoff {
	return irc.Backoff{Min: o.Server.RetryMin, Max: o.Server.RetryMax}
}

func (o *Options) masker() *irc.Masker {
	return irc.NewMasker(append([]string{o.Server.Password, o.Server.SASLPassword}, o.secrets()...)...)
}

// secrets returns all secrets except the server's passwords.
func (o *Options) secrets() []string {
	return slices.AppendSeq(slices.Clone(o.Secrets), maps.Values(o.Keys))
}

// channel returns a channel with its key.
func (o *Options) channel(name string) irc.Channel {
	for keyed, key := range o.Keys {
		if strings.EqualFold(keyed, name) {
			return irc.Channel{Name: name, Key: key}
		}
	}
	return irc.Channel{Name: name}
}

// HostPort returns the address with its port.
func (s Server) HostPort() string {
	if _, _, err := net.SplitHostPort(s.Addr); err == nil {
		return s.Addr
	}
	port := "6667"
	if s.TLS {
		port = "6697"
	}
	return net.JoinHostPort(strings.Trim(s.Addr, "[]"), port)
}

// A Style determines the name under which an agent's messages appear.
type Style string

// The styles. If the server does not support a style, the bridge falls back to StylePrefix,
// and the state contains the reason.
const (
	StylePrefix Style = "prefix"   // [agent] text; one connection for all agents
	StyleNicks  Style = "nicks"    // a connection for each agent, under its own nick
	StyleRelay  Style = "relaymsg" // one connection; lines appear under nicks such as coder/swarm, by means of ergo's RELAYMSG
)

// fixed returns the channels to join at startup, without duplicates.
func (o *Options) fixed() []string {
	var list []string
	have := map[string]bool{}
	all := append([]string{o.Channels.Project, o.Channels.Standup, o.Channels.Alerts, o.Channels.Errors}, o.Join...)
	for _, agent := range slices.Sorted(maps.Keys(o.Channels.Own)) {
		all = append(all, o.Channels.Own[agent]...)
	}
	for _, c := range all {
		if name := strings.ToLower(c); c != "" && !have[name] {
			have[name] = true
			list = append(list, c)
		}
	}
	return list
}

// check sets the defaults, or returns an error if an option is invalid.
func (o *Options) check() error {
	o.Name, o.Title, o.Mask = Name, Title, o.masker().Mask
	if err := o.Options.Check(); err != nil {
		return err
	}
	switch {
	case o.Server.Addr == "":
		return errors.New("no server")
	case o.Server.Nick == "":
		return errors.New("no nick")
	}
	for _, c := range o.fixed() {
		if strings.ContainsAny(c, " ,\a\x00\r\n") || strings.HasPrefix(c, ":") {
			return fmt.Errorf("%q cannot be the name of a channel", c)
		}
	}
	switch o.Style = cmp.Or(o.Style, StylePrefix); o.Style {
	case StylePrefix, StyleNicks, StyleRelay:
	default:
		return fmt.Errorf("%q is not a style: want prefix, nicks or relaymsg", o.Style)
	}
	for name, key := range o.Keys {
		if key == "" || strings.ContainsAny(key, " ,\a\x00\r\n") || strings.HasPrefix(key, ":") {
			return fmt.Errorf("the key for %s is not valid: a key has no spaces, commas or control characters, and no leading colon", name)
		}
	}
	for _, p := range o.Allow {
		if err := p.Check(o.Server.Addr); err != nil {
			return err
		}
	}
	if o.Nick == nil {
		o.Nick = func(agent string) string { return agent }
	}
	return nil
}
