package irc

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// usedCaps are the capabilities that make something better here. What a server
// does not offer is done without.
var usedCaps = []string{
	"account-notify", "account-tag", "batch", "cap-notify", "chghost", "draft/chathistory", "draft/event-playback",
	"draft/multiline", "draft/relaymsg", "echo-message", "labeled-response", "message-tags", "server-time",
}

// registration goes from the first line to 001 and on to the end of the MOTD,
// and answers CAP NEW and DEL afterwards. The reader owns it and calls it with
// the connection's mutex held.
//
//	CAP LS 302 -> PASS, NICK, USER -> CAP REQ -> AUTHENTICATE -> CAP END -> 001 -> 376
//
// A server without CAP answers 421 or nothing, and goes to 001 by itself.
type registration struct {
	cfg      Config
	want     []string
	asked    [][]string // CAP REQ lines without an answer yet
	listed   bool       // CAP LS has ended
	ended    bool       // CAP END was sent
	login    bool       // AUTHENTICATE was begun
	loggedIn bool
	tries    int // nicks that were taken
}

func newRegistration(cfg Config) *registration {
	r := &registration{cfg: cfg, want: slices.Concat(usedCaps, cfg.Caps)}
	if cfg.SASL != nil {
		r.want = append(r.want, "sasl")
	}
	return r
}

func (r *registration) begin(c *Conn) {
	c.st.phase = Registering
	c.urgent(Msg("CAP", "LS", "302"))
	if r.cfg.Pass != "" {
		c.urgent(Msg("PASS", r.cfg.Pass))
	}
	c.urgent(Msg("NICK", r.cfg.Nick))
	c.urgent(Msg("USER", r.cfg.User, "0", "*", r.cfg.RealName))
}

// take deals with one message and says whether it is done with.
func (r *registration) take(c *Conn, m Message) (done bool, err error) {
	switch m.Command {
	case "CAP":
		return true, r.caps(c, m)
	case "AUTHENTICATE":
		r.authenticate(c, m)
		return true, nil
	case "903":
		r.loggedIn = true
		if want := r.cfg.SASL; want != nil && want.User != "" && c.st.account != "" && !c.st.fold.Same(want.User, c.st.account) {
			c.urgent(Msg("QUIT", "another account"))
			return true, fmt.Errorf("%w: it logged us in as %s, not as %s", ErrSASL, c.st.account, want.User)
		}
		return true, r.proceed(c)
	case "902", "904", "905", "906", "907", "908":
		if c.st.phase == Registering && r.cfg.SASL != nil {
			c.urgent(Msg("QUIT", "login refused"))
			why := ErrSASL
			if m.Command == "906" { // the server gave up, such as when its services have gone
				why = ErrNoSASL
			}
			return true, fmt.Errorf("%w: %s (%s)", why, m.Last(), m.Command)
		}
	}
	if c.st.phase != Registering {
		return false, nil
	}
	switch m.Command {
	case "001":
		if r.cfg.SASL != nil && !r.loggedIn {
			c.urgent(Msg("QUIT", "no login"))
			return true, fmt.Errorf("%w: it has no SASL", ErrNoSASL)
		}
		r.ended = true
		c.st.since = time.Now()
		c.st.nick = m.Param(0)
		if words := strings.Fields(m.Last()); len(words) > 0 {
			c.st.learn(words[len(words)-1])
		}
	case "376", "422":
		c.becomeReady()
	case "433", "436", "437":
		return true, r.nextNick(c, m)
	case "432":
		if !c.st.since.IsZero() {
			break
		}
		if r.tries == 0 && len(r.cfg.Nick) > 9 {
			r.tries++ // RFC 1459 allows for 9 bytes, and some servers for no more
			c.st.nick = r.cfg.Nick[:9]
			c.urgent(Msg("NICK", c.st.nick))
			return true, nil
		}
		return true, fmt.Errorf("%w: %w", ErrConfig, &Refused{Code: m.Command, Text: m.Last()})
	case "463", "464", "465", "466":
		return true, &Refused{Code: m.Command, Text: m.Last()}
	}
	return false, nil
}

// nextNick tries nick_, nick__, nick___, then some by chance. ircd-hybrid cuts
// a long nick in silence, so those are short.
func (r *registration) nextNick(c *Conn, m Message) error {
	if !c.st.since.IsZero() {
		return nil
	}
	r.tries++
	switch {
	case r.tries <= 3:
		c.st.nick = r.cfg.Nick + strings.Repeat("_", r.tries)
	case r.tries <= 8:
		c.st.nick = fmt.Sprintf("%.6s%03d", r.cfg.Nick, rand.IntN(1000))
	default:
		return &Refused{Code: m.Command, Text: m.Last()}
	}
	c.urgent(Msg("NICK", c.st.nick))
	return nil
}

func (r *registration) caps(c *Conn, m Message) error {
	list := strings.Fields(m.Last())
	switch m.Param(1) {
	case "LS":
		addCaps(c.st.offered, list)
		if len(m.Params) > 3 && m.Param(2) == "*" {
			return nil // more lines come
		}
		r.listed = true
		r.request(c, r.want)
	case "NEW":
		addCaps(c.st.offered, list)
		var fresh []string
		for _, token := range list {
			if name, _, _ := strings.Cut(token, "="); name != "sasl" && slices.Contains(r.want, name) {
				fresh = append(fresh, name)
			}
		}
		r.request(c, fresh)
	case "DEL":
		for _, name := range list {
			delete(c.st.offered, name)
			delete(c.st.caps, name)
		}
	case "ACK":
		for _, name := range list {
			if off, ok := strings.CutPrefix(name, "-"); ok {
				delete(c.st.caps, off)
				continue
			}
			name = strings.TrimLeft(name, "~=")
			c.st.caps[name] = c.st.offered[name]
			r.answered(name)
		}
	case "NAK":
		// The list may be cut off, but answers come in order.
		if len(r.asked) > 0 {
			refused := r.asked[0]
			r.asked = r.asked[1:]
			if len(refused) > 1 { // one of them: find out which
				for _, name := range refused {
					r.ask(c, []string{name})
				}
			}
		}
	}
	return r.proceed(c)
}

func addCaps(caps map[string]string, list []string) {
	for _, token := range list {
		name, value, _ := strings.Cut(token, "=")
		caps[name] = value
	}
}

// request asks for what is offered and not on yet, in lines below 510 bytes.
func (r *registration) request(c *Conn, names []string) {
	var line []string
	size := 0
	for _, name := range names {
		if _, ok := c.st.offered[name]; !ok || c.st.has(name) {
			continue
		}
		if size+len(name) > 400 {
			r.ask(c, line)
			line, size = nil, 0
		}
		line = append(line, name)
		size += len(name) + 1
	}
	if len(line) > 0 {
		r.ask(c, line)
	}
}

func (r *registration) ask(c *Conn, names []string) {
	r.asked = append(r.asked, names)
	c.urgent(Msg("CAP", "REQ", strings.Join(names, " ")))
}

func (r *registration) answered(name string) {
	for i, names := range r.asked {
		if at := slices.Index(names, name); at >= 0 {
			r.asked[i] = slices.Delete(names, at, at+1)
			if len(r.asked[i]) == 0 {
				r.asked = slices.Delete(r.asked, i, i+1)
			}
			return
		}
	}
}

// proceed takes the next step when nothing is left to wait for.
func (r *registration) proceed(c *Conn) error {
	if c.st.phase != Registering || r.ended || !r.listed || len(r.asked) > 0 {
		return nil
	}
	if r.cfg.SASL != nil && !r.loggedIn {
		if r.login {
			return nil
		}
		mechanisms, ok := c.st.caps["sasl"]
		if !ok {
			c.urgent(Msg("QUIT", "no login"))
			return fmt.Errorf("%w: it has no SASL now", ErrNoSASL)
		}
		if mechanisms != "" && !slices.Contains(strings.Split(mechanisms, ","), r.cfg.SASL.Mechanism) {
			c.urgent(Msg("QUIT", "no login"))
			return fmt.Errorf("%w: it has SASL %s, and not %s", ErrSASL, mechanisms, r.cfg.SASL.Mechanism)
		}
		r.login = true
		c.urgent(Msg("AUTHENTICATE", r.cfg.SASL.Mechanism))
		return nil
	}
	r.ended = true
	c.urgent(Msg("CAP", "END"))
	return nil
}

// authenticate answers the server's + with the credentials in pieces of 400
// bytes of base64; a last piece of exactly 400, or none, is followed by +.
func (r *registration) authenticate(c *Conn, m Message) {
	if r.cfg.SASL == nil || !r.login || r.loggedIn || m.Param(0) != "+" {
		return
	}
	// With EXTERNAL the certificate says who we are. To name the account as well is
	// refused by some services (atheme 7.2), even where it is the same.
	secret := ""
	if r.cfg.SASL.Mechanism == "PLAIN" {
		secret = r.cfg.SASL.User + "\x00" + r.cfg.SASL.User + "\x00" + r.cfg.SASL.Password
	}
	for _, piece := range saslPieces(secret) {
		c.urgent(Msg("AUTHENTICATE", piece))
	}
}

func saslPieces(secret string) []string {
	const size = 400
	rest := base64.StdEncoding.EncodeToString([]byte(secret))
	var pieces []string
	for len(rest) >= size {
		pieces = append(pieces, rest[:size])
		rest = rest[size:]
	}
	if rest == "" {
		rest = "+"
	}
	return append(pieces, rest)
}

// becomeReady ends the registration; with mu held.
func (c *Conn) becomeReady() {
	if c.st.phase != Registering {
		return
	}
	c.st.phase = Registered
	c.timers.nickAt, c.timers.nickWait = time.Now().Add(c.cfg.NickAfter), c.cfg.NickAfter
	if mode := c.st.isup["BOT"]; c.cfg.Bot && mode != "" {
		c.bare(Msg("MODE", c.st.nick, "+"+mode))
	}
	close(c.ready)
	c.ring()
}
