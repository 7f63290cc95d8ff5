package irctest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A Limit says whether a real server keeps its own flood limit.
type Limit bool

const (
	Unlimited    Limit = false
	DefaultLimit Limit = true
)

// Ngircd starts ngircd, the old world: one capability, no tags. It returns the
// address.
func Ngircd(t testing.TB, limit Limit) string {
	return start(t, "ngircd", func(dir, port string) (string, []string) {
		penalty := "MaxPenaltyTime = 0\n"
		if limit == DefaultLimit {
			penalty = ""
		}
		config := `[Global]
Name = a.test
Info = t
Listen = 127.0.0.1
Ports = ` + port + `
[Limits]
MaxConnectionsIP = 0
MaxNickLength = 30
MaxJoins = 100
` + penalty + `[Options]
DNS = no
Ident = no
PAM = no
`
		return config, []string{"-n", "-f", filepath.Join(dir, "conf")}
	})
}

// Inspircd starts inspircd, the new world: tags, echoes, labels, batches.
func Inspircd(t testing.TB, limit Limit) string {
	return start(t, "inspircd", func(dir, port string) (string, []string) {
		bounds := `recvq="10M" hardsendq="10M" softsendq="10M" threshold="100000" commandrate="100000000"`
		if limit == DefaultLimit {
			bounds = `recvq="10K" hardsendq="1M" threshold="10" commandrate="1000"`
		}
		config := `<server name="b.test" description="t" network="T" id="0BT">
<admin name="t" nick="t" email="t@localhost">
<bind address="127.0.0.1" port="` + port + `" type="clients">
<connect allow="*" timeout="20" pingfreq="120" ` + bounds + `
  localmax="500" globalmax="500" maxchans="100" resolvehostnames="no" useident="no">
<files motd="/dev/null"> <dns server="127.0.0.1" timeout="1"> <pid file="` + dir + `/pid"> <path datadir="` + dir + `" logdir="` + dir + `">
<module name="cap"> <module name="ircv3"> <module name="ircv3_accounttag"> <module name="ircv3_batch">
<module name="ircv3_capnotify"> <module name="ircv3_ctctags"> <module name="ircv3_echomessage">
<module name="ircv3_labeledresponse"> <module name="ircv3_msgid"> <module name="ircv3_servertime">
`
		args := []string{"--nofork", "--nolog", "--config=" + filepath.Join(dir, "conf")}
		if os.Geteuid() == 0 {
			args = append(args, "--runasroot")
		}
		return config, args
	})
}

// start runs a server in the foreground until the test ends.
func start(t testing.TB, program string, setup func(dir, port string) (config string, args []string)) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		path = filepath.Join("/usr/sbin", program) // not in everybody's PATH
		if _, err = os.Stat(path); err != nil {
			if os.Getenv("SWARM_STRICT") == "1" {
				t.Fatalf("%s is missing", program)
			}
			t.Skipf("not run: %s is missing", program)
		}
	}
	dir, err := os.MkdirTemp("", "irc") // short, as the servers like it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	_, port, _ := net.SplitHostPort(addr)
	config, args := setup(dir, port)
	if err := os.WriteFile(filepath.Join(dir, "conf"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		nc, err := net.Dial("tcp", addr)
		if err == nil {
			_ = nc.Close()
			return addr
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("%s ended at once: %v\n%s", program, err, said.String())
		default:
		}
		if time.Now().After(deadline) {
			t.Fatal(fmt.Errorf("%s does not listen: %w", program, err))
		}
	}
}
