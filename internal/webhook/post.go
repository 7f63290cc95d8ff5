package webhook

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/tokens"
)

// These are size limits for an answer, in bytes. The body is read only if it may explain
// a failure.
const (
	maxHeader = 16 << 10
	maxRead   = 1 << 10
)

// DefaultTimeout is the default timeout for a whole attempt.
const DefaultTimeout = 15 * time.Second

// longestRest is the longest wait that a receiver can request.
const longestRest = 2 * time.Hour

// An Answer describes how an attempt ended.
type Answer struct {
	Status int           // the HTTP status; 0 if there was no answer
	Took   time.Duration // from the start of the attempt to its end
	// Why says, in one line, why the receiver did not accept the message. It is "" if the
	// receiver accepted it.
	Why string
	// Rest is how long the receiver has asked us to send no requests, or 0 if it did not
	// specify a time.
	Rest time.Duration
}

// Taken reports whether the receiver has accepted the message.
func (a Answer) Taken() bool { return a.Why == "" }

// A Poster posts the messages of one webhook. It is safe for concurrent use.
type Poster struct {
	hook    Hook
	proxy   func(*http.Request) (*url.URL, error)
	roots   *tls.Config
	timeout time.Duration
	mask    *tokens.Redactor // masks the URL and the secret in reasons
}

// PosterOptions contains the settings of a Poster. The zero value is ready to use.
type PosterOptions struct {
	Timeout time.Duration // timeout for a whole attempt; 0 means [DefaultTimeout]
	// Proxy returns the proxy for a request; nil means the proxy that the environment
	// variables specify.
	Proxy func(*http.Request) (*url.URL, error)
	TLS   *tls.Config // nil means the system's certificate authorities
}

// NewPoster creates a Poster. It does not open a connection.
func NewPoster(h Hook, o PosterOptions) *Poster {
	p := &Poster{hook: h, proxy: o.Proxy, roots: o.TLS, timeout: cmp.Or(o.Timeout, DefaultTimeout)}
	if p.proxy == nil {
		p.proxy = http.ProxyFromEnvironment
	}
	secret := map[string]string{h.URL: "[URL]", h.Secret: "[secret]"}
	if u, err := url.Parse(h.URL); err == nil {
		secret[u.RequestURI()] = "[path]"
	}
	p.mask = tokens.NewMarks(secret)
	return p
}

// Post tries once to post a message. id must be the same in all attempts to post one
// message. If ctx ends the attempt, the receiver may still have accepted the message.
func (p *Poster) Post(ctx context.Context, id string, body []byte) Answer {
	start := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, p.timeout, errSlow)
	defer cancel()
	a := p.post(ctx, id, body, start)
	if a.Status == 0 && errors.Is(context.Cause(ctx), errSlow) {
		a.Why = fmt.Sprintf("no answer within %v", p.timeout)
	}
	a.Took = time.Since(start)
	a.Why = screen.Short(p.mask.Text(a.Why), 300)
	return a
}

var errSlow = errors.New("this attempt took too long")

func (p *Poster) post(ctx context.Context, id string, body []byte, now time.Time) Answer {
	r, err := p.hook.request(ctx, id, body, now)
	if err != nil {
		return Answer{Why: err.Error()}
	}
	transport, err := p.transport(r)
	if err != nil {
		return Answer{Why: err.Error()}
	}
	defer transport.CloseIdleConnections()
	// Unlike an http.Client, a transport does not follow redirects. With keep-alives
	// disabled, it does not retry a request on a new connection either.
	answer, err := transport.RoundTrip(r)
	if err != nil {
		return Answer{Why: plainError(err)}
	}
	defer answer.Body.Close() // closes the connection without reading the rest of the answer
	a := Answer{Status: answer.StatusCode}
	switch status := answer.StatusCode; {
	case status >= 200 && status < 300:
		return a
	case status >= 300 && status < 400:
		a.Why = answered(status) + redirect(answer)
	default:
		a.Why = answered(status)
		// An error means that the body was cut off. The status is still valid.
		begin, _ := io.ReadAll(io.LimitReader(answer.Body, maxRead))
		if said := screen.OneLine(string(begin)); said != "" {
			a.Why += ": " + screen.Short(said, 200)
		}
	}
	if s := answer.StatusCode; s == http.StatusTooManyRequests || s == http.StatusServiceUnavailable {
		a.Rest = retryAfter(answer.Header.Get("Retry-After"), now)
	}
	return a
}

func answered(status int) string {
	return strings.TrimSpace(fmt.Sprintf("it answered %d %s", status, http.StatusText(status)))
}

// redirect returns the target of a redirect without its path and query, which may contain a
// secret.
func redirect(answer *http.Response) string {
	to, err := answer.Location()
	if err != nil {
		return ""
	}
	return fmt.Sprintf(", a redirect to %s://%s, which is not followed: set url to the final address", to.Scheme, to.Host)
}

// transport returns the transport for one request. Without a proxy, the transport checks
// each address when it connects, after the final resolution of the name.
func (p *Poster) transport(r *http.Request) (*http.Transport, error) {
	proxy, err := p.proxy(r)
	if err != nil {
		return nil, errors.New("the proxy from the environment cannot be used")
	}
	dialer := &net.Dialer{Timeout: p.timeout, KeepAlive: -1}
	t := &http.Transport{
		Proxy: http.ProxyURL(proxy), TLSClientConfig: p.roots.Clone(), DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: maxHeader,
	}
	if proxy == nil {
		dialer.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(address)
			if err != nil {
				return err
			}
			return p.hook.mayConnect(to.Addr(), r.URL.Scheme == "https")
		}
	} else if err := p.hook.mayPassProxy(r.URL); err != nil {
		return nil, err
	}
	t.DialContext = dialer.DialContext
	return t, nil
}

// CheckAddress returns an error if the webhook cannot connect to its host because the
// name has no address or has an address that the webhook does not allow. It does not open
// a connection. If a proxy is used, it does not resolve the name, because the proxy does
// that.
func (p *Poster) CheckAddress(ctx context.Context) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.hook.URL, nil)
	if err != nil {
		return errors.New("the URL cannot be used")
	}
	proxy, err := p.proxy(r)
	if err != nil {
		return errors.New("the proxy from the environment cannot be used")
	} else if proxy != nil {
		return p.hook.mayPassProxy(r.URL)
	}
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", r.URL.Hostname())
	if err != nil {
		return errors.New(plainError(err))
	}
	for _, a := range addrs {
		if err := p.hook.mayConnect(a.Unmap(), r.URL.Scheme == "https"); err != nil {
			return err
		}
	}
	return nil
}

// mayPassProxy returns an error that says why a webhook must not request a URL through a
// proxy, or nil if it may. The proxy resolves the name, and its rules determine where it
// connects; only an address in the URL itself is checked here.
func (h Hook) mayPassProxy(u *url.URL) error {
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if a, err := netip.ParseAddr(host); err == nil {
		return h.mayConnect(a, u.Scheme == "https")
	}
	if !h.Private && (host == "localhost" || strings.HasSuffix(host, ".localhost")) {
		return fmt.Errorf("%s is this machine: private: true allows it", host)
	}
	return nil
}

// plainError describes a network error in plain words, without its URL.
func plainError(err error) string {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return "the name " + dns.Name + " cannot be resolved: " + dns.Err
	}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing is listening there: " + err.Error()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "it closed the connection without an answer"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "it broke the connection: " + err.Error()
	}
	if why, ok := strings.CutPrefix(err.Error(), "net/http: HTTP/1.x transport connection broken: "); ok {
		return "its answer was not HTTP: " + why
	}
	return err.Error()
}

// retryAfter parses the value of a Retry-After header: a number of seconds or a date. The
// result is at most longestRest.
func retryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	rest := time.Duration(0)
	// Discord sends fractions of seconds. After an error, the number is 0, or infinite if
	// the value is too large.
	if seconds, _ := strconv.ParseFloat(value, 64); seconds > 0 {
		rest = time.Duration(min(seconds, longestRest.Seconds()) * float64(time.Second))
	} else if at, err := http.ParseTime(value); err == nil {
		rest = at.Sub(now)
	}
	return min(max(rest, 0), longestRest)
}
