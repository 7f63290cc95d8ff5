package runner

import (
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// CPUTime is the processor time that the running processes with this mark have
// used so far, as ps tells it: the kernel tells it to privileged programs only.
func CPUTime(mark string) time.Duration {
	var numbers []string
	eachMarked(mark, func(s processStat) { numbers = append(numbers, strconv.Itoa(s.pid)) })
	if len(numbers) == 0 {
		return 0
	}
	// ps exits 1 when one of them has ended meanwhile; the others are listed.
	out, _ := exec.Command("/bin/ps", "-o", "time=", "-p", strings.Join(numbers, ",")).Output()
	var used time.Duration
	for line := range strings.Lines(string(out)) {
		used += parseClock(strings.TrimSpace(line))
	}
	return used
}

// parseClock reads "12:34.56" and "1:12:34.56".
func parseClock(s string) time.Duration {
	var total float64
	for part := range strings.SplitSeq(s, ":") {
		n, err := strconv.ParseFloat(part, 64)
		if err != nil {
			return 0
		}
		total = total*60 + n
	}
	return time.Duration(total * float64(time.Second))
}
