package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// Every flag of every verb that names something, or that has a number or a time, refuses an
// empty value, as in --thread "$id" with an unset variable, before the verb does anything. Only
// flags with text may be empty.
func TestEmptyFlags(t *testing.T) {
	t.Chdir(t.TempDir())
	flags, verbs := 0, 0
	refuses := func(line ...string) {
		t.Helper()
		flags++
		for _, blank := range []string{"", " "} {
			var out, errs bytes.Buffer
			args := append([]string{"claude-swarm"}, append(slices.Clone(line), blank)...)
			if i := len(line); line[i-1] == "--wait" { // without =, the value is the message's text
				args = append(args[:i], "--wait="+blank)
			}
			code := run(args, strings.NewReader(""), &out, &errs)
			if code != exitUsage || out.Len() > 0 || !strings.Contains(errs.String(), line[len(line)-1]) || !strings.Contains(errs.String(), "\n  try: ") {
				t.Errorf("%q = %d, want %d: %s%s", args, code, exitUsage, &out, &errs)
			}
		}
	}
	each(commandsFor(nil), "", func(c *cli.Command, name string) {
		if c.Action == nil {
			return
		}
		verbs++
		for _, f := range c.Flags {
			flag := f.Names()[0]
			if _, ok := f.(*cli.BoolFlag); ok || slices.Contains(textFlags, flag) {
				continue
			}
			refuses(append(strings.Fields(name), dashes(flag))...)
		}
	})
	if flags < 55 || verbs < 50 {
		t.Errorf("%d flags of %d verbs", flags, verbs)
	}
}
