package config

import (
	"math"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// TurnMemory is the amount of memory reserved for a running client, in bytes. Claude Code
// 2.1.197 uses 300 MB; the rest is for its tools.
const TurnMemory = 600_000_000

// DefaultRunning returns how many turns run at once if max_running is auto: two for each
// core, because a turn mostly waits for its model, but at most one for each [TurnMemory]
// bytes of memory, and at least one. A memory of 0 means unknown.
func DefaultRunning(cores int, memory uint64) int {
	most := max(1, 2*cores)
	if memory == 0 {
		return most
	}
	return max(1, int(min(uint64(most), memory/TurnMemory)))
}

// auto returns DefaultRunning for this machine.
func auto() int {
	memory := cgroupLimit("/proc/self/cgroup", "/sys/fs/cgroup")
	if total := totalMemory(); total > 0 {
		memory = min(memory, total)
	}
	if memory == math.MaxUint64 {
		memory = 0
	}
	return DefaultRunning(runtime.NumCPU(), memory)
}

// cgroupLimit returns the lowest memory limit of the control groups (version 2) of this
// process, in bytes, or math.MaxUint64 if no limit is set. For example, a container or a
// systemd unit with MemoryMax= has a limit.
func cgroupLimit(self, root string) uint64 {
	limit := uint64(math.MaxUint64)
	data, err := os.ReadFile(self)
	if err != nil {
		return limit
	}
	_, rest, found := strings.Cut("\n"+string(data), "\n0::")
	if !found {
		return limit
	}
	group, _, _ := strings.Cut(rest, "\n")
	for group = path.Clean("/" + group); ; group = path.Dir(group) {
		text, err := os.ReadFile(filepath.Join(root, group, "memory.max"))
		if err == nil {
			// The file contains the word "max" instead of a number if there is no limit.
			if n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil {
				limit = min(limit, n)
			}
		}
		if group == "/" {
			return limit
		}
	}
}
