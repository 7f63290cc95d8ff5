package runner

import (
	"os"
	"testing"
)

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("42 (sh) S 1 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 12345 0 0"))
	f.Add([]byte("42 (a) b) (c)) Z 1 40 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 12345 0 7"))
	f.Add([]byte("42 (cut) S 1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, ok := parseStat(data)
		if ok && (s.parent < 0 || s.group < 0 || s.session < 0 || s.used < 0) {
			t.Errorf("parseStat(%q) = %+v, with a number below 0", data, s)
		}
	})
}

func TestParseStat(t *testing.T) {
	s, ok := parseStat([]byte("42 (a) b (c) Z 7 40 39 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 12345 9999 3 0\n"))
	if want := (processStat{pid: 42, parent: 7, group: 40, session: 39, start: 12345, dead: true, used: 26 * cpuTick, rss: 3 * int64(os.Getpagesize())}); !ok || s != want {
		t.Errorf("parseStat = %+v, %v, want %+v", s, ok, want)
	}
	if _, ok := parseStat([]byte("42 (cut) S 1 2 3")); ok {
		t.Error("a line that was cut off is taken for a complete one")
	}
}

// In a container, a client may belong to a session that was started outside the
// container. Inside the container, that session has the ID 0.
func TestASessionFromOutsideTheContainer(t *testing.T) {
	const ended = 1<<22 + 1 // above the maximum process ID on Linux
	r := newSearch("mark", processStat{pid: os.Getpid()})
	if !r.begins(processStat{pid: os.Getpid(), session: ended}) {
		t.Error("the session of a tool whose shell has ended is not the turn's")
	}
	if r.begins(processStat{pid: os.Getpid()}) {
		t.Error("the session of the client is the turn's")
	}
}
