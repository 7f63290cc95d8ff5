package webhook_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// A got is a request that a receiver has received.
type got struct {
	header http.Header
	body   string
	id     string // webhook-id
}

// A receiver is a server to which a webhook posts. It can fail in all the ways in which
// the network and HTTP can fail.
type receiver struct {
	*httptest.Server
	mu  sync.Mutex
	all []got
	// how answers the nth request, counted from 1; if how is nil, the status is 204.
	how func(n int, w http.ResponseWriter, r *http.Request)
}

func newReceiver(t *testing.T, how func(n int, w http.ResponseWriter, r *http.Request)) *receiver {
	r := &receiver{how: how}
	r.Server = httptest.NewServer(r)
	t.Cleanup(func() { r.CloseClientConnections(); r.Close() })
	return r
}

func (rc *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	rc.mu.Lock()
	rc.all = append(rc.all, got{r.Header.Clone(), string(body), r.Header.Get("Webhook-Id")})
	n, how := len(rc.all), rc.how
	rc.mu.Unlock()
	if how == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	how(n, w, r)
}

func (rc *receiver) got() []got {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	return append([]got(nil), rc.all...)
}

// hijack takes over the connection from the server.
func hijack(w http.ResponseWriter) net.Conn {
	c, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	return c
}

// slow is the timeout of an attempt that no receiver answers in time.
const slow = 300 * time.Millisecond

// A failure is one way in which a receiver can fail, with the reason that is shown to
// people.
type failure struct {
	how   func(n int, w http.ResponseWriter, r *http.Request)
	url   string // used instead of the receiver's address
	tls   bool   // use TLS with a certificate from an unknown authority
	why   string // the beginning of the reason; "" if the receiver has accepted the message
	rest  time.Duration
	quick bool // the attempt ends long before its timeout, which is an hour
}

var failures = map[string]failure{
	"slow": {how: func(_ int, w http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
	}, why: "no answer within 300ms"},
	"hang": {how: func(_ int, w http.ResponseWriter, r *http.Request) {
		c := hijack(w)
		fmt.Fprint(c, "HTTP/1.1 2")
		io.Copy(io.Discard, c) // until the other side closes the connection
		c.Close()
	}, why: "no answer within 300ms"},
	"reset": {how: func(_ int, w http.ResponseWriter, _ *http.Request) {
		c := hijack(w)
		c.(*net.TCPConn).SetLinger(0)
		c.Close()
	}, why: "it broke the connection", quick: true},
	"closed":       {url: "http://127.0.0.1:1/", why: "nothing is listening there", quick: true},
	"no such name": {url: "http://nobody.invalid/", why: "the name nobody.invalid cannot be resolved", quick: true},
	"wrong TLS":    {tls: true, why: "tls: failed to verify certificate", quick: true},
	"too many": {how: func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "90")
		w.WriteHeader(http.StatusTooManyRequests)
	}, why: "it answered 429 Too Many Requests", rest: 90 * time.Second, quick: true},
	"away": {how: func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "60")
		w.WriteHeader(http.StatusServiceUnavailable)
	}, why: "it answered 503 Service Unavailable", rest: time.Minute, quick: true},
	"another error with a time": {how: func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "60")
		w.WriteHeader(http.StatusBadGateway)
	}, why: "it answered 502 Bad Gateway", quick: true},
	"a redirect to nowhere": {how: func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusFound)
	}, why: "it answered 302 Found", quick: true},
	"no URL": {url: "http://a b/", why: "the URL cannot be used", quick: true},
	"server error": {how: func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		io.WriteString(w, "database \x1b[31mis\n down")
	}, why: "it answered 500 Internal Server Error: database", quick: true},
	"redirect": {how: func(_ int, w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://other.example/secret?token=1", http.StatusTemporaryRedirect)
	}, why: "it answered 307 Temporary Redirect, a redirect to https://other.example, which is not followed", quick: true},
	"bad status": {how: func(_ int, w http.ResponseWriter, _ *http.Request) {
		c := hijack(w)
		fmt.Fprint(c, "HTTP/1.1 none of them\r\n\r\n")
		c.Close()
	}, why: "its answer was not HTTP: malformed HTTP", quick: true},
	"half an answer": {how: func(_ int, w http.ResponseWriter, _ *http.Request) {
		c := hijack(w)
		fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n")
		c.Close()
	}, why: "it closed the connection without an answer", quick: true},
	// Only the status matters. The client does not read the body or wait for it.
	"huge answer": {how: func(_ int, w http.ResponseWriter, r *http.Request) {
		for chunk := strings.Repeat("x", 64<<10); r.Context().Err() == nil; {
			if _, err := io.WriteString(w, chunk); err != nil {
				return
			}
		}
	}, quick: true},
	"huge error": {how: func(_ int, w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		for chunk := strings.Repeat("x", 64<<10); r.Context().Err() == nil; {
			if _, err := io.WriteString(w, chunk); err != nil {
				return
			}
		}
	}, why: "it answered 400 Bad Request: xxx", quick: true},
	"huge header": {how: func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X", strings.Repeat("x", 64<<10))
	}, why: "its answer was not HTTP: ", quick: true},
	"half a body": {how: func(_ int, w http.ResponseWriter, _ *http.Request) {
		c := hijack(w)
		fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
		c.Close()
	}, quick: true},
}
