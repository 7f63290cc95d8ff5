package fakeapi

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// This file is as much of HTTP/1.1 as a client of the API needs (RFC 9112): requests with
// a Content-Length, answers in chunks, connections that are used again. The program that
// has the demo does not link net/http: that package with all below it would take 1.4 MB
// of the file, and a tenth of the time of a verb that sends a message.

// grace is how long an answer under way may take after the server is told to end.
const grace = 2 * time.Second

// serve answers the connections of ln until ctx is done, and their clients with them.
func serve(ctx context.Context, ln net.Listener, s *Server) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var open sync.WaitGroup
	stop := context.AfterFunc(ctx, func() { ln.Close() })
	defer stop()
	for {
		conn, err := ln.Accept()
		if err != nil {
			ended := ctx.Err() != nil
			cancel()
			open.Wait()
			if ended {
				return nil
			}
			return err
		}
		open.Go(func() { s.converse(ctx, conn) })
	}
}

// converse answers the requests of one connection, one after the other, until the client
// closes it, the script cuts it, or ctx is done.
func (s *Server) converse(ctx context.Context, conn net.Conn) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(ctx, func() {
		conn.SetReadDeadline(time.Now())
		conn.SetWriteDeadline(time.Now().Add(grace))
	})
	var heard chan struct{}
	defer func() {
		stop()
		cancel()
		conn.Close()
		if heard != nil {
			<-heard
		}
	}()
	in := bufio.NewReader(conn)
	for {
		r, err := readRequest(in)
		if err != nil {
			return // it is gone, or it does not speak HTTP
		}
		w := newResponse(conn, r)
		body, bad := r.readBody(in, w)
		if bad != nil {
			w.header.Set("Connection", "close")
		} else {
			heard = make(chan struct{})
			go func() { // ends at the next request or the end of the connection; waited for
				defer close(heard)
				if _, err := in.Peek(1); err != nil {
					cancel() // nobody waits for the answer
				}
			}()
		}
		s.respond(ctx, w, r, body, bad)
		if !w.end() || r.header.Get("Connection") == "close" {
			return
		}
		if bad != nil { // to close with something unread would take the answer away
			conn.SetReadDeadline(time.Now().Add(grace))
			io.Copy(io.Discard, in)
			return
		}
		<-heard
		heard = nil
		if ctx.Err() != nil {
			return
		}
	}
}

// A request is the head of a request.
type request struct {
	method, target string // target is the path with the query
	path           string
	header         textproto.MIMEHeader
}

func readRequest(in *bufio.Reader) (*request, error) {
	text := textproto.NewReader(in)
	line, err := text.ReadLine()
	if err != nil {
		return nil, err
	}
	words := strings.Split(line, " ")
	if len(words) != 3 || words[2] != "HTTP/1.1" {
		return nil, fmt.Errorf("not a request: %q", line)
	}
	where, err := url.ParseRequestURI(words[1])
	if err != nil {
		return nil, err
	}
	header, err := text.ReadMIMEHeader()
	return &request{method: words[0], target: where.RequestURI(), path: where.Path, header: header}, err
}

// readBody reads the body of the request. An error leaves the rest of it in the connection.
func (r *request) readBody(in io.Reader, w *response) ([]byte, error) {
	if r.header.Get("Transfer-Encoding") != "" {
		return nil, errors.New("the request has no Content-Length")
	}
	length := r.header.Get("Content-Length")
	if length == "" {
		return nil, nil
	}
	n, err := strconv.ParseInt(length, 10, 64)
	if err != nil || n < 0 || n > maxBody {
		return nil, fmt.Errorf("a body of %s bytes", length)
	}
	if strings.EqualFold(r.header.Get("Expect"), "100-continue") {
		if err := w.goOn(); err != nil {
			return nil, err
		}
	}
	data := make([]byte, n)
	if _, err := io.ReadFull(in, data); err != nil {
		return nil, err
	}
	return r.unzip(data)
}

// A response is the answer to one request. It belongs to one goroutine.
type response struct {
	conn   net.Conn
	out    *bufio.Writer
	header textproto.MIMEHeader
	bare   bool // it has no body, as its request is HEAD
	begun  bool
	ended  bool // the connection cannot be used any more
}

func newResponse(conn net.Conn, r *request) *response {
	return &response{conn: conn, out: bufio.NewWriter(conn), header: textproto.MIMEHeader{}, bare: r.method == "HEAD"}
}

// goOn tells a client that waits for it to send the body.
func (w *response) goOn() error {
	_, err := io.WriteString(w.conn, "HTTP/1.1 100 Continue\r\n\r\n")
	return err
}

// begin sends the status and the headers. The body comes by Write.
func (w *response) begin(status int) {
	if w.begun {
		return
	}
	w.begun = true
	w.header.Set("Transfer-Encoding", "chunked")
	fmt.Fprintf(w.out, "HTTP/1.1 %d %s\r\n", status, statusText(status))
	var keys []string
	for key := range w.header {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		fmt.Fprintf(w.out, "%s: %s\r\n", key, strings.NewReplacer("\r", " ", "\n", " ").Replace(w.header.Get(key)))
	}
	w.out.WriteString("\r\n")
}

// Write sends one chunk of the body.
func (w *response) Write(p []byte) (int, error) {
	w.begin(200)
	if w.bare || len(p) == 0 {
		return len(p), nil // an empty chunk would be the end
	}
	fmt.Fprintf(w.out, "%x\r\n", len(p))
	w.out.Write(p)
	_, err := w.out.WriteString("\r\n") // a bufio.Writer keeps its first error
	return len(p), err
}

// flush sends what was written.
func (w *response) flush() error { return w.out.Flush() }

// end sends the end of the body, and tells whether the connection can be used again.
func (w *response) end() bool {
	if w.ended {
		return false
	}
	w.begin(200)
	if !w.bare {
		w.out.WriteString("0\r\n\r\n")
	}
	return w.flush() == nil
}

// cut drops the connection without ending the response; with reset, by a TCP reset.
func (w *response) cut(reset bool) {
	if tcp, ok := w.conn.(*net.TCPConn); ok && reset {
		tcp.SetLinger(0)
	}
	w.ended = true
	w.conn.Close()
}
