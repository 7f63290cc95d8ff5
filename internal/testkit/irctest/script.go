package irctest

import (
	"bufio"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Script listens for connections and plays one exchange on each, byte by byte and in the
// given order. A line that begins with "> " contains the text that the client must write.
// The following lines that begin with "< " contain the server's answer. In a client's
// line, a name in parentheses, such as (label), matches any text. In all later lines, the
// name in parentheses stands for the text that it matched. "! cut" closes the connection.
// After the end of the script, the server reads until QUIT and sends no answers. Script
// returns the server's address.
func Script(t testing.TB, exchanges ...string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i, exchange := range exchanges {
			nc, err := l.Accept()
			if err != nil {
				t.Errorf("exchange %d: no client connected", i+1)
				return
			}
			play(t, nc, exchange)
			_ = nc.Close()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	return l.Addr().String()
}

var hole = regexp.MustCompile(`\\\(([a-z]+)\\\)`)

func play(t testing.TB, nc net.Conn, exchange string) {
	_ = nc.SetDeadline(time.Now().Add(60 * time.Second))
	r := bufio.NewReader(nc)
	known := make(map[string]string)
	for line := range strings.SplitSeq(strings.TrimSpace(exchange), "\n") {
		line = strings.TrimSpace(line)
		text := line[min(2, len(line)):]
		for name, value := range known {
			text = strings.ReplaceAll(text, "("+name+")", value)
		}
		switch {
		case line == "! cut":
			return
		case strings.HasPrefix(line, "< "):
			if _, err := nc.Write([]byte(text + "\r\n")); err != nil {
				t.Errorf("script: write %q: %v", text, err)
				return
			}
		case strings.HasPrefix(line, "> "):
			got, err := r.ReadString('\n')
			if err != nil {
				t.Errorf("script: want %q: %v", text, err)
				return
			}
			want := regexp.MustCompile("^" + hole.ReplaceAllString(regexp.QuoteMeta(text), `(?P<$1>[^ ;]+)`) + "\r\n$")
			found := want.FindStringSubmatch(got)
			if found == nil {
				t.Errorf("script: the client wrote %q, want %q", got, text)
				return
			}
			for i, name := range want.SubexpNames() {
				if name != "" {
					known[name] = found[i]
				}
			}
		}
	}
	for {
		line, err := r.ReadString('\n')
		if err != nil || strings.HasPrefix(line, "QUIT") {
			return
		}
	}
}
