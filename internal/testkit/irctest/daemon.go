package irctest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/need"
)

// A Limit specifies whether a real server keeps its flood limit.
type Limit bool

const (
	Unlimited    Limit = false
	DefaultLimit Limit = true
)

// Ngircd starts ngircd, an old-style server with one capability and no tags. It returns
// the server's address.
func Ngircd(t testing.TB, limit Limit) string {
	return start(t, "ngircd", func(dir, port string) (string, []string) {
		penalty := "MaxPenaltyTime = 0\n"
		if limit == DefaultLimit {
			penalty = ""
		}
		return ngircdConfig("Ports = "+port+"\n", penalty), []string{"-n", "-f", filepath.Join(dir, "conf")}
	})
}

// NgircdTLS starts ngircd with a certificate, for TLS connections only.
func NgircdTLS(t testing.TB, cert Certificate) string {
	return start(t, "ngircd", func(dir, port string) (string, []string) {
		tls := "[SSL]\nCertFile = " + cert.File + "\nKeyFile = " + cert.KeyFile + "\nPorts = " + port + "\n"
		return ngircdConfig("Ports = "+freePorts(t, 1)[0]+"\n", "") + tls, []string{"-n", "-f", filepath.Join(dir, "conf")}
	})
}

// InspircdTLS starts inspircd with a certificate, for TLS connections only.
func InspircdTLS(t testing.TB, cert Certificate) string {
	return start(t, "inspircd", func(dir, port string) (string, []string) {
		config := inspircdConfig(dir, freePorts(t, 1)[0], noBounds) + `
<bind address="127.0.0.1" port="` + port + `" type="clients" sslprofile="Clients">
<sslprofile name="Clients" provider="gnutls" certfile="` + cert.File + `" keyfile="` + cert.KeyFile + `">
<module name="ssl_gnutls">
`
		return config, inspircdArgs(dir)
	})
}

func ngircdConfig(ports, penalty string) string {
	return `[Global]
Name = a.test
Info = t
Listen = 127.0.0.1
` + ports + `[Limits]
MaxConnectionsIP = 0
MaxNickLength = 30
MaxJoins = 100
` + penalty + `[Options]
DNS = no
Ident = no
PAM = no
`
}

// Inspircd starts inspircd, a modern server with tags, echoes, labels and batches. It
// returns the server's address.
func Inspircd(t testing.TB, limit Limit) string {
	return start(t, "inspircd", func(dir, port string) (string, []string) {
		bounds := noBounds
		if limit == DefaultLimit {
			bounds = `recvq="10K" hardsendq="1M" threshold="10" commandrate="1000"`
		}
		return inspircdConfig(dir, port, bounds), inspircdArgs(dir)
	})
}

// noBounds contains the settings that disable inspircd's limits.
const noBounds = `recvq="10M" hardsendq="10M" softsendq="10M" threshold="100000" commandrate="100000000"`

func inspircdConfig(dir, port, bounds string) string {
	return `<server name="b.test" description="t" network="T" id="0BT">
<admin name="t" nick="t" email="t@localhost">
<bind address="127.0.0.1" port="` + port + `" type="clients">
<connect allow="*" timeout="20" pingfreq="120" ` + bounds + `
  localmax="500" globalmax="500" maxchans="100" resolvehostnames="no" useident="no">
<files motd="/dev/null"> <dns server="127.0.0.1" timeout="1"> <pid file="` + dir + `/pid"> <path datadir="` + dir + `" logdir="` + dir + `">
<module name="cap"> <module name="ircv3"> <module name="ircv3_accounttag"> <module name="ircv3_batch">
<module name="ircv3_capnotify"> <module name="ircv3_ctctags"> <module name="ircv3_echomessage">
<module name="ircv3_labeledresponse"> <module name="ircv3_msgid"> <module name="ircv3_servertime">
`
}

func inspircdArgs(dir string) []string {
	args := []string{"--nofork", "--nolog", "--config=" + filepath.Join(dir, "conf")}
	if os.Geteuid() == 0 {
		args = append(args, "--runasroot")
	}
	return args
}

// start runs a server in the foreground until the test ends.
func start(t testing.TB, name string, setup func(dir, port string) (config string, args []string)) string {
	t.Helper()
	dir, port := workDir(t), freePorts(t, 1)[0]
	config, args := setup(dir, port)
	writeFile(t, filepath.Join(dir, "conf"), config)
	p := launch(t, dir, name, args...)
	return p.listens(t, port)
}

// workDir returns a folder with a short path, because the servers limit the length of
// paths.
func workDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "irc")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// given contains the ports that freePorts has returned.
var given = struct {
	sync.Mutex
	ports map[int]bool
}{ports: map[int]bool{}}

// freePorts finds free ports on 127.0.0.1. They are below the range from which Linux and
// macOS take the ports of connections, so no connection takes one of them before the server
// does. It does not listen on a port to see whether it is free: a process that another test
// starts meanwhile has a copy of the listener for a moment, and the server could not listen.
func freePorts(t testing.TB, n int) (ports []string) {
	t.Helper()
	const low, high = 12000, 32000
	given.Lock()
	defer given.Unlock()
	for tries := 0; len(ports) < n; tries++ {
		port := low + rand.IntN(high-low)
		if given.ports[port] {
			continue
		}
		nc, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		switch {
		case err == nil:
			_ = nc.Close() // the port belongs to a server
		case errors.Is(err, syscall.ECONNREFUSED):
			given.ports[port] = true
			ports = append(ports, strconv.Itoa(port))
		}
		if tries > 1000 {
			t.Fatalf("found no free port; the last one: %v", err)
		}
	}
	return ports
}

// A program is a process that does not outlive the test.
type program struct {
	name  string
	cmd   *exec.Cmd
	said  strings.Builder // must be read only after the program has ended
	ended chan struct{}
	err   error // result of Wait
}

// launch starts an installed program in a folder.
func launch(t testing.TB, dir, name string, args ...string) *program {
	t.Helper()
	p := prepare(t, dir, name, args...)
	p.start(t)
	return p
}

// prepare finds an installed program and prepares to start it in a folder.
func prepare(t testing.TB, dir, name string, args ...string) *program {
	t.Helper()
	if testing.Short() {
		t.Skipf("runs %s", name)
	}
	p := &program{name: name, cmd: exec.Command(need.Program(t, name), args...), ended: make(chan struct{})}
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = dir, &p.said, &p.said
	return p
}

func (p *program) start(t testing.TB) {
	t.Helper()
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { // the cleanup waits for this goroutine
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() { p.end(os.Kill) })
}

// end sends the program a signal and waits until it has exited.
func (p *program) end(signal os.Signal) {
	_ = p.cmd.Process.Signal(signal)
	<-p.ended
}

// until waits until a started program meets a condition.
func (p *program) until(t testing.TB, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !done(); time.Sleep(5 * time.Millisecond) {
		select {
		case <-p.ended:
			t.Fatalf("%s ended at once: %v\n%s", p.name, p.err, p.said.String())
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s does not %s", p.name, what)
		}
	}
}

// listens waits until a server accepts connections, and returns its address.
func (p *program) listens(t testing.TB, port string) (addr string) {
	t.Helper()
	addr = net.JoinHostPort("127.0.0.1", port)
	p.until(t, "listen", func() bool {
		nc, err := net.Dial("tcp", addr)
		if err == nil {
			_ = nc.Close()
		}
		return err == nil
	})
	return addr
}
