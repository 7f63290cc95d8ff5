package main

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Every verb pays for what the packages make ready at the start, so none of ours does
// more there than lay out its tables: regular expressions wait until they are needed.
func TestStartMakesLittleReady(t *testing.T) {
	const most = 16 << 10 // bytes for a package; the tables of the configuration take 5 KiB
	made := regexp.MustCompile(`(?m)^init (github\.com/claude-swarm/claude-swarm/\S+) .*, (\d+) bytes`)
	ran := runIn(t, t.TempDir(), []string{"GODEBUG=inittrace=1"}, "version")
	seen := made.FindAllStringSubmatch(ran.Stderr, -1)
	if ran.Status != 0 || len(seen) < 5 {
		t.Fatalf("version made %d packages ready, too few for this test to say anything: %+v", len(seen), ran)
	}
	for _, m := range seen {
		if strings.HasSuffix(m[1], "/cmd/claude-swarm") { // with what its tests make ready
			continue
		}
		if bytes, err := strconv.Atoi(m[2]); err != nil || bytes > most {
			t.Errorf("package %s takes %s bytes at the start, more than %d", m[1], m[2], most)
		}
	}
}
