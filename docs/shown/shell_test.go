package shown_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var shellBlock = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")

// The commands on the pages about topics and attached sessions must work, line by line, in
// a new project with a daemon. The test does not start a session; it checks that the plugin
// exists.
func TestWhatPagesTellToType(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	parallel(t)
	for page, least := range map[string]int{"topics.md": 5, "attach.md": 2} {
		t.Run(page, func(t *testing.T) {
			parallel(t)
			c := newConsole(t)
			for _, line := range []string{"claude-swarm init", "claude-swarm start"} {
				if out, err := c.run(t.Context(), line); err != nil {
					t.Fatalf("%s: %v\n%s", line, err, out)
				}
			}
			typed := 0
			for _, block := range shellBlock.FindAllStringSubmatch(read(t, "../"+page), -1) {
				if language := block[1]; language != "" && language != "sh" {
					continue
				}
				for line := range strings.Lines(block[2]) {
					line = strings.TrimSpace(line)
					typed++
					if plugin, ok := strings.CutPrefix(line, "claude --plugin-dir "); ok {
						if _, err := os.Stat(filepath.Join(c.dir, plugin, ".claude-plugin/plugin.json")); err != nil {
							t.Errorf("%s starts a session with a plugin that is not there: %v", page, err)
						}
						continue
					}
					if out, err := c.run(t.Context(), line); err != nil {
						t.Errorf("%s says %q: %v\n%s", page, line, err, out)
					}
				}
			}
			if typed < least {
				t.Errorf("%s tells to type %d lines, want at least %d", page, typed, least)
			}
			c.quiet()
			if out, err := c.run(t.Context(), "claude-swarm stop"); err != nil {
				t.Errorf("stop: %v\n%s", err, out)
			}
		})
	}
}
