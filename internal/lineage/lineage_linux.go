package lineage

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"strconv"
)

// Parent is the process that a process belongs to: the one that started it, or the
// one that adopted it. The error is [fs.ErrNotExist] when there is no such process.
func Parent(pid int) (int, error) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, err
	}
	// The second field is the program's name in parentheses, see proc(5).
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	if len(fields) < 2 {
		return 0, fmt.Errorf("process %d: %w: unreadable stat", pid, fs.ErrInvalid)
	}
	return strconv.Atoi(string(fields[1]))
}

// Variable is the value of a variable in the environment that a process was started
// with; "" when it had none, or is another user's.
func Variable(pid int, name string) string {
	block, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return ""
	}
	return value(block, name)
}
