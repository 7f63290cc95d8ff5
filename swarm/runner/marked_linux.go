package runner

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// pids returns the IDs of all processes.
func pids() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // after an error, a partial list is better than no list
	numbers := make([]int, 0, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			numbers = append(numbers, pid)
		}
	}
	return numbers
}

// newestPID returns the ID of the process that was started last; see proc_loadavg(5).
func newestPID() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	return string(data[bytes.LastIndexByte(data, ' ')+1:])
}

// An environReader reads environments into a reusable buffer.
type environReader struct{ buf []byte }

// A process has no readable environment during exec. This state usually lasts a few
// microseconds, but longer on a busy machine. In the last few microseconds of exec, the
// environment appears to be empty. After execPatience, or if the environment has appeared
// empty for emptyPatience, the process is treated as having no mark.
const (
	execPatience  = 50 * time.Millisecond
	emptyPatience = 5 * time.Millisecond
)

// carries reports whether a process was started with this entry in its environment. It
// returns false for another user's process.
func (r *environReader) carries(pid int, entry []byte) bool {
	dir := "/proc/" + strconv.Itoa(pid)
	began := time.Now()
	for since := began; ; time.Sleep(50 * time.Microsecond) {
		block, err := r.read(dir + "/environ")
		switch {
		case err != nil:
			return false
		case len(block) > 0:
			return bytes.Contains(block, entry) && hasEntry(block, entry)
		}
		// A process that has ended, a kernel thread, and a process in exec all have no
		// environment. Of these three, only the process in exec has an executable.
		var to [1]byte
		if _, err := unix.Readlink(dir+"/exe", to[:]); err != nil {
			return false
		}
		if !emptied(dir) {
			since = time.Now()
		}
		if time.Since(since) > emptyPatience || time.Since(began) > execPatience {
			return false
		}
	}
}

// emptied reports whether a process was started without any environment variables. In
// that case, /proc/PID/stat contains the same address for the start and the end of the
// environment.
func emptied(dir string) bool {
	data, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return true
	}
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	const envStart, envEnd = 50 - 3, 51 - 3 // counted from the field state; see proc(5)
	return len(fields) > envEnd && string(fields[envEnd]) != "0" && bytes.Equal(fields[envStart], fields[envEnd])
}

// read reads a file of any size into the buffer.
func (r *environReader) read(path string) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	if r.buf == nil {
		r.buf = make([]byte, 16<<10)
	}
	for used := 0; ; {
		n, err := unix.Read(fd, r.buf[used:])
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return nil, err
		case n <= 0:
			return r.buf[:used], nil
		}
		if used += n; used == len(r.buf) {
			r.buf = append(r.buf, make([]byte, len(r.buf))...)
		}
	}
}
