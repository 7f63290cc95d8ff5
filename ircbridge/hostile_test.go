package ircbridge_test

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/testkit/irctest"
	"github.com/claude-swarm/claude-swarm/ircbridge"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// hostile contains pieces of text that a program might misinterpret.
var hostile = []string{
	"\r", "\r\n", "\n", "\n\n", "\rQUIT :bye", "\r\nPRIVMSG ann :pwned", "\nPRIVMSG ann :pwned", "\rJOIN #evil", "\x01ACTION waves\x01", "\x01VERSION\x01", "\x01",
	":", ":ann!a@b PRIVMSG #project-x :forged", "@account=ann :x", " ", "  ", "\t", "\x02bold\x02", "\x0304,05red", "\x0f", "\x7f", "\u0085", "\u2028", "\u200d", "\ufeff",
	"e\u0301", "👩‍👩‍👧‍👦", "🏳️‍🌈", "é", "日本語", "\u202eright to left", "/quit", "/msg ann pwned", "BATCH +r draft/multiline #evil", "%s%n", strings.Repeat("x", 700), strings.Repeat("ü", 400), strings.Repeat("a b ", 200),
	"\ufffd", "\x1b[31m", "\x07", "word",
}

// TestHostileTexts sends 200 messages, names and topics that consist of hostile pieces
// through several servers. One of these servers executes the text after a CR as a
// command.
func TestHostileTexts(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	texts := make([]string, 200)
	for i := range texts {
		var b strings.Builder
		fmt.Fprintf(&b, "<%d>", i)
		for range 1 + rand.N(12) {
			b.WriteString(hostile[rand.N(len(hostile))])
		}
		texts[i] = strings.ReplaceAll(b.String(), "\x00", "") // no body contains a zero byte
		if len(texts[i]) > 8000 {
			texts[i] = strings.ToValidUTF8(texts[i][:8000], "")
		}
	}
	send := func(s *scene) {
		for i, text := range texts {
			s.say("coder", bridge.Origin{}, text)
			if i%10 == 0 {
				s.say("coder", bridge.Origin{Do: bridge.DoTopic, Channel: "#project-x"}, text)
				s.leave(&dropbox.Message{From: "coder", Type: dropbox.Note, Body: []byte("x"), Extra: bridge.Origin{Channel: "#n" + hostile[rand.N(len(hostile))]}.Extra(ircbridge.Name)})
			}
		}
		last := s.say("coder", bridge.Origin{}, "the end")
		s.where(last, dropbox.Done)
		st := s.state("all is said", func(st bridge.State) bool { return st.Waiting == 0 && st.Unproven == 0 })
		if st.Reconnects > 0 || st.Nick != "swarm" {
			s.Errorf("the connection was lost %d times, nick %s: %s", st.Reconnects, st.Nick, st.LastError)
		}
	}
	t.Run("whole", func(t *testing.T) {
		srv := irctest.NewServer(t, irctest.Features{})
		s := newScene(t, srv.Addr)
		s.start()
		s.ready()
		send(s)
		var all strings.Builder
		for _, m := range srv.Said("#project-x") {
			all.WriteString(m.Text)
		}
		got := strings.Split(all.String(), "[coder] ")[1:]
		blanks := regexp.MustCompile(`[ \t]+`) // the bridge replaces tabs
		next := 0
		for _, text := range texts {
			var want strings.Builder
			for line := range strings.SplitSeq(irc.PlainText(text), "\n") {
				if strings.TrimSpace(line) != "" { // the bridge removes blank lines
					want.WriteString(strings.TrimRight(line, " \t"))
				}
			}
			if len(irc.Split(irc.PlainText(text), 300)) > 7 {
				next++ // it may be cut, because other readers of the channel get it line by line
				continue
			}
			if next < len(got) && strings.ContainsRune(got[next], '\t') ||
				next < len(got) && blanks.ReplaceAllString(strings.ReplaceAll(got[next], "\n", ""), " ") != blanks.ReplaceAllString(want.String(), " ") {
				t.Errorf("said %q\nwant %q", got[next], want.String())
			}
			next++
		}
		if len(got) != len(texts)+1 {
			t.Errorf("%d texts were said, want %d", len(got), len(texts)+1)
		}
	})
	onEachServer(t, func(t *testing.T, addr string) {
		ann := newPerson(t, addr, "ann", "#project-x", "#evil")
		ann.raw("MODE", "#project-x", "-t")
		s := newScene(t, addr)
		s.start()
		s.ready()
		send(s)
		ann.sees("#project-x swarm: [coder] the end")
		for _, l := range ann.lines() {
			if !strings.HasPrefix(l, "#project-x swarm: [coder] ") {
				t.Errorf("seen: %q", l)
			}
		}
	})
}

// secrets returns strings that each contain a secret, for example in a sentence or in a
// file. The secret must never be shown.
func secrets() []string {
	letters := func(n int) string {
		const from = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
		b := make([]byte, n)
		for i := range b {
			b[i] = from[rand.N(len(from))]
		}
		return string(b)
	}
	var all []string
	for _, form := range []string{
		"the key is sk-ant-api03-%s ok", "sk-proj-%s", "ghp_%s", "github_pat_%s", "glpat-%s", "xoxb-1234567890-%s", "export AWS_SECRET_ACCESS_KEY=%s", "aws_secret_access_key = %s",
		"Authorization: Bearer %s", "authorization: Basic %s", `{"Authorization": "Bearer %s"}`, "curl -H 'X-Api-Key: %s'", "password=%s", `password: "%s"`, "DB_PASSWORD='%s'", "postgres://app:%s@db.example/x",
		"https://user:%s@example.com/", "API_KEY=%s", "client_secret: '%s'", "mysql --password=%s", "npm_%s", "hf_%s", "sk_live_%s", "SG.%s." + letters(20), "token := \"%s\"", "Set-Cookie: session=%s", "eyJhbGciOiJIUzI1NiJ9.%s.abc",
		"-----BEGIN RSA PRIVATE KEY-----\n%s\n-----END RSA PRIVATE KEY-----", "the agent's own: AGENT-%s", "our server's word: %s",
	} {
		all = append(all, strings.Replace(form, "%s", letters(36), 1))
	}
	return all
}

func TestSecretsReachNobody(t *testing.T) {
	planted := secrets()
	if len(planted) != 30 {
		t.Fatalf("%d secrets, want 30", len(planted))
	}
	onEachServer(t, func(t *testing.T, addr string) {
		s := newScene(t, addr)
		s.o.Keys = map[string]string{"#later": secretIn(planted[29])}
		s.secretsReachNobody(planted)
	})
	t.Run("with history", func(t *testing.T) {
		t.Parallel()
		s := newScene(t, irctest.NewServer(t, irctest.Features{Without: []string{"draft/multiline"}}).Addr)
		s.o.Server.Password = secretIn(planted[29])
		s.secretsReachNobody(planted)
	})
}

// secretIn returns the secret in text, which is the longest run of letters and digits.
func secretIn(text string) string {
	longest := ""
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9')
	}) {
		if len(w) > len(longest) {
			longest = w
		}
	}
	return longest
}

func (s *scene) secretsReachNobody(planted []string) {
	s.Helper()
	s.level.Set(slog.LevelDebug)
	s.o.Secrets = []string{"AGENT-" + secretIn(planted[28])}
	s.start()
	s.ready()
	ann := newPerson(s, s.o.Server.Addr, "ann", "#project-x")
	for i, text := range planted {
		s.say("coder", bridge.Origin{}, fmt.Sprintf("no %d: %s", i, text))
		// A long line must not be split within a secret, because no masker would recognize
		// the two parts.
		s.say("coder", bridge.Origin{}, strings.Repeat("wordy ", 60)+text)
	}
	s.say("coder", bridge.Origin{Do: bridge.DoTopic, Channel: "#project-x"}, planted[0])
	last := s.say("coder", bridge.Origin{}, "the end")
	s.where(last, dropbox.Done)
	s.state("all is said", func(st bridge.State) bool { return st.Waiting == 0 && st.Unproven == 0 && st.Masked >= 60 })
	ann.sees("#project-x swarm: [coder] the end")
	s.stop()
	said := strings.Join(ann.heard(), "\n")
	var files strings.Builder
	err := filepath.WalkDir(s.home, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			var data []byte
			data, err = os.ReadFile(path)
			files.Write(data)
		}
		return err
	})
	if err != nil {
		s.Fatal(err)
	}
	for i, text := range planted {
		for where, in := range map[string]string{"channel": said, "log": s.log.String(), "bridge's files": files.String()} {
			if strings.Contains(in, secretIn(text)[:12]) {
				s.Errorf("secret %d (%s) is in the %s", i, text, where)
			}
		}
	}
	if !strings.Contains(said, "no 0: the key is "+irc.Masked+" ok") {
		s.Errorf("the text around a secret is missing, too:\n%s", said)
	}
}

// TestAMessageThatTheServerDoesNotBear makes a server hang up because of one message,
// with and without a reason. It checks that the other messages are posted.
func TestAMessageThatTheServerDoesNotBear(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for name, last := range map[string]string{"with a word": "ERROR :Closing link: Request too long\r\n", "without a word": ""} {
		test := func(t *testing.T, addr string) {
			s := newScene(t, touchy(t, addr, "poison", last))
			s.start()
			s.ready()
			var good []string
			var bad string
			for i := range 12 {
				good = append(good, s.say("coder", bridge.Origin{}, fmt.Sprintf("good %d", i)))
				if i == 5 {
					bad = s.say("coder", bridge.Origin{}, "some poison here")
				}
			}
			s.where(bad, dropbox.Dead)
			for _, id := range good {
				s.where(id, dropbox.Done)
			}
			m := s.mail("coder", 1)[0]
			if !strings.Contains(string(m.Body), "the server hung up") || m.ReplyTo != bad {
				t.Errorf("coder is told: %s", m.Body)
			}
		}
		t.Run(name, func(t *testing.T) {
			onEachServer(t, test)
			t.Run("with history", func(t *testing.T) { t.Parallel(); test(t, irctest.NewServer(t, irctest.Features{}).Addr) })
		})
	}
}

// touchy returns the address of a proxy. When a line contains word, the proxy sends last
// to the client and hangs up.
func touchy(t *testing.T, server, word, last string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	t.Cleanup(func() {
		l.Close()
		all.Wait()
	})
	all.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			back, err := net.Dial("tcp", server)
			if err != nil {
				client.Close()
				continue
			}
			all.Go(func() {
				defer client.Close()
				io.Copy(client, back)
			})
			all.Go(func() {
				defer back.Close()
				for r := bufio.NewReader(client); ; {
					line, err := r.ReadString('\n')
					if err != nil {
						return
					}
					if strings.Contains(line, word) {
						io.WriteString(client, last)
						client.Close()
						return
					}
					io.WriteString(back, line)
				}
			})
		}
	})
	return l.Addr().String()
}
