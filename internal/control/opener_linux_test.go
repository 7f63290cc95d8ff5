package control_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// connectVar names the socket to which a child of this test connects, instead of running
// tests.
const connectVar = "CONTROL_TEST_CONNECT"

func init() {
	if path := os.Getenv(connectVar); path != "" {
		if err := unix.Connect(3, &unix.SockaddrUnix{Name: path}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// A process opens a connection, passes it on and ends. After that, its number may belong to a
// process of a person, as here, where the number leads to a person. The user of the connection
// does not count as that person. Siblings: orders, whoami, the text in a stream, whispers.
func TestAConnectionWhoseOpenerHasEnded(t *testing.T) {
	p, d := newProject(t), newFakeDaemon()
	p.callerOf = func(int, *journal.Claim) (journal.Caller, error) { return journal.Caller{}, nil }
	serve(t, p, d)
	paths, err := discovery.Paths(p.project, p.getenv)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	socket := os.NewFile(uintptr(fd), "socket")
	defer socket.Close()
	opener := exec.Command(os.Args[0])
	opener.Env, opener.ExtraFiles = append(os.Environ(), connectVar+"="+paths[0]), []*os.File{socket}
	if out, err := opener.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	lines := bufio.NewScanner(socket)
	ask := func(request string) string {
		t.Helper()
		if _, err := socket.WriteString(request + "\n"); err != nil {
			t.Fatal(err)
		}
		if !lines.Scan() {
			t.Fatalf("no answer to %s: %v", request, lines.Err())
		}
		return lines.Text()
	}
	if hello := ask(`{"type":"hello","v":1,"version":"1.0"}`); !strings.Contains(hello, `"hello"`) {
		t.Fatalf("hello = %s", hello)
	}
	for _, request := range []string{
		`{"type":"raise","id":"1","scope":"swarm.day","usd":5,"by":"lead"}`, `{"type":"resume","id":"2","agent":"coder","by":"lead"}`,
		`{"type":"reload","id":"3","by":"lead","accept":true}`, `{"type":"shutdown","id":"4","by":"lead"}`, `{"type":"whoami","id":"5"}`,
	} {
		if got := ask(request); !strings.Contains(got, `"untraced"`) {
			t.Errorf("%s: %s, want the error untraced", request, got)
		}
	}
	if got := d.notes(); len(got) > 0 {
		t.Errorf("the daemon was asked %q", got)
	}
}
