package webhook_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/claude-swarm/claude-swarm/internal/webhook"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

func direct(*http.Request) (*url.URL, error) { return nil, nil }

// post tries once to post a test payload. Unless the test is about the timeout, the attempt
// has an hour, so that the test does not depend on the speed of the machine.
func post(t *testing.T, h webhook.Hook, o webhook.PosterOptions) webhook.Answer {
	t.Helper()
	if o.Proxy == nil {
		o.Proxy = direct
	}
	if o.Timeout == 0 {
		o.Timeout = time.Hour
	}
	return webhook.NewPoster(h, o).Post(t.Context(), "msg_1", webhook.TestPayload("ops", "demo", time.Now()).JSON())
}

func TestFailures(t *testing.T) {
	for name, f := range failures {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rc := newReceiver(t, f.how)
			h := webhook.Hook{Name: "ops", URL: rc.URL + "/hooks/T0PSECRET", Private: true}
			if f.url != "" {
				h.URL = f.url
			}
			if f.tls {
				secure := httptest.NewTLSServer(rc)
				secure.Config.ErrorLog = nil
				defer secure.Close()
				h.URL = secure.URL
			}
			var o webhook.PosterOptions
			if !f.quick {
				o.Timeout = slow
			}
			a := post(t, h, o)
			if !strings.HasPrefix(a.Why, f.why) || f.why == "" && !a.Taken() {
				t.Errorf("Why = %q, want %q", a.Why, f.why)
			}
			if a.Rest != f.rest {
				t.Errorf("Rest = %v, want %v", a.Rest, f.rest)
			}
			if strings.ContainsAny(a.Why, "\x1b\n") || strings.Contains(a.Why, "T0PSECRET") || strings.Contains(a.Why, "token") || len(a.Why) > 400 {
				t.Errorf("Why is not fit for a line, or contains a secret: %q", a.Why)
			}
			if n := len(rc.got()); n > 1 {
				t.Errorf("one try made %d requests", n)
			}
		})
	}
}

// The reason for a failure does not contain the URL or the secret, even if the answer
// repeats them.
func TestAnswerRepeatsTheSecret(t *testing.T) {
	rc := newReceiver(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		w.Write([]byte("no access to " + r.URL.Path + " with " + r.Header.Get("Authorization")))
	})
	a := post(t, webhook.Hook{Name: "ops", Kind: webhook.Ntfy, URL: rc.URL + "/T0PSECRET", Secret: "tk_verysecret", Private: true}, webhook.PosterOptions{})
	if want := "it answered 403 Forbidden: no access to [path] with Bearer [secret]"; a.Why != want {
		t.Errorf("Why = %q, want %q", a.Why, want)
	}
}

// Nothing is sent to the host to which an answer redirects.
func TestRedirectGetsNothing(t *testing.T) {
	other := newReceiver(t, nil)
	for _, code := range []int{301, 302, 303, 307, 308} {
		rc := newReceiver(t, func(_ int, w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, code) })
		if a := post(t, webhook.Hook{URL: rc.URL, Private: true}, webhook.PosterOptions{}); a.Taken() || a.Status != code {
			t.Errorf("%d: %+v", code, a)
		}
	}
	if n := len(other.got()); n != 0 {
		t.Errorf("the other host got %d requests", n)
	}
}

func TestTrustedTLS(t *testing.T) {
	rc := newReceiver(t, nil)
	secure := httptest.NewTLSServer(rc)
	defer secure.Close()
	pool := x509.NewCertPool()
	pool.AddCert(secure.Certificate())
	if a := post(t, webhook.Hook{URL: secure.URL, Private: true}, webhook.PosterOptions{TLS: &tls.Config{RootCAs: pool}}); !a.Taken() || a.Status != 204 {
		t.Errorf("%+v", a)
	}
}

// The check applies to the address at the time of the connection, regardless of what the
// name resolved to earlier.
func TestOnlyPublicAddresses(t *testing.T) {
	rc := newReceiver(t, nil)
	port := rc.URL[strings.LastIndexByte(rc.URL, ':'):]
	for _, host := range []string{"127.0.0.1", "localhost", "0.0.0.0", "[::ffff:127.0.0.1]", "[::1]", "127.1", "2130706433"} {
		a := post(t, webhook.Hook{URL: "https://" + host + port}, webhook.PosterOptions{})
		if a.Taken() {
			t.Errorf("%s was connected to", host)
		}
		if ok := strings.Contains(a.Why, "is not a public address: private: true allows it"); !ok && host != "127.1" && host != "2130706433" && host != "[::1]" {
			t.Errorf("%s: Why = %q", host, a.Why)
		}
	}
	if n := len(rc.got()); n != 0 {
		t.Errorf("%d requests arrived", n)
	}
	// Without TLS, a webhook does not try to connect to a public address, so no request
	// leaves the machine.
	if a := post(t, webhook.Hook{URL: "http://8.8.8.8/", Private: true}, webhook.PosterOptions{}); a.Taken() || !strings.Contains(a.Why, "it requires https") {
		t.Errorf("without TLS to a public address: %+v", a)
	}
	if a := post(t, webhook.Hook{URL: "http://localhost" + port, Private: true}, webhook.PosterOptions{}); !a.Taken() {
		t.Errorf("with private: %+v", a)
	}
}

// A proxy from the environment is used, regardless of its address. The proxy resolves
// names, but an address in the URL itself is checked first.
func TestProxy(t *testing.T) {
	proxied := newReceiver(t, nil) // for plain HTTP, a proxy is an ordinary server
	at, _ := url.Parse(proxied.URL)
	proxy := func(*http.Request) (*url.URL, error) { return at, nil }
	if a := post(t, webhook.Hook{URL: "http://inside.example/x", Private: true}, webhook.PosterOptions{Proxy: proxy}); !a.Taken() || len(proxied.got()) != 1 {
		t.Errorf("through the proxy: %+v", a)
	}
	for _, u := range []string{"https://10.0.0.1/", "https://LOCALHOST/", "https://x.localhost./", "https://[::1]/", "http://8.8.8.8/"} {
		if a := post(t, webhook.Hook{URL: u}, webhook.PosterOptions{Proxy: proxy}); a.Taken() || !strings.Contains(a.Why, "private: true") && !strings.Contains(a.Why, "it requires https") {
			t.Errorf("%s through the proxy: %+v", u, a)
		}
	}
	if n := len(proxied.got()); n != 1 {
		t.Errorf("the proxy got %d requests, want 1", n)
	}
	broken := func(*http.Request) (*url.URL, error) { return nil, errors.New("nonsense with a password") }
	const want = "the proxy from the environment cannot be used"
	if a := post(t, webhook.Hook{URL: "http://inside.example/x", Private: true}, webhook.PosterOptions{Proxy: broken}); a.Why != want {
		t.Errorf("Why = %q, want %q", a.Why, want)
	}
	for _, test := range []struct {
		url, want string
		private   bool
		proxy     func(*http.Request) (*url.URL, error)
	}{
		{"https://8.8.8.8/", "", false, direct}, {"http://8.8.8.8/", "it requires https", true, direct},
		{"https://127.0.0.1/", "private: true allows it", false, direct}, {"http://127.0.0.1/", "", true, direct},
		{"https://inside.example/", "", false, proxy}, {"https://10.0.0.1/", "private: true allows it", false, proxy},
		{"https://nobody.invalid/", "nobody.invalid cannot be resolved", false, direct},
		{"http://a b/", "the URL cannot be used", true, direct}, {"https://8.8.8.8/", want, false, broken},
	} {
		err := webhook.NewPoster(webhook.Hook{URL: test.url, Private: test.private}, webhook.PosterOptions{Proxy: test.proxy}).CheckAddress(t.Context())
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("CheckAddress of %s: %v, want %q", test.url, err, test.want)
		}
	}
}

// The test vector is from the reference libraries of the specification.
func TestSignature(t *testing.T) {
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	w, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	const want = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	if got, err := w.Sign("msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`)); got != want || err != nil {
		t.Errorf("Sign = %q, %v, want %q", got, err, want)
	}
	rc := newReceiver(t, nil)
	if a := post(t, webhook.Hook{Name: "ops", URL: rc.URL, Secret: secret, Private: true}, webhook.PosterOptions{}); !a.Taken() {
		t.Fatal(a)
	}
	r := rc.got()[0]
	if err := w.Verify([]byte(r.body), r.header); err != nil {
		t.Errorf("a receiver refuses the signature: %v", err)
	}
	if err := w.Verify([]byte(r.body+" "), r.header); err == nil {
		t.Error("a receiver accepts another body")
	}
	if r.id != "msg_1" || r.header.Get("Content-Type") != "application/json" {
		t.Errorf("headers %v", r.header)
	}
	if seconds, _ := strconv.ParseInt(r.header.Get("Webhook-Timestamp"), 10, 64); time.Since(time.Unix(seconds, 0)) > time.Minute {
		t.Errorf("webhook-timestamp is %d", seconds)
	}
}

// hostile returns a payload whose strings try to mention people and to hide links.
func hostile() webhook.Payload {
	p := webhook.TestPayload("ops", "demo ☕", time.Now())
	p.Type, p.Data.Severity = journal.DeadLetter, journal.Error
	p.Data.Text = `[DEAD] coder gave up "x": @everyone <!channel> <https://evil.example|click> [click](https://evil.example) a_b_c & co`
	p.Data.Details = strings.Repeat("`*😀", 3000)
	return p
}

func TestForms(t *testing.T) {
	p := hostile()
	send := func(kind webhook.Kind, secret string) (got, map[string]any) {
		t.Helper()
		rc := newReceiver(t, nil)
		o := webhook.PosterOptions{Proxy: direct}
		if a := webhook.NewPoster(webhook.Hook{URL: rc.URL, Kind: kind, Secret: secret, Private: true}, o).Post(context.Background(), "msg_1", p.JSON()); !a.Taken() {
			t.Fatal(a)
		}
		r := rc.got()[0]
		var m map[string]any
		json.Unmarshal([]byte(r.body), &m)
		return r, m
	}
	if r, _ := send(webhook.Generic, ""); r.body != string(p.JSON()) || r.header.Get("Webhook-Signature") != "" {
		t.Errorf("generic: %v %s", r.header, r.body)
	}
	_, m := send(webhook.Slack, "")
	text := m["text"].(string)
	if strings.ContainsAny(text, "<>") || !strings.Contains(text, "&lt;!channel&gt;") || !strings.Contains(text, "&amp; co") || m["mrkdwn"] != false || len(text) > 3000 {
		t.Errorf("slack: %.300v", m)
	}
	_, m = send(webhook.Discord, "")
	text = m["content"].(string)
	if n := len(utf16.Encode([]rune(text))); n > 2000 || n < 1990 {
		t.Errorf("discord: %d units", n)
	}
	if parse, ok := m["allowed_mentions"].(map[string]any)["parse"].([]any); !ok || len(parse) != 0 {
		t.Errorf("discord may mention: %v", m["allowed_mentions"])
	}
	if !strings.HasPrefix(text, `\[DEAD\] coder gave up "x": @everyone \<!channel\> \<https://evil.example\|click\> \[click\]\(https://evil.example\) a\_b\_c & co`) || !strings.HasSuffix(text, "…") {
		t.Errorf("discord: %.300s", text)
	}
	r, _ := send(webhook.Ntfy, "tk_x")
	title, err := new(mime.WordDecoder).DecodeHeader(r.header.Get("Title"))
	if title != "demo ☕: dead letter" || err != nil || r.header.Get("Priority") != "5" || r.header.Get("Tags") != "rotating_light" || r.header.Get("Authorization") != "Bearer tk_x" {
		t.Errorf("ntfy: %v", r.header)
	}
	if !strings.HasPrefix(r.body, p.Data.Text) || len(r.body) > 3500 {
		t.Errorf("ntfy: %.300s", r.body)
	}
}
