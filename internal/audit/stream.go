package audit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/git"
)

// maxBatch is the maximum number of commits that one git process makes.
const maxBatch = 1000

// An importer writes commits to a running git fast-import. The commits appear on the branch
// in finish, because fast-import moves the branch only when it ends. It does so only if it
// has read "done", and only forward from the branch's newest commit.
type importer struct {
	audit  *Audit
	cmd    *exec.Cmd
	cancel context.CancelFunc
	w      *bufio.Writer
	stdin  io.Closer
	stdout bytes.Buffer
	stderr bytes.Buffer
	parent string // the parent of the first commit; "" for later ones
	when   time.Time
}

// write commits a batch of turns to the branch, and the other changes together with the
// newest turn.
func (a *Audit) write(ctx context.Context, root *os.Root, turns []*turn, rest []change) error {
	im, err := a.startImport(ctx)
	if err != nil {
		return err
	}
	defer im.cancel()
	// Each commit is held back until the next one is known, because the last one also
	// gets the other changes.
	var last *commit
	var written []*turn
	for _, t := range turns {
		c, ok := a.commitOf(root, t)
		if !ok {
			continue
		}
		if last != nil {
			im.commit(root, last)
		}
		last = c
		written = append(written, t)
	}
	if len(rest) > 0 {
		if last == nil {
			last = &commit{author: git.Committer, at: im.when, text: restText(rest)}
		}
		last.add(a, root, rest)
	}
	if last != nil {
		im.commit(root, last)
	}
	tip, err := im.finish(last != nil)
	if err != nil {
		return err
	}
	if tip != "" {
		a.tip = tip
	}
	a.learn(written, rest)
	return nil
}

// learn adds the recorded files to the memory.
func (a *Audit) learn(turns []*turn, rest []change) {
	for _, t := range turns {
		for _, p := range t.mails {
			a.memory.done[p.base+messageEnd] = true
			a.memory.done[p.base+receiptEnd] = true
		}
	}
	for _, ch := range rest {
		switch {
		case ch.gone:
			delete(a.memory.kept, ch.path)
		case isDone(ch.path):
			a.memory.done[ch.path] = true
		case ch.stamp.blob != "" && !strings.HasPrefix(ch.path, "attach/"):
			a.memory.kept[ch.path] = ch.stamp
		}
	}
}

func (a *Audit) startImport(ctx context.Context) (*importer, error) {
	ctx, cancel := context.WithTimeout(ctx, git.Timeout)
	im := &importer{audit: a, cancel: cancel, parent: a.tip, when: a.now()}
	im.cmd = a.git.Command(ctx, "fast-import", "--quiet", "--done", "--date-format=raw")
	im.cmd.Stdout, im.cmd.Stderr = &im.stdout, &im.stderr
	stdin, err := im.cmd.StdinPipe()
	if err == nil {
		err = im.cmd.Start()
	}
	if err != nil {
		cancel()
		return nil, fmt.Errorf("git fast-import: %w", err)
	}
	im.stdin = stdin
	im.w = bufio.NewWriterSize(stdin, 64<<10)
	return im, nil
}

// commit writes one commit. If git has ended, the commit is lost, and finish returns the
// reason.
func (im *importer) commit(root *os.Root, c *commit) {
	fmt.Fprintf(im.w, "commit %s\nmark :1\n", ref)
	im.person("author", c.author, c.at)
	im.person("committer", c.author, im.when)
	text := []byte(c.text)
	if im.audit.hidden != nil {
		text = im.audit.hidden.Hidden(text)
	}
	im.data(text)
	if im.parent != "" {
		fmt.Fprintf(im.w, "from %s\n", im.parent)
		im.parent = ""
	}
	for _, name := range c.gone {
		fmt.Fprintf(im.w, "D %s\n", im.quote(name))
	}
	for _, f := range c.files {
		if f.data == nil {
			data, _, ok := im.audit.read(root, f.path)
			if !ok {
				continue // the file has just been removed, cannot be read, or contains a secret
			}
			f.data = data
		}
		if f.read != nil {
			f.read(f.data)
		}
		fmt.Fprintf(im.w, "M 100644 inline %s\n", im.quote(f.path))
		im.data(f.data)
	}
	im.w.WriteByte('\n')
}

func (im *importer) person(role, name string, at time.Time) {
	fmt.Fprintf(im.w, "%s %s <%s%s> %d +0000\n", role, name, name, git.MailHost, max(at.Unix(), 0))
}

func (im *importer) data(data []byte) {
	fmt.Fprintf(im.w, "data %d\n", len(data))
	im.w.Write(data)
	im.w.WriteByte('\n')
}

// quote quotes a path relative to the mailboxes for fast-import.
func (im *importer) quote(name string) string {
	name = im.audit.git.Prefix + name
	b := make([]byte, 0, len(name)+2)
	b = append(b, '"')
	for i := range len(name) {
		switch c := name[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ' || c == 0x7f:
			b = fmt.Appendf(b, "\\%03o", c)
		default:
			b = append(b, c)
		}
	}
	return string(append(b, '"'))
}

// finish ends the import and returns the newest commit, if any.
func (im *importer) finish(wrote bool) (tip string, err error) {
	if wrote {
		im.w.WriteString("get-mark :1\n")
	}
	im.w.WriteString("done\n")
	// An error from the pipe means that git ended early; the error from Wait has the
	// details.
	writeErr := errors.Join(im.w.Flush(), im.stdin.Close())
	if err := im.cmd.Wait(); err != nil {
		im.audit.git.dropCrashReport(im.stderr.String())
		return "", git.Failed(im.cmd, err, im.stderr.String())
	}
	if writeErr != nil {
		return "", fmt.Errorf("git fast-import: %w", writeErr)
	}
	tip = strings.TrimSpace(im.stdout.String())
	if _, err := hex.DecodeString(tip); err != nil || wrote != (tip != "") {
		return "", fmt.Errorf("git fast-import: reported %q as its newest commit", tip)
	}
	return tip, nil
}
