package bridge

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

func addLines(t *testing.T, r *buffer, from, to int) {
	t.Helper()
	for i := from; i <= to; i++ {
		if added, err := r.add(Line{At: time.Now(), Channel: "#c", Nick: "ann", Text: fmt.Sprintf("line %d", i)}); err != nil || !added {
			t.Fatalf("add line %d = %v, %v", i, added, err)
		}
	}
}

func texts(lines []Line) string {
	var all []string
	for _, l := range lines {
		all = append(all, strings.TrimPrefix(l.Text, "line "))
	}
	return strings.Join(all, " ")
}

func newBuffer(t *testing.T, home, channel string, size int) *buffer {
	t.Helper()
	r, err := openBuffer(home, channel, size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.close() })
	return r
}

func TestReaderGetsEachLineOnce(t *testing.T) {
	home := t.TempDir()
	reader := Reader{Dir: home, Name: "coder", Size: 5}
	if got, err := reader.New("#C", 0); err != nil || len(got.Lines) > 0 || got.Dropped > 0 {
		t.Fatalf("New of nothing = %+v, %v", got, err)
	}
	r := newBuffer(t, home, "#c", 5)
	addLines(t, r, 1, 3)
	for _, step := range []struct {
		limit, dropped, left int
		want                 string
		then                 int // lines that arrive after this step
	}{
		{2, 0, 1, "1 2", 3},
		{0, 0, 0, "3 4 5 6", 6},
		{3, 1, 2, "8 9 10", 7}, // line 7 arrived, but only the last 5 lines are kept
		{0, 4, 0, "15 16 17 18 19", 5},
		{0, 0, 0, "20 21 22 23 24", 0},
		{0, 0, 0, "", 0},
	} {
		got, err := reader.New("#C", step.limit)
		if err != nil {
			t.Fatal(err)
		}
		if texts(got.Lines) != step.want || got.Dropped != step.dropped || got.Left != step.left {
			t.Errorf("New(%d) = %q, %d dropped, %d left, want %q, %d, %d", step.limit, texts(got.Lines), got.Dropped, got.Left, step.want, step.dropped, step.left)
		}
		addLines(t, r, int(r.last)+1, int(r.last)+step.then)
	}
	if got, err := (Reader{Dir: home, Name: "tester", Size: 5}).New("#c", 0); err != nil || texts(got.Lines) != "20 21 22 23 24" || got.Dropped != 19 {
		t.Errorf("New of another reader = %q, %d dropped, %v", texts(got.Lines), got.Dropped, err)
	}
}

func TestReaderLooksWithoutMarking(t *testing.T) {
	home := t.TempDir()
	r := newBuffer(t, home, "#c", 0)
	addLines(t, r, 1, 4)
	reader := Reader{Dir: home, Name: "coder"}
	for range 2 {
		got, err := reader.Recent("#c", time.Time{}, 2)
		if err != nil || texts(got) != "4 3" {
			t.Errorf("Recent = %q, %v, want 4 3", texts(got), err)
		}
	}
	all, err := reader.Recent("#c", time.Time{}, 0)
	if err != nil || len(all) != 4 {
		t.Fatalf("Recent = %d lines, %v, want 4", len(all), err)
	}
	if got, err := reader.Recent("#c", all[1].At, 0); err != nil || texts(got) != "4" {
		t.Errorf("Recent since line 3 = %q, %v, want 4", texts(got), err)
	}
	unread, err := reader.Unread()
	if err != nil || unread["#c"] != 4 {
		t.Errorf("Unread = %v, %v, want 4 in #c", unread, err)
	}
	if _, err := reader.New("#c", 3); err != nil {
		t.Fatal(err)
	}
	if unread, err := reader.Unread(); err != nil || unread["#c"] != 1 {
		t.Errorf("Unread after 3 = %v, %v, want 1", unread, err)
	}
}

func TestBufferOutlivesACrash(t *testing.T) {
	home := t.TempDir()
	r := newBuffer(t, home, "#c", 500)
	addLines(t, r, 1, 3)
	if _, err := r.add(Line{Channel: "#c", Text: "line 4", MsgID: "m4"}); err != nil {
		t.Fatal(err)
	}
	r.close()
	f, err := os.OpenFile(r.path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"n":5,"text":"half a li`); err != nil {
		t.Fatal(err)
	}
	f.Close()

	r = newBuffer(t, home, "#c", 500)
	if added, err := r.add(Line{Channel: "#c", Text: "line 4", MsgID: "m4"}); added || err != nil {
		t.Errorf("add of a known msgid = %v, %v, want not added", added, err)
	}
	addLines(t, r, 5, 6)
	got, err := Reader{Dir: home, Name: "x"}.New("#c", 0)
	if err != nil || texts(got.Lines) != "1 2 3 4 5 6" || got.Lines[4].N != 5 {
		t.Errorf("New after a crash = %q, %v", texts(got.Lines), err)
	}
}

func TestBufferIsRewrittenAtTwiceItsSize(t *testing.T) {
	home := t.TempDir()
	r := newBuffer(t, home, "#c", 10)
	addLines(t, r, 1, 2*remembered+5)
	data, err := os.ReadFile(r.path)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(data), "\n"); got != remembered+5 || r.lines != got {
		t.Errorf("the file has %d lines, and is said to have %d, want %d", got, r.lines, remembered+5)
	}
	got, err := Reader{Dir: home, Name: "x", Size: 2}.Recent("#c", time.Time{}, 0)
	if err != nil || texts(got) != fmt.Sprintf("%d %d", 2*remembered+5, 2*remembered+4) {
		t.Errorf("Recent = %q, %v", texts(got), err)
	}
	left, err := os.ReadDir(home + "/buffer")
	if err != nil || len(left) != 1 {
		t.Errorf("in the folder: %v, %v, want one file", left, err)
	}
}

func TestFileNamesStayInTheirFolder(t *testing.T) {
	seen := map[string]string{}
	for _, name := range []string{"#c", "c", "../../etc/passwd", "/", "..", "", "#a/b", "%23c", "#\x00", "#" + strings.Repeat("ü", 200), "#" + strings.Repeat("ü", 201), "CON", "a.b"} {
		got := fileName(name)
		if strings.ContainsAny(got, "/\x00.") || len(got) > 210 {
			t.Errorf("fileName(%q) = %q", name, got)
		}
		if other, ok := seen[got]; ok {
			t.Errorf("fileName(%q) = fileName(%q) = %q", name, other, got)
		}
		seen[got] = name
	}
	if fileName("#Ab") != fileName("#aB") {
		t.Error("the case of a channel makes two files")
	}
}

type foldASCII struct{}

func (foldASCII) Fold(s string) string  { return strings.ToLower(s) }
func (foldASCII) Same(a, b string) bool { return strings.EqualFold(a, b) }

func TestRightsOf(t *testing.T) {
	permits := []Permit{
		{Account: "Ann", May: []Right{Talk, Tasks}},
		{Mask: "*!*@*.office.example", May: []Right{Talk}},
		{Mask: "boss!~boss@10.0.0.?", May: []Right{Control}},
		{Nick: "joe", May: []Right{Talk}},
	}
	for name, tc := range map[string]struct {
		who  Person
		addr string
		want []Right
	}{
		"account":                 {Person{"x", "u", "h", "ann"}, "irc.example", []Right{Talk, Tasks}},
		"no account":              {Person{"ann", "ann", "h", ""}, "irc.example", nil},
		"star account":            {Person{"ann", "ann", "h", "*"}, "irc.example", nil},
		"account's nick":          {Person{"ann", "u", "h", "eve"}, "irc.example", nil},
		"mask":                    {Person{"any", "u", "pc7.OFFICE.example", ""}, "irc.example", []Right{Talk}},
		"mask of another":         {Person{"any", "u", "office.example.evil.org", ""}, "irc.example", nil},
		"mask and account":        {Person{"any", "u", "pc7.office.example", "ann"}, "irc.example", []Right{Talk, Tasks}},
		"question mark":           {Person{"boss", "~boss", "10.0.0.7", ""}, "irc.example", []Right{Control}},
		"question mark is one":    {Person{"boss", "~boss", "10.0.0.77", ""}, "irc.example", nil},
		"user is not nick":        {Person{"eve!~boss", "x", "10.0.0.7", ""}, "irc.example", nil},
		"nick on this machine":    {Person{"JOE", "u", "h", ""}, "127.0.0.1:6667", []Right{Talk}},
		"nick on another machine": {Person{"joe", "u", "h", ""}, "irc.example:6667", nil},
		"a server called joe":     {Person{"joe", "", "", ""}, "localhost:6667", nil},
		"nobody":                  {Person{}, "localhost", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := rightsOf(permits, tc.who, foldASCII{}, tc.addr); !slices.Equal(got, tc.want) {
				t.Errorf("rightsOf(%+v at %s) = %v, want %v", tc.who, tc.addr, got, tc.want)
			}
		})
	}
}

func TestMatchMask(t *testing.T) {
	for _, tc := range []struct {
		pattern, s string
		want       bool
	}{
		{"", "", true}, {"*", "", true}, {"?", "", false}, {"a*", "a", true}, {"a*b*c", "aXbYc", true}, {"a*b*c", "acb", false},
		{"*a*a*a*b", strings.Repeat("a", 300), false}, {"**x", "x", true}, {"a?c", "abc", true}, {"a?c", "ac", false}, {"abc", "abcd", false},
	} {
		if got := matchMask(tc.pattern, tc.s); got != tc.want {
			t.Errorf("matchMask(%q, %.20q) = %v, want %v", tc.pattern, tc.s, got, tc.want)
		}
	}
}

func TestOneBridgeAtATime(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	home := t.TempDir()
	if st, err := ReadState(home); err != nil || st.Running || st.V != 0 {
		t.Errorf("ReadState of nothing = %+v, %v", st, err)
	}
	release, err := lock(home)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock(home); err == nil {
		t.Error("lock while it is held = nil, want an error")
	}
	if err := writeState(home, State{Nick: "swarm", Waiting: 3}); err != nil {
		t.Fatal(err)
	}
	if st, err := ReadState(home); err != nil || !st.Running || st.Nick != "swarm" || st.Waiting != 3 {
		t.Errorf("ReadState = %+v, %v", st, err)
	}
	// The state also gives a reason while the first attempt to connect is in progress.
	if st, err := ReadState(home); err != nil || st.Connected || st.Why == "" {
		t.Errorf("a bridge that connects for the first time: %+v, %v, want a reason", st, err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if st, err := ReadState(home); err != nil || st.Running {
		t.Errorf("ReadState after the end: running %v, %v", st.Running, err)
	}
	if release, err = lock(home); err != nil {
		t.Fatalf("lock again: %v", err)
	}
	release()
}
