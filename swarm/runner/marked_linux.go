package runner

import (
	"bytes"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// pids are the numbers of the processes that there are.
func pids() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // what was read before an error is better than nothing
	numbers := make([]int, 0, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			numbers = append(numbers, pid)
		}
	}
	return numbers
}

// An environReader reads environments into one buffer.
type environReader struct{ buf []byte }

// carries reports whether a process was started with this entry in its
// environment. Of another user's process it knows nothing.
func (r *environReader) carries(pid int, entry []byte) bool {
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/environ", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	if r.buf == nil {
		r.buf = make([]byte, 16<<10)
	}
	used := 0
	for {
		n, err := unix.Read(fd, r.buf[used:])
		if err == unix.EINTR {
			continue
		}
		if n <= 0 || err != nil {
			break
		}
		if used += n; used == len(r.buf) {
			r.buf = append(r.buf, make([]byte, len(r.buf))...)
		}
	}
	return bytes.Contains(r.buf[:used], entry) && hasEntry(r.buf[:used], entry)
}
