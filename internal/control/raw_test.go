package control_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/internal/discovery"
)

// A rawClient writes raw bytes and reads frames.
type rawClient struct {
	t    testing.TB
	conn *net.UnixConn
	in   *bufio.Reader
}

type frame struct {
	Type  string
	ID    string
	OK    *bool
	V     int
	Data  json.RawMessage
	Error *control.Error
	End   bool
}

func (p project) raw(t testing.TB) *rawClient {
	t.Helper()
	paths, err := discovery.Paths(p.project, p.getenv)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: paths[0], Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	r := &rawClient{t: t, conn: conn, in: bufio.NewReaderSize(conn, 1<<20)}
	if f, err := r.next(); err != nil || f.Type != "hello" || f.V != 1 {
		t.Fatalf("the daemon's first line is %+v, %v, want its hello", f, err)
	}
	return r
}

func (r *rawClient) next() (f frame, err error) {
	line, err := r.in.ReadBytes('\n')
	if err != nil {
		return f, err
	}
	if err := json.Unmarshal(line, &f); err != nil {
		r.t.Fatalf("the daemon wrote %q, which is not JSON: %v", line, err)
	}
	return f, nil
}

// ask writes a line and returns the answer.
func (r *rawClient) ask(line string) frame {
	r.t.Helper()
	if _, err := io.WriteString(r.conn, line+"\n"); err != nil {
		r.t.Fatalf("write %.60q: %v", line, err)
	}
	f, err := r.next()
	if err != nil {
		r.t.Fatalf("after %.60q: %v", line, err)
	}
	return f
}

func TestBadLinesAreAnsweredAndTheConnectionLives(t *testing.T) {
	p, d := newProject(t), newFakeDaemon()
	serve(t, p, d)
	r := p.raw(t)
	for name, tc := range map[string]struct{ line, code, id string }{
		"no JSON":        {"hello?", control.CodeBadRequest, ""},
		"empty line":     {"", control.CodeBadRequest, ""},
		"cut JSON":       {`{"type":"status","id":"1"`, control.CodeBadRequest, ""},
		"a list":         {`[]`, control.CodeBadRequest, ""},
		"wrong type":     {`{"type":"status","id":"7","agents":3}`, control.CodeBadRequest, "7"},
		"bad time span":  {`{"type":"pause","id":"8","agent":"coder","for":"soon"}`, control.CodeBadRequest, "8"},
		"no agent":       {`{"type":"pause","id":"9"}`, control.CodeBadRequest, "9"},
		"unknown type":   {`{"type":"dance","id":"10"}`, control.CodeUnknownType, "10"},
		"no type":        {`{"id":"11"}`, control.CodeUnknownType, "11"},
		"unknown agent":  {`{"type":"resume","id":"12","agent":"x"}`, control.CodeUnknownAgent, "12"},
		"rubbish bytes":  {"\x00\xff\xfe\x01", control.CodeBadRequest, ""},
		"huge line":      {strings.Repeat("x", 3<<20), control.CodeTooLong, ""},
		"huge and valid": {`{"type":"status","id":"13","why":"` + strings.Repeat("x", 1<<20) + `"}`, control.CodeTooLong, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := r.ask(tc.line)
			if f.Type != "response" || f.OK == nil || *f.OK || f.Error == nil || f.Error.Code != tc.code || f.ID != tc.id {
				t.Errorf("answer = %+v (error %+v), want code %s for id %q", f, f.Error, tc.code, tc.id)
			}
		})
	}
	if f := r.ask(`{"type":"status","id":"14"}`); f.OK == nil || !*f.OK || f.ID != "14" {
		t.Errorf("status after all that = %+v, want it answered", f)
	}
	// Unknown fields from a newer client are ignored.
	if f := r.ask(`{"type":"status","id":"15","colour":"blue"}`); f.OK == nil || !*f.OK {
		t.Errorf("status with an unknown field = %+v, want it answered", f)
	}
}

func TestALineCutByTheEndIsNotObeyed(t *testing.T) {
	p, d := newProject(t), newFakeDaemon()
	serve(t, p, d)
	r := p.raw(t)
	if _, err := io.WriteString(r.conn, `{"type":"status","id":"1"}`+"\n"+`{"type":"shutdown","id":"2"}`); err != nil {
		t.Fatal(err)
	}
	if err := r.conn.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	// The complete line gets an answer even though the client has shut down its side.
	if f, err := r.next(); err != nil || f.ID != "1" {
		t.Errorf("first answer = %+v, %v, want that of id 1", f, err)
	}
	if f, err := r.next(); !errors.Is(err, io.EOF) {
		t.Errorf("then came %+v, %v, want the end", f, err)
	}
	for _, asked := range d.notes() {
		if strings.HasPrefix(asked, "shutdown") {
			t.Error("half a line was obeyed")
		}
	}
}

// A client that shuts down its side still gets the answer to each order that waits for a
// turn. Its subscriptions end at once.
func TestAnOrderOfAClientThatShutsItsSide(t *testing.T) {
	p, d := newProject(t), newFakeDaemon()
	serve(t, p, d)
	for i, line := range []string{
		`{"type":"stop","id":"1","agent":"coder"}`, `{"type":"abort","id":"1","agent":"coder"}`, `{"type":"interrupt","id":"1","agent":"coder","message":"k7f3q9m2xd"}`,
	} {
		r := p.raw(t)
		if _, err := io.WriteString(r.conn, line+"\n"+`{"type":"subscribe","id":"2"}`+"\n"); err != nil {
			t.Fatal(err)
		}
		if err := r.conn.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		answered, ended := false, false
		for !answered || !ended {
			f, err := r.next()
			if err != nil {
				t.Fatalf("%s: %v; answered: %v, subscription ended: %v", line, err, answered, ended)
			}
			answered = answered || f.Type == "response" && f.ID == "1"
			if f.Type == "event" && f.ID == "2" && f.End {
				ended = true
				if i == 0 {
					close(d.turn) // stop waits for it
				}
			}
		}
		if f, err := r.next(); !errors.Is(err, io.EOF) {
			t.Errorf("%s: then came %+v, %v, want the end", line, f, err)
		}
	}
}

func TestAnotherProtocolIsRefused(t *testing.T) {
	p, d := newProject(t), newFakeDaemon()
	serve(t, p, d)
	r := p.raw(t)
	if f := r.ask(`{"type":"hello","v":99,"version":"9.0"}`); f.Error == nil || f.Error.Code != control.CodeVersion || f.Error.Hint == "" {
		t.Errorf("hello v 99 = %+v, want the code %s with a hint", f, control.CodeVersion)
	}
	if _, err := r.next(); !errors.Is(err, io.EOF) {
		t.Errorf("after it: %v, want the end of the connection", err)
	}
}

func TestTheClientRefusesAStranger(t *testing.T) {
	for name, first := range map[string]string{
		"other protocol": `{"type":"hello","v":2,"version":"9"}` + "\n",
		"no JSON":        "220 mail.example.org ESMTP\n",
		"another JSON":   `{"jsonrpc":"2.0"}` + "\n",
		"refused":        `{"type":"response","id":"","ok":false,"error":{"code":"busy","message":"too many connections"}}` + "\n",
		"hangs up":       "",
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t)
			l, err := control.Listen(p.project, p.getenv)
			if err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			defer wg.Wait()
			defer l.Close()
			wg.Go(func() {
				if c, err := l.Accept(); err == nil {
					_, _ = io.WriteString(c, first) // this fails if the client has already hung up
					c.Close()
				}
			})
			c, err := control.Dial(t.Context(), p.project, "1.0", p.getenv)
			if err == nil {
				c.Close()
				t.Fatal("Dial: no error")
			}
			// A daemon that is about to end may accept connections for a moment longer.
			if got, want := errors.Is(err, control.ErrNoDaemon), name == "hangs up"; got != want {
				t.Errorf("Dial = %v, which is ErrNoDaemon: %v, want %v", err, got, want)
			}
		})
	}
}

// A call is answered by a response with its id. Lines of other types, which a newer daemon
// may send, answer nothing, and neither does a response to another request.
func TestOnlyAResponseAnswersACall(t *testing.T) {
	p := newProject(t)
	l, err := control.Listen(p.project, p.getenv)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	defer l.Close()
	wg.Go(func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		_, _ = io.WriteString(c, `{"type":"hello","v":1,"version":"1.0"}`+"\n") // an error ends the read below
		for in := bufio.NewReader(c); ; {
			line, err := in.ReadBytes('\n')
			if err != nil {
				return
			}
			var f frame
			if json.Unmarshal(line, &f) != nil || f.Type == "hello" {
				continue
			}
			for _, answer := range []string{
				`{"type":"event","id":"` + f.ID + `","data":{"v":2}}`, `{"type":"progress","id":"` + f.ID + `","data":{"v":3}}`,
				`{"type":"response","id":"other","ok":true,"data":{"v":4}}`, `{"type":"response","id":"` + f.ID + `","ok":true,"data":{"v":1,"project":"/p"}}`,
			} {
				_, _ = io.WriteString(c, answer+"\n")
			}
		}
	})
	c := p.dial(t)
	for range 2 {
		if st, err := c.Status(t.Context()); err != nil || st.V != 1 || st.Project != "/p" {
			t.Errorf("Status = %+v, %v, want the data of the response", st, err)
		}
	}
	c.Close()
}

// A connection has room for 64 requests that wait for a turn. The next one is refused at
// once, and there is room again when one has ended.
func TestOneRequestTooManyIsToldWhy(t *testing.T) {
	p, d := newProject(t), newFakeDaemon()
	serve(t, p, d)
	r := p.raw(t)
	const most = 64
	for i := range most {
		if _, err := fmt.Fprintf(r.conn, `{"type":"stop","id":"%d","agent":"coder"}`+"\n", i); err != nil {
			t.Fatal(err)
		}
	}
	if f := r.ask(`{"type":"stop","id":"more","agent":"coder"}`); f.ID != "more" || f.Error == nil || f.Error.Code != control.CodeBusy {
		t.Fatalf("one more is answered by %+v (error %+v), want code %s", f, f.Error, control.CodeBusy)
	}
	if f := r.ask(`{"type":"status","id":"status"}`); f.ID != "status" || f.OK == nil || !*f.OK {
		t.Errorf("a request that ends at once: %+v (error %+v)", f, f.Error)
	}
	close(d.turn)
	answered := map[string]bool{}
	for range most {
		f, err := r.next()
		if err != nil || f.OK == nil || !*f.OK {
			t.Fatalf("after %d answers: %+v, %v", len(answered), f, err)
		}
		answered[f.ID] = true
	}
	if len(answered) != most {
		t.Errorf("%d requests were answered, want %d", len(answered), most)
	}
	// The request ends a moment after its answer.
	within(t, "there is room again", func() bool {
		f := r.ask(`{"type":"stop","id":"again","agent":"coder"}`)
		return f.OK != nil && *f.OK
	})
}

func TestSocketLeftByACrash(t *testing.T) {
	p := newProject(t)
	l, err := control.Listen(p.project, p.getenv)
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close() // the state after a crash: the file exists, but no process is listening
	if _, err := control.Dial(t.Context(), p.project, "1.0", p.getenv); !errors.Is(err, control.ErrNoDaemon) {
		t.Errorf("Dial of a stale socket = %v, want ErrNoDaemon", err)
	}
	serve(t, p, newFakeDaemon())
	if _, err := p.dial(t).Status(t.Context()); err != nil {
		t.Errorf("Status at the new socket: %v", err)
	}
	if l, err := control.Listen(p.project, p.getenv); !errors.Is(err, control.ErrInUse) {
		if err == nil {
			l.Close()
		}
		t.Errorf("Listen beside a living daemon = %v, want ErrInUse", err)
	}
}

func TestWhatLiesInTheWay(t *testing.T) {
	p := newProject(t)
	paths, err := discovery.Paths(p.project, p.getenv)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(paths[0])
	listen := func() error {
		l, err := control.Listen(p.project, p.getenv)
		if err == nil {
			l.Close()
		}
		return err
	}
	for _, step := range []struct {
		name   string
		before func() error
		want   string
	}{
		{"a folder for everybody", func() error { return os.Mkdir(dir, 0o755) }, "is accessible to others (mode 0755)"},
		{"a link", func() error { return errors.Join(os.Remove(dir), os.Symlink(t.TempDir(), dir)) }, "is a symbolic link"},
		{"a file for a folder", func() error { return errors.Join(os.Remove(dir), os.WriteFile(dir, nil, 0o600)) }, "is not a folder"},
		{"a file for a socket", func() error {
			return errors.Join(os.Remove(dir), os.Mkdir(dir, 0o700), os.WriteFile(paths[0], []byte("precious"), 0o600))
		}, "exists and is not a socket"},
	} {
		if err := step.before(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if err := listen(); err == nil || !strings.Contains(err.Error(), step.want) {
			t.Errorf("%s: Listen = %v, want %q", step.name, err, step.want)
		}
	}
	if data, err := os.ReadFile(paths[0]); err != nil || string(data) != "precious" {
		t.Errorf("the file in the way is %q, %v, want it untouched", data, err)
	}
}

// FuzzServer checks that, regardless of what a client writes, every line that the daemon
// writes is JSON, and that the next client is served. Every complete line must be
// answered, except hello and cancel.
func FuzzServer(f *testing.F) {
	f.Add([]byte(`{"type":"status","id":"1"}` + "\n"))
	f.Add([]byte(`{"type":"subscribe","id":"1"}` + "\n" + `{"type":"subscribe","id":"1"}` + "\n" + `{"type":"cancel","id":"1"}` + "\n"))
	f.Add([]byte(`{"type":"hello","v":1}` + "\n" + `{"type":"pause","id":"2","agent":"coder","for":"1h"}` + "\n"))
	f.Add([]byte("\n\n\x00\n" + `{"type":"reload"`))
	f.Add([]byte(`{"type":"stop","id":"3","agent":"coder"}` + "\n" + `{"type":"abort","id":"4","agent":"coder"}` + "\n" + `{"type":"interrupt","id":"5","agent":"x"}` + "\n"))
	f.Add(bytes.Repeat([]byte("x\n"), 300))
	p, d := newProject(f), newFakeDaemon()
	close(d.turn)
	d.opened = make(chan *fakeFeed, 1<<20)
	serve(f, p, d)
	f.Fuzz(func(t *testing.T, data []byte) {
		r := p.raw(t)
		var wg sync.WaitGroup
		wg.Go(func() {
			_, _ = r.conn.Write(data) // the daemon may have closed the connection after a wrong hello
			r.conn.CloseWrite()
		})
		defer wg.Wait()
		want, got := 0, 0
		for line := range bytes.Lines(data) {
			if !bytes.HasSuffix(line, []byte("\n")) {
				break
			}
			var req struct {
				Type string
				V    int
			}
			if json.Unmarshal(line, &req) == nil {
				if req.Type == "hello" && req.V != 1 {
					break // the daemon answers the earlier lines, and then ends the connection
				}
				if req.Type == "hello" || req.Type == "cancel" {
					continue // this type never gets an answer
				}
			}
			want++
		}
		for {
			fr, err := r.next()
			if err != nil {
				break
			}
			if fr.Type == "response" {
				got++
			}
		}
		if got < want {
			t.Errorf("%d answers, want at least %d", got, want)
		}
		if f := p.raw(t).ask(`{"type":"status","id":"after"}`); f.OK == nil || !*f.OK {
			t.Errorf("the next client got %+v", f)
		}
	})
}
