package lineage

import (
	"bytes"
	"fmt"
	"io/fs"
	"strconv"

	"golang.org/x/sys/unix"
)

// Parent returns the parent of a process: the process that started it or later adopted
// it. The error is [fs.ErrNotExist] if there is no process pid.
func Parent(pid int) (int, error) {
	data, err := read(pid, "stat")
	if err != nil {
		return 0, err
	}
	// The second field is the program's name in parentheses; see proc(5).
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	if len(fields) < 2 {
		return 0, fmt.Errorf("process %d: %w: unreadable stat", pid, fs.ErrInvalid)
	}
	return strconv.Atoi(string(fields[1]))
}

// Variable returns a variable of the environment with which a process was started, or ""
// if the variable is missing or the process belongs to another user.
func Variable(pid int, name string) string {
	block, err := read(pid, "environ")
	if err != nil {
		return ""
	}
	return value(block, name)
}

// read reads one of a process's files in /proc. It uses plain system calls because a send
// reads two files for each ancestor, and package os would first register each file with
// the poller.
func read(pid int, name string) ([]byte, error) {
	path := "/proc/" + strconv.Itoa(pid) + "/" + name
	fd, err := retryEINTR(func() (int, error) { return unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	data := make([]byte, 0, 4096)
	for {
		n, err := retryEINTR(func() (int, error) { return unix.Read(fd, data[len(data):cap(data)]) })
		if err != nil {
			return nil, &fs.PathError{Op: "read", Path: path, Err: err}
		}
		if data = data[:len(data)+n]; len(data) < cap(data) {
			return data, nil // a partly filled buffer means the end of the file
		}
		data = append(data, make([]byte, len(data))...)[:len(data)]
	}
}

// retryEINTR repeats a call until it is no longer interrupted by a signal.
func retryEINTR(call func() (int, error)) (n int, err error) {
	for {
		if n, err = call(); err != unix.EINTR {
			return n, err
		}
	}
}

// programOf returns the name of a process's program, or "".
func programOf(pid int) string {
	name, err := read(pid, "comm")
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(name))
}
