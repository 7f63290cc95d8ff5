//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A role is the function of a process in an arena.
type role string

const (
	daemonRole role = "daemon"
	clientRole role = "client"
	childRole  role = "child"  // child of a client: a command of its Bash tool
	senderRole role = "sender" // the send verb, or any other verb
)

// A process describes a process in an arena.
type process struct {
	pid    int
	parent int // pid of the parent process
	role   role
	args   string
	turn   string
}

// processes returns the processes of the arena, which all inherit its home folder.
func (a *arena) processes() []process {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil
	}
	mark := []byte("HOME=" + a.home)
	var out []process
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil || pid == os.Getpid() {
			continue
		}
		environ, err := os.ReadFile(dir + "/environ")
		if err != nil || !bytes.Contains(environ, mark) {
			continue
		}
		// The parent is read before the arguments. A forked process that exits in between
		// has no arguments and is ignored.
		p := process{pid: pid, parent: parentOf(pid), role: senderRole}
		ours := false
		for entry := range bytes.SplitSeq(environ, []byte{0}) {
			ours = ours || bytes.Equal(entry, mark)
			if turn, ok := bytes.CutPrefix(entry, []byte(runner.MarkVar+"=")); ok {
				p.turn = string(turn)
			}
		}
		line, err := os.ReadFile(dir + "/cmdline")
		if err != nil || !ours || len(line) == 0 {
			continue // has exited, or belongs to another arena
		}
		args := bytes.Split(bytes.TrimRight(line, "\x00"), []byte{0})
		p.args = string(bytes.Join(args, []byte(" ")))
		has := func(word string) bool {
			for _, arg := range args {
				if string(arg) == word {
					return true
				}
			}
			return false
		}
		switch {
		case has("--foreground"):
			p.role = daemonRole
		case p.turn != "" && has(a.client):
			p.role = clientRole
		case p.turn != "":
			p.role = childRole
		}
		out = append(out, p)
	}
	// Between fork and exec, a child of the daemon looks like the daemon itself.
	daemons := make(map[int]bool)
	for _, p := range out {
		daemons[p.pid] = p.role == daemonRole
	}
	return slices.DeleteFunc(out, func(p process) bool { return p.role == daemonRole && daemons[p.parent] })
}

// parentOf returns the parent of a process, or 0 if the process has ended.
func parentOf(pid int) int {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	// The format is: pid (name) state ppid. The name can contain any character, including
	// a parenthesis.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if err != nil || len(fields) < 2 {
		return 0
	}
	parent, err := strconv.Atoi(string(fields[1]))
	if err != nil {
		return 0
	}
	return parent
}

// of returns the processes with the given role.
func (a *arena) of(r role) []process {
	var out []process
	for _, p := range a.processes() {
		if p.role == r {
			out = append(out, p)
		}
	}
	return out
}

func (p process) kill()                     { syscall.Kill(p.pid, syscall.SIGKILL) }
func (p process) signal(sig syscall.Signal) { syscall.Kill(p.pid, sig) }
func (p process) String() string            { return fmt.Sprintf("%s %d %s", p.role, p.pid, p.args) }
