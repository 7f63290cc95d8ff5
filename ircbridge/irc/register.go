package irc

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// usedCaps are the capabilities that this package uses. None of them is required.
var usedCaps = []string{
	"account-notify", "account-tag", "batch", "cap-notify", "chghost", "draft/chathistory", "draft/event-playback",
	"draft/multiline", "draft/relaymsg", "echo-message", "labeled-response", "message-tags", "server-time",
}

// registration handles the exchange from the first line to 001 and the end of the MOTD,
// and CAP NEW and DEL afterwards. The reader owns it and calls it with the connection's
// mutex held.
//
//	CAP LS 302 -> PASS, NICK, USER -> CAP REQ -> AUTHENTICATE -> CAP END -> 001 -> 376
//
// A server without CAP answers with 421 or not at all, and continues to 001.
type registration struct {
	cfg      Config
	want     []string
	asked    [][]string // CAP REQ lines that have not been answered yet
	listed   bool       // the answer to CAP LS is complete
	ended    bool       // CAP END was sent
	login    bool       // AUTHENTICATE was sent
	loggedIn bool
	tries    int // how many requests for a nick have failed
}

func newRegistration(cfg Config) *registration {
	r := &registration{cfg: cfg, want: slices.Concat(usedCaps, cfg.Caps)}
	if cfg.SASL != nil {
		r.want = append(r.want, "sasl")
	}
	return r
}

func (r *registration) begin(p *protocol) {
	p.st.phase = Registering
	p.urgent(Msg("CAP", "LS", "302"))
	if r.cfg.Pass != "" {
		p.urgent(Msg("PASS", r.cfg.Pass))
	}
	p.urgent(Msg("NICK", r.cfg.Nick))
	p.urgent(Msg("USER", r.cfg.User, "0", "*", r.cfg.RealName))
}

// handle handles one message. done reports whether the message is only part of the
// registration.
func (r *registration) handle(p *protocol, m Message) (done bool, err error) {
	switch m.Command {
	case "CAP":
		return true, r.caps(p, m)
	case "AUTHENTICATE":
		r.authenticate(p, m)
		return true, nil
	case "903":
		r.loggedIn = true
		if want := r.cfg.SASL; want != nil && want.User != "" && p.st.account != "" && !p.st.fold.Same(want.User, p.st.account) {
			p.urgent(Msg("QUIT", "another account"))
			return true, fmt.Errorf("%w: it logged us in as %s, not as %s", ErrSASL, p.st.account, want.User)
		}
		return true, r.proceed(p)
	case "902", "904", "905", "906", "907", "908":
		if p.st.phase == Registering && r.cfg.SASL != nil {
			p.urgent(Msg("QUIT", "login refused"))
			why := ErrSASL
			if m.Command == "906" { // the server aborted the login, for example because its services are down
				why = ErrNoSASL
			}
			return true, fmt.Errorf("%w: %s (%s)", why, m.Last(), m.Command)
		}
	}
	if p.st.phase != Registering {
		return false, nil
	}
	switch m.Command {
	case "001":
		if r.cfg.SASL != nil && !r.loggedIn {
			p.urgent(Msg("QUIT", "no login"))
			return true, fmt.Errorf("%w: it does not support SASL", ErrNoSASL)
		}
		r.ended = true
		p.st.since = time.Now()
		p.st.nick = m.Param(0)
		if words := strings.Fields(m.Last()); len(words) > 0 {
			p.st.learn(words[len(words)-1])
		}
	case "376", "422":
		p.becomeReady()
	case "433", "436", "437":
		return true, r.nextNick(p, m)
	case "432":
		if !p.st.since.IsZero() {
			break
		}
		if r.tries == 0 && len(r.cfg.Nick) > 9 {
			r.tries++ // RFC 1459 limits a nick to 9 bytes, and some servers do not allow more
			p.st.nick = r.cfg.Nick[:9]
			p.urgent(Msg("NICK", p.st.nick))
			return true, nil
		}
		return true, fmt.Errorf("%w: %w", ErrConfig, &Refused{Code: m.Command, Text: m.Last()})
	case "463", "464", "465", "466":
		return true, &Refused{Code: m.Command, Text: m.Last()}
	}
	return false, nil
}

// nextNick tries nick_, nick__ and nick___, and then random nicks. The random nicks are
// short, because ircd-hybrid silently cuts a long nick.
func (r *registration) nextNick(p *protocol, m Message) error {
	if !p.st.since.IsZero() {
		return nil
	}
	r.tries++
	switch {
	case r.tries <= 3:
		p.st.nick = r.cfg.Nick + strings.Repeat("_", r.tries)
	case r.tries <= 8:
		p.st.nick = fmt.Sprintf("%.6s%03d", r.cfg.Nick, rand.IntN(1000))
	default:
		return &Refused{Code: m.Command, Text: m.Last()}
	}
	p.urgent(Msg("NICK", p.st.nick))
	return nil
}

func (r *registration) caps(p *protocol, m Message) error {
	list := strings.Fields(m.Last())
	switch m.Param(1) {
	case "LS":
		addCaps(p.st.offered, list)
		if len(m.Params) > 3 && m.Param(2) == "*" {
			return nil // more lines will follow
		}
		r.listed = true
		r.request(p, r.want)
	case "NEW":
		addCaps(p.st.offered, list)
		var fresh []string
		for _, token := range list {
			if name, _, _ := strings.Cut(token, "="); name != "sasl" && slices.Contains(r.want, name) {
				fresh = append(fresh, name)
			}
		}
		r.request(p, fresh)
	case "DEL":
		for _, name := range list {
			delete(p.st.offered, name)
			delete(p.st.caps, name)
		}
	case "ACK":
		for _, name := range list {
			if off, ok := strings.CutPrefix(name, "-"); ok {
				delete(p.st.caps, off)
				continue
			}
			name = strings.TrimLeft(name, "~=")
			p.st.caps[name] = p.st.offered[name]
			r.answered(name)
		}
	case "NAK":
		// The list may be cut off, but the answers arrive in order.
		if len(r.asked) > 0 {
			refused := r.asked[0]
			r.asked = r.asked[1:]
			if len(refused) > 1 { // the server refused at least one capability, so find out which
				for _, name := range refused {
					r.ask(p, []string{name})
				}
			}
		}
	}
	return r.proceed(p)
}

func addCaps(caps map[string]string, list []string) {
	for _, token := range list {
		name, value, _ := strings.Cut(token, "=")
		caps[name] = value
	}
}

// request requests the offered capabilities that are not enabled yet, in lines shorter
// than 510 bytes.
func (r *registration) request(p *protocol, names []string) {
	var line []string
	size := 0
	for _, name := range names {
		if _, ok := p.st.offered[name]; !ok || p.st.has(name) {
			continue
		}
		if size+len(name) > 400 {
			r.ask(p, line)
			line, size = nil, 0
		}
		line = append(line, name)
		size += len(name) + 1
	}
	if len(line) > 0 {
		r.ask(p, line)
	}
}

func (r *registration) ask(p *protocol, names []string) {
	r.asked = append(r.asked, names)
	p.urgent(Msg("CAP", "REQ", strings.Join(names, " ")))
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

// proceed takes the next step if no answer is outstanding.
func (r *registration) proceed(p *protocol) error {
	if p.st.phase != Registering || r.ended || !r.listed || len(r.asked) > 0 {
		return nil
	}
	if r.cfg.SASL != nil && !r.loggedIn {
		if r.login {
			return nil
		}
		mechanisms, ok := p.st.caps["sasl"]
		if !ok {
			p.urgent(Msg("QUIT", "no login"))
			return fmt.Errorf("%w: it no longer supports SASL", ErrNoSASL)
		}
		if mechanisms != "" && !slices.Contains(strings.Split(mechanisms, ","), r.cfg.SASL.Mechanism) {
			p.urgent(Msg("QUIT", "no login"))
			return fmt.Errorf("%w: it supports SASL %s, not %s", ErrSASL, mechanisms, r.cfg.SASL.Mechanism)
		}
		r.login = true
		p.urgent(Msg("AUTHENTICATE", r.cfg.SASL.Mechanism))
		return nil
	}
	r.ended = true
	p.urgent(Msg("CAP", "END"))
	return nil
}

// authenticate answers the server's + with the credentials, in base64, in pieces of 400
// bytes. If the last piece has exactly 400 bytes, or if there is no piece, it adds a +.
func (r *registration) authenticate(p *protocol, m Message) {
	if r.cfg.SASL == nil || !r.login || r.loggedIn || m.Param(0) != "+" {
		return
	}
	// With EXTERNAL, the certificate identifies the account. Some services (atheme 7.2)
	// refuse an additional account name, even if it is the same.
	secret := ""
	if r.cfg.SASL.Mechanism == "PLAIN" {
		secret = r.cfg.SASL.User + "\x00" + r.cfg.SASL.User + "\x00" + r.cfg.SASL.Password
	}
	for _, piece := range saslPieces(secret) {
		p.urgent(Msg("AUTHENTICATE", piece))
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
