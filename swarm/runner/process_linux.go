package runner

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// cpuTick is the unit of the times in /proc/PID/stat. It is 1/100 s on every Linux
// platform that Go supports (USER_HZ is part of the kernel's interface).
const cpuTick = 10 * time.Millisecond

// stat reads /proc/PID/stat; see proc(5).
func stat(pid int) (processStat, error) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if errors.Is(err, unix.ESRCH) {
		return processStat{}, fs.ErrNotExist // the process ended between open and read
	} else if err != nil {
		return processStat{}, err
	}
	s, ok := parseStat(data)
	if !ok {
		return processStat{}, fmt.Errorf("process %d: %w: unreadable stat", pid, fs.ErrInvalid)
	}
	return s, nil
}

// parseStat reads one line of /proc/PID/stat. The second field is the program's name in
// parentheses, which may itself contain spaces and parentheses.
func parseStat(data []byte) (s processStat, ok bool) {
	open, end := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')')
	if open < 1 || end < open {
		return s, false
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(data[:open])))
	if err != nil {
		return s, false
	}
	fields := bytes.Fields(data[end+1:])
	if len(fields) < 22 { // the last field that we need is rss, field 24 of the line
		return s, false
	}
	number := func(field int) uint64 { // numbered as in proc(5)
		n, perr := strconv.ParseInt(string(fields[field-3]), 10, 64)
		if perr != nil {
			err = perr
		}
		return uint64(max(n, 0))
	}
	state := fields[0][0]
	s = processStat{
		pid:     pid,
		parent:  int(number(4)),
		group:   int(number(5)),
		session: int(number(6)),
		dead:    state == 'Z' || state == 'X',
		used:    time.Duration(number(14)+number(15)+number(16)+number(17)) * cpuTick,
		rss:     int64(number(24)) * int64(os.Getpagesize()),
	}
	start, perr := strconv.ParseUint(string(fields[19]), 10, 64)
	s.start = start
	return s, err == nil && perr == nil
}
