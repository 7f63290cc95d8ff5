package irctest

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// A Network consists of inspircd with TLS and atheme, which provides the services. It
// supports real accounts, SASL PLAIN and EXTERNAL, and account-tag.
type Network struct {
	Addr      string // address without TLS
	TLS       string
	Authority *Authority // issuer of the server's certificate

	t        testing.TB
	dir      string
	services *program
	starts   int
}

// linkPassword is shared by the two servers of a [Network].
const linkPassword = "link"

// NewNetwork starts both servers and returns as soon as accounts can be used.
func NewNetwork(t testing.TB) *Network {
	t.Helper()
	n := &Network{Authority: NewAuthority(t), t: t, dir: workDir(t)}
	ports := freePorts(t, 3)
	clear, secure, servers := ports[0], ports[1], ports[2]
	cert := n.Authority.Issue("server")
	writeFile(t, filepath.Join(n.dir, "conf"), inspircdConfig(n.dir, clear, noBounds)+`
<bind address="127.0.0.1" port="`+secure+`" type="clients" sslprofile="Clients">
<bind address="127.0.0.1" port="`+servers+`" type="servers">
<sslprofile name="Clients" provider="gnutls" certfile="`+cert.File+`" keyfile="`+cert.KeyFile+`" hash="sha256">
<module name="spanningtree"> <module name="services_account"> <module name="sasl">
<module name="ssl_gnutls"> <module name="sslinfo">
<link name="services.test" ipaddr="127.0.0.1" port="`+servers+`" sendpass="`+linkPassword+`" recvpass="`+linkPassword+`">
<uline server="services.test" silent="yes">
<sasl target="services.test">
`)
	writeFile(t, filepath.Join(n.dir, "services.conf"), `
loadmodule "modules/protocol/inspircd";
loadmodule "modules/backend/opensex";
loadmodule "modules/crypto/posix";
loadmodule "modules/nickserv/main";
loadmodule "modules/nickserv/cert";
loadmodule "modules/nickserv/identify";
loadmodule "modules/nickserv/logout";
loadmodule "modules/nickserv/register";
loadmodule "modules/saslserv/main";
loadmodule "modules/saslserv/plain";
loadmodule "modules/saslserv/external";
serverinfo {
	name = "services.test"; desc = "t"; numeric = "00A"; netname = "T"; recontime = 1;
	adminname = "t"; adminemail = "t@localhost"; registeremail = "t@localhost"; auth = none;
	loglevel = { error; info; };
};
uplink "b.test" {
	host = "127.0.0.1"; port = `+servers+`;
	send_password = "`+linkPassword+`"; receive_password = "`+linkPassword+`";
};
nickserv { nick = "NickServ"; user = "NickServ"; host = "services.test"; real = "t"; };
saslserv { nick = "SaslServ"; user = "SaslServ"; host = "services.test"; real = "t"; };
`)
	p := launch(t, n.dir, "inspircd", inspircdArgs(n.dir)...)
	n.Addr, n.TLS = p.listens(t, clear), p.listens(t, secure)
	n.StartServices()
	return n
}

// StartServices starts the services and returns as soon as they can be used. After
// StopServices, it restarts them with the same accounts.
func (n *Network) StartServices() {
	n.t.Helper()
	file := func(name string) string { return filepath.Join(n.dir, name) }
	n.starts++
	log := file(fmt.Sprintf("services-%d.log", n.starts))
	n.services = launch(n.t, n.dir, "atheme-services", "-n", "-c", file("services.conf"), "-D", n.dir, "-l", log, "-p", file("services.pid"))
	// The server offers SASL before the services are ready to answer.
	n.services.until(n.t, "get to know the network", func() bool {
		said, _ := os.ReadFile(log)
		return strings.Contains(string(said), "finished synching")
	})
	n.services.until(n.t, "offer SASL", func() bool { return strings.Contains(n.offered(), " sasl=") })
}

// StopServices stops the services, as at the beginning of a restart. The network
// continues without them.
func (n *Network) StopServices() {
	n.t.Helper()
	n.services.end(syscall.SIGTERM)
	for deadline := time.Now().Add(30 * time.Second); strings.Contains(n.offered(), " sasl="); {
		if time.Now().After(deadline) {
			n.t.Fatal("the server still offers SASL")
		}
		// If the services send a last line just before they hang up, inspircd detects the
		// end of the link only when it sends them something, such as a join.
		n.visit("visitor").Close(n.t.Context(), "")
	}
}

// visit connects without an account. The caller must close the connection.
func (n *Network) visit(nick string) *irc.Conn {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(n.t.Context(), time.Minute)
	defer cancel()
	c, err := irc.Dial(ctx, irc.Config{Addr: n.Addr, Clear: true, Nick: nick, Flood: irc.Flood{Off: true}})
	if err != nil {
		n.t.Fatal(err)
	}
	return c
}

// offered returns the capabilities that the server offers on a new connection, or "" if
// the server does not answer.
func (n *Network) offered() string {
	nc, err := net.Dial("tcp", n.Addr)
	if err != nil {
		return ""
	}
	defer nc.Close()
	_ = nc.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := nc.Write([]byte("CAP LS 302\r\n")); err != nil {
		return ""
	}
	list := make([]byte, 4096)
	size := 0
	for !strings.Contains(string(list[:size]), "\n") {
		got, err := nc.Read(list[size:])
		if err != nil {
			return ""
		}
		size += got
	}
	return strings.ReplaceAll(string(list[:size]), ":", " ")
}

// Register creates an account with a temporary client that uses that nick. A client with
// one of the certificates can log in to the account.
func (n *Network) Register(account, password string, certificates ...Certificate) {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(n.t.Context(), time.Minute)
	defer cancel()
	c := n.visit(account)
	defer c.Close(ctx, "")
	n.Ask(ctx, c, "REGISTER "+password+" "+account+"@irc.test", "registered")
	for _, cert := range certificates {
		n.Ask(ctx, c, "CERT ADD "+cert.Fingerprint, "Added fingerprint")
	}
}

// Ask sends a message to NickServ and waits for a line that contains answer. Lines that
// arrive before that line are discarded.
func (n *Network) Ask(ctx context.Context, c *irc.Conn, text, answer string) {
	n.t.Helper()
	d := c.Send("NickServ", text)
	var said []string
	for {
		select {
		case m, ok := <-c.Messages():
			if !ok {
				n.t.Fatalf("NickServ %s: %v", text, c.Err())
			}
			if m.Command == "NOTICE" && m.Nick() == "NickServ" {
				if strings.Contains(m.Last(), answer) {
					return
				}
				said = append(said, m.Last())
			}
		case <-ctx.Done():
			n.t.Fatalf("NickServ %s: no answer with %q but %q; %v", text, answer, said, d.Err())
		}
	}
}
