package fakeapi_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// dial opens a connection to the server, and returns what writes requests and reads the
// answers to them.
func dial(t *testing.T, url string) (send func(string), answer func(method string) (*http.Response, string)) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(30 * time.Second))
	in := bufio.NewReader(conn)
	send = func(text string) {
		t.Helper()
		if _, err := io.WriteString(conn, strings.ReplaceAll(text, "\n", "\r\n")); err != nil {
			t.Fatal(err)
		}
	}
	answer = func(method string) (*http.Response, string) {
		t.Helper()
		resp, err := http.ReadResponse(in, &http.Request{Method: method})
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp, string(body)
	}
	return send, answer
}

func TestOneConnectionServesManyRequests(t *testing.T) {
	s, url := serve(t, `{"replies":[{"text":"the answer"}]}`)
	send, answer := dial(t, url)
	send("HEAD / HTTP/1.1\nHost: x\n\nGET /v1/models?limit=1 HTTP/1.1\nHost: x\n\n")
	if resp, body := answer("HEAD"); resp.StatusCode != 200 || body != "" {
		t.Errorf("HEAD: %d %q", resp.StatusCode, body)
	}
	if resp, body := answer("GET"); resp.StatusCode != 200 || !strings.Contains(body, `"data":[]`) {
		t.Errorf("models: %d %q", resp.StatusCode, body)
	}
	send("POST /v1/messages HTTP/1.1\nHost: x\nExpect: 100-continue\nContent-Length: 8\n\n")
	if resp, _ := answer("POST"); resp.StatusCode != http.StatusContinue {
		t.Fatalf("%d before the body, want 100", resp.StatusCode)
	}
	send("not json" + "GET /nowhere HTTP/1.1\nConnection: close\n\n")
	if resp, body := answer("POST"); resp.StatusCode != 400 {
		t.Errorf("message: %d %q", resp.StatusCode, body)
	}
	if resp, body := answer("GET"); resp.StatusCode != 404 || !strings.Contains(body, "does not serve GET /nowhere") || resp.Header.Get("request-id") != "req_fake_000004" {
		t.Errorf("nowhere: %d %q %v", resp.StatusCode, body, resp.Header)
	}
	if got := s.Requests(); len(got) != 4 || got[1].Path != "/v1/models?limit=1" {
		t.Errorf("Requests() = %+v", got)
	}
}

// A body without a length is refused, and the client hears why.
func TestARequestInChunksIsRefused(t *testing.T) {
	_, url := serve(t, `{}`)
	send, answer := dial(t, url)
	send("POST /v1/messages HTTP/1.1\nHost: x\nTransfer-Encoding: chunked\n\n2\n{}\n0\n\n")
	if resp, body := answer("POST"); resp.StatusCode != 400 || !strings.Contains(body, "no Content-Length") || !resp.Close {
		t.Errorf("%d %q", resp.StatusCode, body)
	}
}

// What is not HTTP ends the connection, and the server goes on.
func TestWhatIsNotHTTPIsDropped(t *testing.T) {
	s, url := serve(t, `{"replies":[{"text":"the answer"}]}`)
	for _, text := range []string{"hello\n", "GET x HTTP/1.1\n\n", "GET / HTTP/1.1\nno header\n\n", "GET / HTTP/0.9\n\n"} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(conn, text)
		conn.SetDeadline(time.Now().Add(30 * time.Second))
		if n, err := conn.Read(make([]byte, 1)); err != io.EOF || n > 0 {
			t.Errorf("%q is answered: %d, %v", text, n, err)
		}
		conn.Close()
	}
	if _, got, err := ask(t, url, says("x", false)); err != nil || !strings.Contains(got, "the answer") {
		t.Errorf("then %q, %v", got, err)
	}
	if got := len(s.Requests()); got != 1 {
		t.Errorf("%d requests", got)
	}
}
