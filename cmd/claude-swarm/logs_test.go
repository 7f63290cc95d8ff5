package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// On a terminal, text is shown while the agent is writing it, and the finished line adds
// only the missing part.
func TestLogPrinter(t *testing.T) {
	const head = "04:51:02 coder k7f3q9m2xd  "
	at := time.Date(2026, 11, 21, 4, 51, 2, 0, time.Local)
	for name, tc := range map[string]struct {
		steps []string // "…text" is a piece of text; all other steps are lines of the log
		want  string
	}{
		"a line":                    {[]string{head + "hello\n"}, head + "hello\n"},
		"text, then its line":       {[]string{"…hel", "…lo", head + "hello\n"}, head + "hello\n"},
		"the line has more":         {[]string{"…hel", head + "hello world\n"}, head + "hello world\n"},
		"several lines of text":     {[]string{"…one\n", "…two", head + "one\n    two\n"}, head + "one\n    two\n"},
		"whitespace at its end":     {[]string{"…hello\n\n", head + "hello\n"}, head + "hello\n    \n    \n"},
		"the line has another text": {[]string{"…hel", head + "$ Bash ls\n"}, head + "hel\n" + head + "$ Bash ls\n"},
		"nothing but whitespace":    {[]string{"…\n ", "…hello", head + "hello\n"}, head + "hello\n"},
		"empty lines before it":     {[]string{"…\n\nhel", "…lo", head + "\n    \n    hello\n"}, head + "hello\n"},
		"a space at its end":        {[]string{"…hello \n", head + "hello \n"}, head + "hello \n    \n"},
		"what steers a terminal":    {[]string{"…a\x1b[2Jb", head + "a\x1b[2Jb\n"}, head + "a[2Jb\n"},
		"no line of ours":           {[]string{"rubbish\n"}, "rubbish\n"},
		"two entries":               {[]string{head + "a\n    b\n" + head + "= done\n"}, head + "a\n    b\n" + head + "= done\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			l := &logPrinter{w: &out, live: true, agent: "coder"}
			for _, step := range tc.steps {
				if text, ok := strings.CutPrefix(step, "…"); ok {
					l.partial(swarm.FeedEvent{Kind: swarm.FeedPartial, At: at, Agent: "coder", ID: "k7f3q9m2xd", Text: text})
				} else {
					l.lines([]byte(step))
				}
			}
			if diff := cmp.Diff(tc.want, out.String()); diff != "" {
				t.Errorf("after %q (-want +got):\n%s", tc.steps, diff)
			}
		})
	}
}

// Text is shown in full and only once, even if the log keeps only its beginning.
func TestLogPrinterOfLongText(t *testing.T) {
	var out bytes.Buffer
	l := &logPrinter{w: &out, live: true, agent: "coder"}
	told := func(_ time.Time, _, entry string) { l.lines([]byte(entry)) }
	d := journal.OpenAgentLog(journal.HomeOf(t.TempDir()), "coder", journal.LogPolicy{}, told, func(err error) { t.Error(err) })
	defer d.Close()
	text := strings.Repeat("a line\n", 4000) + "the end"
	l.partial(swarm.FeedEvent{Kind: swarm.FeedPartial, Agent: "coder", ID: "k7f3q9m2xd", Text: text})
	d.Line("k7f3q9m2xd", text)
	d.Line("k7f3q9m2xd", "= done")
	_, got, _ := strings.Cut(out.String(), "k7f3q9m2xd  ")
	got, last, _ := strings.Cut(got, "the end\n")
	if strings.Count(got, "a line") != 4000 || strings.Contains(last, "a line") || !strings.HasSuffix(last, "k7f3q9m2xd  = done\n") {
		t.Errorf("the text is not shown once; %d lines of it, then %.200q", strings.Count(got, "a line"), last)
	}
}

// Text is shown only once, even if its line is read from the file before the daemon's
// events for the text arrive. In most of these cases, some of the events arrive after the
// line is read.
func TestLogFollowLateText(t *testing.T) {
	const head = "04:51:02 coder k7f3q9m2xd  "
	text := func(s string) swarm.FeedEvent {
		return swarm.FeedEvent{Kind: swarm.FeedPartial, At: time.Date(2026, 11, 21, 4, 51, 2, 0, time.Local), Agent: "coder", ID: "k7f3q9m2xd", Text: s}
	}
	line := func(s string) swarm.FeedEvent {
		return swarm.FeedEvent{Kind: swarm.FeedLine, Agent: "coder", ID: "k7f3q9m2xd", Text: head + s + "\n"}
	}
	lost := swarm.FeedEvent{Kind: swarm.FeedLost, Count: 2}
	type (
		rotate struct{}
		tick   struct{}
	)
	for name, tc := range map[string]struct {
		steps []any  // a string is a line that is added to the file
		want  string // the expected output, without the head of each line
	}{
		"in time":                  {[]any{text("hel"), text("lo"), "hello", line("hello"), text("wor"), "world", line("world")}, "hello\nworld\n"},
		"all of it":                {[]any{"hello", tick{}, text("hel"), text("lo"), line("hello")}, "hello\n"},
		"the end of it":            {[]any{text("hel"), "hello", tick{}, text("lo"), line("hello")}, "hello\n"},
		"the text after it":        {[]any{"hello", tick{}, text("hello"), line("hello"), text("wor"), "world", line("world")}, "hello\nworld\n"},
		"read with the line above": {[]any{text("a"), "a", "b", line("a"), text("b"), line("b"), text("c"), "c", line("c")}, "a\nb\nc\n"},
		"two lines alike":          {[]any{"a", "a", tick{}, text("a"), line("a"), text("a"), line("a"), text("b"), "b", line("b")}, "a\na\nb\n"},
		"of several lines":         {[]any{"one\n    two", tick{}, text("one\ntwo"), line("one\n    two")}, "one\n    two\n"},
		"behind a line by hand":    {[]any{"by hand", tick{}, "hello", line("hello"), text("wor"), "world", line("world")}, "by hand\nhello\nworld\n"},
		"rotated before the tick":  {[]any{"a", tick{}, "b", rotate{}, "c", tick{}, text("a"), line("a"), text("b"), line("b"), text("c"), line("c"), text("d"), "d", line("d")}, "a\nb\nc\nd\n"},
		"rotated after the tick":   {[]any{"a", tick{}, rotate{}, text("a"), line("a"), text("b"), "b", line("b")}, "a\nb\n"},
		"the middle of it lost":    {[]any{text("hel"), lost, text("wor"), text("ld"), "hello world", line("hello world"), text("b"), "b", line("b")}, "hello world\nb\n"},
		"its line lost, too":       {[]any{text("hel"), "hello", lost, text("wor"), "world", line("world"), text("b"), "b", line("b")}, "hello\nworld\nb\n"},
		"a line before the events": {[]any{"a", tick{}, text("b"), "b", line("b"), text("c"), "c", line("c")}, "a\nb\nc\n"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log")
			var out bytes.Buffer
			l, file := &logPrinter{w: &out, live: true, agent: "coder"}, &tail{path: path}
			defer func() { file.close() }()
			ctx, cancel := context.WithCancel(t.Context())
			events, ticks, read, ended := make(chan swarm.FeedEvent), make(chan time.Time), make(chan bool), make(chan error)
			go func() {
				ended <- readOn(ctx, events, ticks, l.told, func() error {
					defer func() { read <- true }()
					return l.more(file)
				})
			}()
			for _, step := range tc.steps {
				switch step := step.(type) {
				case string:
					appendTo(t, path, head+step+"\n")
				case swarm.FeedEvent:
					events <- step
					if step.Kind != swarm.FeedPartial {
						<-read
					}
				case tick:
					ticks <- time.Now()
					<-read
				case rotate:
					rename(t, path)
				}
			}
			cancel()
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, strings.ReplaceAll(out.String(), head, "")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	tl, lines, err := openTail(path, 0, 10)
	if err != nil || len(lines) != 0 {
		t.Fatalf("openTail of a missing file = %q, %v, want nothing", lines, err)
	}
	defer func() { tl.close() }()
	for i, step := range []struct {
		do   func()
		want string
	}{
		{func() {}, ""},
		{func() { appendTo(t, path, "a\nb\n") }, "a\nb\n"},
		{func() { appendTo(t, path, "half") }, ""},
		{func() { appendTo(t, path, " whole\n") }, "half whole\n"},
		{func() { appendTo(t, path, "last\n"); rename(t, path); appendTo(t, path, "first\n") }, "last\nfirst\n"},
		{func() { rename(t, path) }, ""},
		{func() { appendTo(t, path, "again\n") }, "again\n"},
		{func() {
			if err := os.Truncate(path, 0); err != nil {
				t.Fatal(err)
			}
			appendTo(t, path, "cut\n")
		}, "cut\n"},
	} {
		step.do()
		got, err := tl.more()
		if err != nil || string(got) != step.want {
			t.Errorf("step %d: more() = %q, %v, want %q", i, got, err, step.want)
		}
	}
}

// A line that is added just before a rotation is not lost, regardless of when the tail
// reads the file.
func TestTailAtARotation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	appendTo(t, path, "begin\n")
	tl, _, err := openTail(path, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { tl.close() }()
	for n := range 300 {
		rotated := make(chan struct{})
		go func() { // the loop below waits for this goroutine
			defer close(rotated)
			appendTo(t, path, fmt.Sprintf("before %d\n", n))
			rename(t, path)
			appendTo(t, path, fmt.Sprintf("after %d\n", n))
		}()
		var got []byte
		for over := false; !over; {
			select {
			case <-rotated:
				over = true // the rotation is complete, so only one more read is needed
			default:
			}
			more, err := tl.more()
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, more...)
		}
		if want := fmt.Sprintf("before %d\nafter %d\n", n, n); string(got) != want {
			t.Fatalf("more() = %q, want %q", got, want)
		}
	}
}

func rename(t *testing.T, path string) {
	t.Helper()
	if err := os.Rename(path, fmt.Sprintf("%s.%d", path, time.Now().UnixNano())); err != nil {
		t.Fatal(err)
	}
}

func TestLastLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	var all []string
	for i := range 20_000 { // more than lastLines reads in one step
		all = append(all, fmt.Sprintf("line %d\n", i))
	}
	appendTo(t, path, strings.Join(all, "")+"cut")
	for _, n := range []int{0, 1, 50, 19_999, 20_000, 30_000} {
		tl, got, err := openTail(path, 0, n)
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.Join(all[len(all)-min(n, len(all)):], ""); string(got) != want {
			t.Errorf("the last %d lines are %d bytes, want %d", n, len(got), len(want))
		}
		if err := tl.close(); err != nil {
			t.Fatal(err)
		}
	}
	tl, _, err := openTail(path, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer tl.close()
	appendTo(t, path, " and whole\n")
	if got, err := tl.more(); err != nil || string(got) != "cut and whole\n" {
		t.Errorf("more() = %q, %v, want the line that was cut", got, err)
	}
	for from, want := range map[int64]string{int64(len("line 0\n")): "line 1\n", int64(len(strings.Join(all[:19_998], ""))): "line 19998\n"} {
		tl, got, err := openTail(path, from, 1_000_000)
		if err != nil || !strings.HasPrefix(string(got), want) {
			t.Errorf("the lines behind %d bytes begin with %.20q, %v, want %q", from, got, err, want)
		}
		if err := tl.close(); err != nil {
			t.Fatal(err)
		}
	}
}
