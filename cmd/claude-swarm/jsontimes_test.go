package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/urfave/cli/v2"
)

// checkTimes is the script command times. It checks the JSON that was printed last: each
// time is RFC 3339 in UTC, and no number is a time, except last_activation of status,
// which the protocol documents.
func checkTimes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: times")
	}
	dec := json.NewDecoder(strings.NewReader(ts.ReadFile("stdout")))
	found := 0
	for {
		var v any
		err := dec.Decode(&v)
		if errors.Is(err, io.EOF) {
			break
		}
		ts.Check(err)
		found++
		for _, wrong := range wrongTimes("", v) {
			ts.Fatalf("%s", wrong)
		}
	}
	if found == 0 {
		ts.Fatalf("no JSON was printed")
	}
}

// looksLikeTime matches a string that is a date with a time, in any format.
var looksLikeTime = regexp.MustCompile(`^\d{4}-\d\d-\d\d[ T]\d\d:\d\d|^\w{3},? \d{1,2} \w{3} \d{4}|^\d\d:\d\d(:\d\d)?$`)

// timeKeys matches the keys whose values are times.
var timeKeys = regexp.MustCompile(`^(at|since|until|created|begun|ended|expires|time|timestamp|asked|settled|next_try)$|_(at|since|until)$`)

// wrongTimes returns what is wrong with the times in a value.
func wrongTimes(path string, v any) (wrong []string) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			wrong = append(wrong, wrongTimes(path+"."+key, value)...)
		}
	case []any:
		for i, value := range v {
			wrong = append(wrong, wrongTimes(fmt.Sprintf("%s[%d]", path, i), value)...)
		}
	case string:
		key := path[strings.LastIndex(path, ".")+1:]
		if _, err := time.Parse(time.RFC3339, v); (err != nil || !strings.HasSuffix(v, "Z")) && v != "" && (looksLikeTime.MatchString(v) || timeKeys.MatchString(key)) {
			wrong = append(wrong, fmt.Sprintf("%s is %q, want RFC 3339 in UTC", path, v))
		}
	case float64:
		unix := v > 1e9 && v < 1e10 || v > 1e12 && v < 1e13 || v > 1e15 && v < 1e16 || v > 1e18 && v < 1e19
		if unix && !strings.HasSuffix(path, ".last_activation") {
			wrong = append(wrong, fmt.Sprintf("%s is %f, which is a time since 1970", path, v))
		}
	}
	return wrong
}

// The script command times finds each kind of wrong time.
func TestWrongTimes(t *testing.T) {
	for text, want := range map[string]int{
		`{"at": "2026-11-28T21:00:00.5Z", "cost": 12.5, "last_activation": 1795900000.5, "since": null, "text": "at 21:00"}`: 0,
		`{"a": [{"at": "2026-11-28T21:00:00+01:00"}]}`: 1,
		`{"when": "2026-11-28 21:00:00"}`:              1,
		`{"when": "21:00"}`:                            1,
		`{"until": "in an hour"}`:                      1,
		`{"when": 1795900000}`:                         1,
		`{"when": 1795900000000.0}`:                    1,
	} {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		if got := wrongTimes("", v); len(got) != want {
			t.Errorf("%s: %q, want %d", text, got, want)
		}
	}
}

// The script json-times runs every verb that has --json, except those that need a server,
// a session, the real client or a commit.
func TestEveryVerbWithJSONIsInTheScript(t *testing.T) {
	script, err := os.ReadFile("testdata/script/json-times.txtar")
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := []string{"irc", "attach", "compat", "verify"}
	var walk func(prefix string, all []*cli.Command)
	walk = func(prefix string, all []*cli.Command) {
		for _, c := range all {
			name := strings.TrimSpace(prefix + " " + c.Name)
			if c.Hidden || slices.Contains(elsewhere, strings.Fields(name)[0]) {
				continue
			}
			has := slices.ContainsFunc(c.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), "json") })
			if runs := regexp.MustCompile(`(?m)^exec claude-swarm ` + name + `\b.*--json.*\n(stdout .*\n)*times$`); has && !runs.Match(script) {
				t.Errorf("%s --json is not in the script, followed by times", name)
			}
			walk(name, c.Subcommands)
		}
	}
	walk("", commandsFor(nil))
}
