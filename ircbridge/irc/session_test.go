package irc_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/testkit/irctest"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

const greet = `
> CAP LS 302
> NICK ann
> USER ann 0 * ann
< :s CAP * LS :batch
> CAP REQ batch
< :s CAP * ACK :batch
> CAP END`

func TestCapabilitiesComeAndGo(t *testing.T) {
	c := dial(t, irc.Config{Nick: "ann", Bot: true, Flood: fast, Addr: irctest.Script(t, greet+hello+`
> MODE ann +B
> PING :proof-1
< :s PONG s :proof-1
< :s CAP ann NEW :echo-message unknown sasl
> CAP REQ echo-message
< :s CAP ann ACK :echo-message
< :s CAP ann DEL :batch
< :s NOTE :done
`)})
	until(t, c, "the end", is("NOTE"))
	st := c.State()
	if st.Cap("batch") || !st.Cap("echo-message") || len(st.Caps) != 1 {
		t.Errorf("capabilities %v", st.Caps)
	}
}

func TestOwnSourceIsLearned(t *testing.T) {
	script := greet + strings.Replace(hello, "ann!~a@here", "nobody", 1)
	unknown := 30 + len("!") + 10 + len("@") + 63
	for _, step := range []struct{ line, want string }{
		{"< :s NOTE :nothing", ""},
		{"< :ann!~ann@host.example JOIN #room", "ann!~ann@host.example"},
		{"< :s 396 ann cloak.example :is now your displayed host", "ann!~ann@cloak.example"},
		{"< :ann!~ann@cloak.example CHGHOST bot hidden", "ann!bot@hidden"},
		{"< :ann!bot@hidden NICK annabel", "annabel!bot@hidden"},
	} {
		script += step.line + "\n"
		c := dial(t, irc.Config{Nick: "ann", Flood: fast, Addr: irctest.Script(t, script+"< :s NOTE :end")})
		until(t, c, "the end", is("NOTE", "end"))
		size := len(step.want)
		if size == 0 {
			size = unknown
		}
		if got := c.State().Source; got != step.want {
			t.Errorf("after %q: source %q, want %q", step.line, got, step.want)
		}
		if got, want := c.Limit(irc.Outgoing{Target: "#room"}), 512-len(": PRIVMSG #room :\r\n")-size; got != want {
			t.Errorf("after %q: Limit = %d, want %d", step.line, got, want)
		}
	}
}

// A line that is too long or cannot be parsed does not affect other lines.
func TestBadLinesAreDropped(t *testing.T) {
	c := dial(t, irc.Config{Nick: "ann", Flood: fast, Addr: irctest.Script(t, greet+hello+
		"\n< :s NOTE "+strings.Repeat("x", 20_000)+
		"\n< :s 1234 x\n< @only-tags\n< :s BATCH\n< :s BATCH -none\n< :s JOIN\n< :s 353\n< :s KICK #x\n< :s MODE\n< :s FAIL\n< :s 404\n< :s 005 x\n< :s CAP\n< @batch=none :s NOTE :alone\n< :s NOTE :end")})
	until(t, c, "the one after", is("NOTE", "alone"))
	until(t, c, "the one after", is("NOTE", "end"))
	if n := c.State().Dropped; n != 3 {
		t.Errorf("%d lines dropped, want 3", n)
	}
}

// A caller never sees an incomplete batch.
func TestHalfBatchesAreDropped(t *testing.T) {
	c := dial(t, irc.Config{Nick: "ann", Flood: fast, Addr: irctest.Script(t, greet+hello+`
< @msgid=1;account=bob :bob!b@c BATCH +a draft/multiline #room
< @batch=a :bob!b@c PRIVMSG #room :one
< :s BATCH +b netsplit x y
< @batch=a;draft/multiline-concat :bob!b@c PRIVMSG #room : and more
< @batch=b :eve!e@f QUIT :x y
< @batch=a :bob!b@c PRIVMSG #room :two
< :s BATCH -a
< @msgid=2 :bob!b@c BATCH +c draft/multiline #room
< @batch=c :bob!b@c PRIVMSG #room :half
! cut`)})
	var got []string
	for m := range c.Messages() {
		if m.Command != "376" {
			got = append(got, fmt.Sprint(m.Command, m.Tags, m.Params))
		}
	}
	if len(got) != 1 || got[0] != "PRIVMSGmap[account:bob msgid:1] [#room one and more\ntwo]" {
		t.Errorf("seen: %q", got)
	}
}

func TestServersLastWords(t *testing.T) {
	for last, want := range map[string]string{
		"< ERROR :Closing Link: too fast":                   "ERROR: Closing Link: too fast",
		"< :op!o@p KILL ann :behave\n< ERROR :Killed by op": "KILL: behave",
	} {
		c := dial(t, irc.Config{Nick: "ann", Flood: fast, Addr: irctest.Script(t, greet+hello+last)})
		<-c.Done()
		if r, ok := errors.AsType[*irc.Refused](c.Err()); !ok || r.Code+": "+r.Text != want {
			t.Errorf("Err = %v, want %s", c.Err(), want)
		}
		if err := c.Send("#room", "x").Err(); !errors.Is(err, irc.ErrNotSent) {
			t.Errorf("Send afterwards: %v", err)
		}
		if _, err := c.Do(t.Context(), irc.Msg("VERSION")); err == nil {
			t.Error("Do afterwards: no error")
		}
	}
}

// Hostile text does not become a second command, and does not end the connection.
func TestHostileTextIsTextOnly(t *testing.T) {
	onEveryServer(t, func(t *testing.T, addr string) {
		ann := dial(t, irc.Config{Addr: addr, Nick: "ann", Flood: fast})
		bob := dial(t, irc.Config{Addr: addr, Nick: "bob", Flood: fast})
		join(t, ann, "#room")
		join(t, bob, "#room")
		hostile := []string{"x\rQUIT :a", "x\nQUIT :b", "x\r\nQUIT :c", "\x00x", "a\x00QUIT", "\x01VERSION\x01", "\x01DCC SEND\x01", ":x", " :x",
			"\xff\xfe\xfd", "\xed\xa0\x80", "👩‍👩‍👧" + strings.Repeat("👩‍👩‍👧", 100), strings.Repeat("ü", 10_000), strings.Repeat("e\u0301\u0302", 500), "\x1b[2J\u009b", "x\u0085y", "/quit", "QUIT", "PRIVMSG #room :x"}
		for _, text := range hostile {
			if err := delivered(t, ann.Send("#room", text)); err != nil {
				t.Errorf("Send(%.40q) = %v", text, err)
			}
			for _, o := range []irc.Outgoing{{Target: text, Text: "x"}, {Target: "#room", Text: "x", As: text}} {
				_ = delivered(t, ann.Post(o)) // the message's fate does not matter here
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			_, _ = ann.Do(ctx, irc.Msg("TOPIC", "#room", text))
			cancel()
			_, _ = ann.Do(t.Context(), irc.Msg("NICK", text, ""))
		}
		if err := delivered(t, ann.Send("#room", "the end")); err != nil {
			t.Fatalf("after the hostile texts: %v", err)
		}
		until(t, bob, "the end", func(m irc.Message) bool {
			if m.Command == "QUIT" || m.Command == "PART" {
				t.Errorf("bob sees %v", m)
			}
			return is("PRIVMSG", "#room", "the end")(m)
		})
	})
}

// The servers' default flood limits allow the default [irc.Flood].
func TestDefaultLimitsAreBorne(t *testing.T) {
	for name, start := range map[string]func(testing.TB, irctest.Limit) string{"ngircd": irctest.Ngircd, "inspircd": irctest.Inspircd} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ann := dial(t, irc.Config{Addr: start(t, irctest.DefaultLimit), Nick: "ann"})
			join(t, ann, "#room")
			if err := delivered(t, ann.Send("#room", strings.Repeat(strings.Repeat("x", 400)+"\n", 6))); err != nil {
				t.Error(err)
			}
		})
	}
}

// No planted secret reaches the channel or the log of raw lines.
func TestSecretsReachNeitherChannelNorLog(t *testing.T) {
	s := irctest.NewServer(t, irctest.Features{})
	var log strings.Builder
	c := dial(t, irc.Config{Addr: s.Addr, Nick: "ann", Flood: fast, Secrets: []string{"my own word"},
		Pass: "server-pass", SASL: &irc.SASL{Mechanism: "PLAIN", User: "ann", Password: "sasl-pass"},
		Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	join(t, c, "#room")
	secrets := planted()
	secrets["server-pass"], secrets["sasl-pass"] = "it is %", "%"
	for secret, text := range secrets {
		padded := strings.Repeat("word ", 85) + strings.Replace(text, "%", secret, 1) // long enough that a line could be cut within the secret
		if err := delivered(t, c.Send("#room", padded)); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := c.Close(ctx, ""); err != nil {
		t.Fatal(err)
	}
	whole := log.String()
	for _, said := range s.Said("#room") {
		whole += said.Text
	}
	for secret := range secrets {
		if strings.Contains(whole, secret) {
			t.Errorf("%q got out", secret)
		}
	}
	if !strings.Contains(whole, "PRIVMSG #room") || strings.Contains(whole, "YW5uAGFubgBzYXNs") {
		t.Error("the log has no lines, or contains the login")
	}
}
