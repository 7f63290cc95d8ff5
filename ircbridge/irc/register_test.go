package irc_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/testkit/irctest"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

const hello = `
< :s 001 ann :Welcome ann!~a@here
< :s 005 ann CASEMAPPING=ascii NICKLEN=32 BOT=B CHATHISTORY=2 :are supported
< :s 005 ann LINELEN=512 NETWORK=a\x20\x3Db -NICKLEN :are supported
< :s 376 ann :End of MOTD
`

func TestRegistering(t *testing.T) {
	plain := strings.Repeat("p", 289) // 297 bytes including ann\0ann\0, or 396 bytes of base64
	for name, c := range map[string]struct {
		cfg    irc.Config
		script string
		nick   string
		caps   string
		err    error
		code   string
	}{
		"capabilities over two lines": {
			script: `
				> CAP LS 302
				> NICK ann
				> USER ann 0 * ann
				< :s CAP * LS * :multi-prefix draft/multiline=max-bytes=4096,max-lines=100
				< :s CAP * LS :batch echo-message unknown/thing=1
				> CAP REQ :batch draft/multiline echo-message
				< :s CAP * ACK :batch draft/multiline echo-message
				> CAP END` + hello,
			caps: "batch draft/multiline=max-bytes=4096,max-lines=100 echo-message",
		},
		"refused together, taken alone": {
			script: `
				> CAP LS 302
				> NICK ann
				> USER ann 0 * ann
				< :s CAP * LS :batch echo-message
				> CAP REQ :batch echo-message
				< :s CAP * NAK :batch echo-message
				> CAP REQ batch
				> CAP REQ echo-message
				< :s CAP * ACK :batch
				< :s CAP * NAK :echo-message
				> CAP END` + hello,
			caps: "batch",
		},
		"a server that does not know CAP": {
			script: `
				> CAP LS 302
				> PASS open-sesame
				> NICK ann
				> USER ann 0 * ann
				< :s 421 * CAP :Unknown command` + hello,
			cfg: irc.Config{Pass: "open-sesame"},
		},
		"a server that is silent about CAP": {
			script: `
				> CAP LS 302
				> NICK ann
				> USER ann 0 * ann` + hello,
		},
		"a nick that is taken": {
			script: `
				> CAP LS 302
				> NICK ann
				> USER ann 0 * ann
				< :s 433 * ann :Nickname is already in use
				> NICK ann_
				< :s 433 * ann_ :Nickname is already in use
				> NICK ann__` + strings.ReplaceAll(hello, " ann ", " ann__ "),
			nick: "ann__",
		},
		"a nick that is too long": {
			cfg: irc.Config{Nick: "ann-the-long", User: "ann", RealName: "ann"},
			script: `
				> CAP LS 302
				> NICK ann-the-long
				> USER ann 0 * ann
				< :s 432 * ann-the-long :Erroneous
				> NICK ann-the-l` + strings.ReplaceAll(hello, " ann ", " ann-the-l "),
			nick: "ann-the-l",
		},
		"SASL PLAIN": {
			cfg: irc.Config{SASL: &irc.SASL{Mechanism: "PLAIN", User: "ann", Password: "pw"}},
			script: `
				> CAP LS 302
				> NICK ann
				> USER ann 0 * ann
				< :s CAP * LS :sasl=EXTERNAL,PLAIN
				> CAP REQ sasl
				< :s CAP * ACK :sasl
				> AUTHENTICATE PLAIN
				< AUTHENTICATE +
				> AUTHENTICATE YW5uAGFubgBwdw==
				< :s 900 ann ann!~a@here ann :You are now logged in
				< :s 903 ann :SASL authentication successful
				> CAP END` + hello,
			caps: "sasl=EXTERNAL,PLAIN",
		},
		"SASL in a piece of 396 bytes and one of 400": {
			cfg: irc.Config{SASL: &irc.SASL{Mechanism: "PLAIN", User: "ann", Password: plain + "123"}},
			script: `
				> CAP LS 302
				> NICK ann
				> USER ann 0 * ann
				< :s CAP * LS :sasl
				> CAP REQ sasl
				< :s CAP * ACK :sasl
				> AUTHENTICATE PLAIN
				< AUTHENTICATE +
				> AUTHENTICATE (long)
				> AUTHENTICATE +
				< :s 903 ann :SASL authentication successful
				> CAP END` + hello,
			caps: "sasl",
		},
		"SASL refused": {
			cfg: irc.Config{SASL: &irc.SASL{Mechanism: "PLAIN", User: "ann", Password: "pw"}},
			script: `
				> CAP LS 302
				> NICK ann
				> USER ann 0 * ann
				< :s CAP * LS :sasl=PLAIN
				> CAP REQ sasl
				< :s CAP * ACK :sasl
				> AUTHENTICATE PLAIN
				< AUTHENTICATE +
				> AUTHENTICATE YW5uAGFubgBwdw==
				< :s 904 ann :Invalid credentials`,
			err: irc.ErrSASL,
		},
		"no such mechanism": {
			cfg: irc.Config{SASL: &irc.SASL{Mechanism: "PLAIN", User: "ann", Password: "pw"}},
			script: `
				> CAP LS 302
				> NICK ann
				> USER ann 0 * ann
				< :s CAP * LS :sasl=SCRAM-SHA-256
				> CAP REQ sasl
				< :s CAP * ACK :sasl`,
			err: irc.ErrSASL,
		},
		"services that go away during the login": {
			cfg: irc.Config{SASL: &irc.SASL{Mechanism: "PLAIN", User: "ann", Password: "pw"}},
			script: `
				> CAP LS 302
				> NICK ann
				> USER ann 0 * ann
				< :s CAP * LS :sasl=PLAIN
				> CAP REQ sasl
				< :s CAP * ACK :sasl
				> AUTHENTICATE PLAIN
				< :s 906 ann :SASL authentication aborted`,
			err: irc.ErrNoSASL,
		},
		"services that are not there yet": {
			cfg: irc.Config{SASL: &irc.SASL{Mechanism: "PLAIN", User: "ann", Password: "pw"}},
			script: `
				> CAP LS 302
				> NICK ann
				> USER ann 0 * ann
				< :s CAP * LS :batch
				> CAP REQ batch
				< :s CAP * ACK :batch`,
			err: irc.ErrNoSASL,
		},
		"another account": {
			cfg: irc.Config{SASL: &irc.SASL{Mechanism: "PLAIN", User: "ann", Password: "pw"}},
			script: `
				> CAP LS 302
				> NICK ann
				> USER ann 0 * ann
				< :s CAP * LS :sasl=PLAIN
				> CAP REQ sasl
				< :s CAP * ACK :sasl
				> AUTHENTICATE PLAIN
				< AUTHENTICATE +
				> AUTHENTICATE YW5uAGFubgBwdw==
				< :s 900 ann ann!~a@here eve :You are now logged in
				< :s 903 ann :SASL authentication successful`,
			err: irc.ErrSASL,
		},
		"no SASL at all": {
			cfg: irc.Config{SASL: &irc.SASL{Mechanism: "PLAIN", User: "ann", Password: "pw"}},
			script: `
				> CAP LS 302
				> NICK ann
				> USER ann 0 * ann
				< :s 001 ann :Welcome`,
			err: irc.ErrNoSASL,
		},
		"banned": {
			script: `
				> CAP LS 302
				< :s 465 ann :You are banned from this server
				< ERROR :Closing link`,
			code: "465",
		},
		"throttled": {
			script: `
				> CAP LS 302
				< ERROR :Trying to reconnect too fast
				! cut`,
			code: "ERROR",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.cfg.Addr = irctest.Script(t, c.script)
			if c.cfg.Nick == "" {
				c.cfg.Nick = "ann"
			}
			c.cfg.Clear = true
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			conn, err := irc.Dial(ctx, c.cfg)
			if err == nil {
				defer conn.Close(ctx, "")
			}
			r, _ := errors.AsType[*irc.Refused](err)
			switch {
			case c.err != nil:
				if again := errors.Is(c.err, irc.ErrNoSASL); !errors.Is(err, c.err) || irc.Final(err) == again || irc.Unwelcome(err) != again {
					t.Fatalf("Dial = %v, want %v", err, c.err)
				}
				return
			case c.code != "":
				if r == nil || r.Code != c.code || !irc.Unwelcome(err) || irc.Final(err) {
					t.Fatalf("Dial = %v, want %s", err, c.code)
				}
				return
			case err != nil:
				t.Fatal(err)
			}
			st := conn.State()
			if c.nick == "" {
				c.nick = "ann"
			}
			if st.Nick != c.nick || st.Phase != irc.Registered || st.ISupport["NETWORK"] != "a =b" || st.ISupport.Number("NICKLEN", 9) != 9 {
				t.Errorf("state %+v, want nick %s", st, c.nick)
			}
			var caps []string
			for _, name := range []string{"batch", "draft/multiline", "echo-message", "sasl"} {
				if value, ok := st.Caps[name]; ok {
					caps = append(caps, strings.TrimSuffix(name+"="+value, "="))
				}
			}
			if strings.Join(caps, " ") != c.caps || len(caps) != len(st.Caps) {
				t.Errorf("capabilities %v, want %s", st.Caps, c.caps)
			}
		})
	}
}

// Dial refuses a configuration that cannot work, or that would send a SASL password in the
// clear to another machine. If TLS is configured, it does not register without TLS.
func TestNothingInTheClear(t *testing.T) {
	login := &irc.SASL{Mechanism: "PLAIN", User: "ann", Password: "pw"}
	for name, cfg := range map[string]irc.Config{
		"no nick":             {Addr: "127.0.0.1:1", Clear: true},
		"no port":             {Addr: "127.0.0.1", Nick: "ann", Clear: true},
		"a nick of two words": {Addr: "127.0.0.1:1", Nick: "ann x", Clear: true},
		"no certificate":      {Addr: "127.0.0.1:1", Nick: "ann", SASL: &irc.SASL{Mechanism: "EXTERNAL"}},
		"no password":         {Addr: "127.0.0.1:1", Nick: "ann", SASL: &irc.SASL{Mechanism: "PLAIN", User: "ann"}},
		"SCRAM":               {Addr: "127.0.0.1:1", Nick: "ann", SASL: &irc.SASL{Mechanism: "SCRAM-SHA-256", User: "ann", Password: "pw"}},
		"PLAIN in the clear":  {Addr: "192.0.2.1:6667", Nick: "ann", SASL: login, Clear: true, Dial: dialElsewhere},
	} {
		if _, err := irc.Dial(t.Context(), cfg); !errors.Is(err, irc.ErrConfig) || !irc.Final(err) {
			t.Errorf("%s: Dial = %v, want ErrConfig", name, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := irc.Dial(ctx, irc.Config{Addr: irctest.Script(t, "< NOTICE * :hello"), Nick: "ann"}); err == nil {
		t.Error("a server without TLS was accepted")
	}
}
