package irctest

import (
	"crypto/sha256"
	"encoding/hex"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Znc starts ZNC, which connects to a server on loopback with the given nick and joins
// the channels. ZNC plays back all lines to every client that attaches with the password,
// even lines that the client has already received. Znc returns ZNC's address; the nick
// appears on the server soon afterwards.
func Znc(t testing.TB, server, nick, password string, channels ...string) (addr string) {
	t.Helper()
	dir, port := workDir(t), freePorts(t, 1)[0]
	sum := sha256.Sum256([]byte(password + "salt"))
	rooms := ""
	for _, channel := range channels {
		rooms += "<Chan " + channel + ">\n</Chan>\n"
	}
	host, serverPort, err := net.SplitHostPort(server)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "configs"), 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "configs", "znc.conf"), `Version = 1.8.2
ConnectDelay = 1
ServerThrottle = 1
AnonIPLimit = 100
<Listener l>
Host = 127.0.0.1
Port = `+port+`
IPv4 = true
IPv6 = false
SSL = false
</Listener>
<User u>
<Pass password>
Method = sha256
Hash = `+hex.EncodeToString(sum[:])+`
Salt = salt
</Pass>
Nick = `+nick+`
Ident = `+nick+`
RealName = `+nick+`
AutoClearChanBuffer = false
AutoClearQueryBuffer = false
ChanBufferSize = 500
QueryBufferSize = 500
<Network n>
Server = `+host+` `+serverPort+`
FloodBurst = 1000
FloodRate = 1000
`+rooms+`</Network>
</User>
`)
	p := prepare(t, dir, "znc", "--foreground", "--datadir="+dir)
	if os.Geteuid() == 0 { // as root, ZNC would print a warning and wait for half a minute
		const nobody = 65534
		for _, path := range []string{dir, filepath.Join(dir, "configs"), filepath.Join(dir, "configs", "znc.conf")} {
			if err := os.Chown(path, nobody, nobody); err != nil {
				t.Fatal(err)
			}
		}
		p.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	p.start(t)
	return p.listens(t, port)
}
