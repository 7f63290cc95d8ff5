package mailslot

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/rendezvous"
)

// A Digest is what a plain send needs of a configuration. To read YAML takes longer
// than to read the digest of it, deliver the message and be done.
//
// It lies in the daemon's folder, and holds for one content of the configuration and
// for one build of the program: its seal is made of both. Where anything differs
// there is no digest, and the verb reads the configuration itself. So it may be
// deleted, and is never to be trusted further than the file that it was made of.
type Digest struct {
	Store   string          // the folder of the mailboxes, absolute
	Options dropbox.Options // MaxBody, MaxWaiting and MaxHops alone
	Tasks   bool            // the lead may send a task
	Stop    string          // a body with this in it needs more than a plain send; "" for none
	Agents  []string
}

// The first word and the last line: a digest without both was cut off.
const (
	digestMark = "digest "
	digestEnd  = "end\n"
)

// Keep writes the digest of a configuration, its path absolute, into the daemon's
// folder, unless it is there already. It needs to be neither durable nor there.
func (d Digest) Keep(home, config string, content []byte) error {
	seal, err := seal(config, content)
	if err != nil {
		return err
	}
	return rendezvous.Keep(home, "digest", d.text(seal))
}

func (d Digest) text(seal string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s\nstore %q\nbody %d\nwaiting %d\nhops %d\ntasks %t\nstop %q\n",
		digestMark, seal, d.Store, d.Options.MaxBody, d.Options.MaxWaiting, d.Options.MaxHops, d.Tasks, d.Stop)
	for _, name := range d.Agents {
		fmt.Fprintf(&b, "agent %s\n", name)
	}
	b.WriteString(digestEnd)
	return b.String()
}

// readDigest reads the digest of this configuration; false where there is none.
func readDigest(home, config string, content []byte) (d Digest, ok bool) {
	seal, err := seal(config, content)
	if err != nil {
		return d, false
	}
	data, err := readFile(filepath.Join(home, "digest"))
	if err != nil {
		return d, false
	}
	text, ok := strings.CutPrefix(string(data), digestMark+seal+"\n")
	if !ok || !strings.HasSuffix(text, "\n"+digestEnd) {
		return d, false
	}
	for line := range strings.Lines(strings.TrimSuffix(text, digestEnd)) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !d.take(key, value) {
			return d, false
		}
	}
	return d, d.Store != ""
}

// take fills in one line.
func (d *Digest) take(key, value string) bool {
	var err error
	switch key {
	case "store":
		d.Store, err = strconv.Unquote(value)
	case "body":
		d.Options.MaxBody, err = strconv.ParseInt(value, 10, 64)
	case "waiting":
		d.Options.MaxWaiting, err = strconv.Atoi(value)
	case "hops":
		d.Options.MaxHops, err = strconv.Atoi(value)
	case "tasks":
		d.Tasks, err = strconv.ParseBool(value)
	case "stop":
		d.Stop, err = strconv.Unquote(value)
	case "agent":
		d.Agents = append(d.Agents, value)
	default:
		return false
	}
	return err == nil
}

// seal names a content of a configuration and the build of the program that read it.
func seal(config string, content []byte) (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	info, err := os.Stat(program)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n%d %d\n%s\n", program, info.Size(), info.ModTime().UnixNano(), config)
	sum.Write(content)
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// maxFile is far above the size of any configuration, in bytes.
const maxFile = 1 << 20

// readFile reads a small regular file, and does not wait for anybody: a fifo may lie
// in its place.
func readFile(path string) ([]byte, error) {
	in, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, fmt.Errorf("%s is not a small file", path)
	}
	b := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	_, err = b.ReadFrom(io.LimitReader(in, maxFile))
	return b.Bytes(), err
}
