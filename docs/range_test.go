package docs_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/runner/claude"
)

// The pages where readers look for the supported versions must name the supported range.
func TestPagesNameTheRange(t *testing.T) {
	for _, page := range []string{"../README.md", "quickstart.md", "troubleshooting.md", "dev/compatibility.md"} {
		if !strings.Contains(read(t, page), claude.Supported) {
			t.Errorf("%s does not name the supported range, %s", page, claude.Supported)
		}
	}
}

var versionRange = regexp.MustCompile(`\b\d+\.\d+\.\d+ to \d+\.\d+\.\d+\b`)

// No page may name a different range.
func TestNoPageNamesAnotherRange(t *testing.T) {
	for _, page := range pages(t) {
		for _, found := range versionRange.FindAllString(read(t, page), -1) {
			if found != claude.Supported {
				t.Errorf("%s names the range %s, want %s", page, found, claude.Supported)
			}
		}
	}
}
