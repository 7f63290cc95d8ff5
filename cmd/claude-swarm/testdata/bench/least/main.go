// Least is the smallest daemon that wakes a client for a message: it notices the rename,
// claims the message with a durable rename, and starts the client with the message on its
// standard input. It keeps no record, so after a crash there is no way to tell which
// message it was working on. It handles one mailbox, runs one client at a time, and does
// not handle failures.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/sys/unix"
)

func main() {
	mailbox, client := os.Args[1], os.Args[2]
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	must(err)
	_, err = unix.InotifyAddWatch(fd, filepath.Join(mailbox, "new"), unix.IN_MOVED_TO)
	must(err)
	events := os.NewFile(uintptr(fd), "inotify")
	cur, err := os.Open(filepath.Join(mailbox, "cur"))
	must(err)
	done := filepath.Join(mailbox, "done", "2026-11-21")
	must(os.MkdirAll(done, 0o700))
	fmt.Println("ready")
	for buf := make([]byte, 4096); ; {
		n, err := events.Read(buf)
		must(err)
		if n < unix.SizeofInotifyEvent {
			continue
		}
		name := unix.ByteSliceToString(buf[unix.SizeofInotifyEvent:n])
		claimed := filepath.Join(mailbox, "cur", name)
		must(os.Rename(filepath.Join(mailbox, "new", name), claimed))
		must(cur.Sync())
		message, err := os.ReadFile(claimed)
		must(err)
		out, err := os.Create(filepath.Join(mailbox, "work", name+".jsonl"))
		must(err)
		cmd := exec.Command(client)
		cmd.Stdout = out
		in, err := cmd.StdinPipe()
		must(err)
		must(cmd.Start())
		_, err = fmt.Fprintf(in, "%q\n", message)
		must(err)
		must(in.Close())
		must(cmd.Wait())
		must(out.Close())
		must(os.Rename(claimed, filepath.Join(done, name)))
	}
}
