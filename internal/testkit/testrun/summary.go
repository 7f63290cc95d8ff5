package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// An event is a line of `go test -json`; `go doc test2json` describes it.
type event struct {
	Action      string
	Package     string
	Test        string // empty if the event concerns the whole package
	Output      string
	Elapsed     float64 // seconds
	FailedBuild string  // the package whose build failed, on the event that fails a package
	ImportPath  string  // the package whose build printed Output
}

// A summary collects the events of one run. Only one goroutine may use it.
type summary struct {
	out    io.Writer
	module string // the prefix that package names are printed without

	open    map[string]*strings.Builder // the output of each test that has not passed, by package and test
	order   map[string][]string         // the keys of open in the order of their first output, by package
	build   map[string]*strings.Builder // the output of each build
	missing map[string]int              // tests that were not run, by what is missing
	blamed  map[string]bool             // the packages of which a test failed
	tests   []timed

	passed, failed, skipped int
	seconds                 float64 // the sum over all packages
}

// A timed test is one that has ended.
type timed struct {
	name    string
	seconds float64
}

func newSummary(out io.Writer, module string) *summary {
	return &summary{
		out: out, module: module,
		open: map[string]*strings.Builder{}, order: map[string][]string{}, build: map[string]*strings.Builder{}, missing: map[string]int{},
		blamed: map[string]bool{},
	}
}

// read handles events until r ends. It prints lines that are not events as they are.
func (s *summary) read(r io.Reader) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil {
				fmt.Fprintf(s.out, "%s", line)
			} else {
				s.handle(e)
			}
		}
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// framing matches what go test prints around the tests: === RUN, and the package's result,
// which endPackage prints.
var framing = regexp.MustCompile(`^=== |^(PASS|FAIL)\n|^(ok|FAIL) *\t`)

var notRun = regexp.MustCompile(`not run: (.+) is missing`)

func (s *summary) handle(e event) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "build-output":
		text := s.build[e.ImportPath]
		if text == nil {
			text = &strings.Builder{}
			s.build[e.ImportPath] = text
		}
		text.WriteString(e.Output)
	case "output":
		text := s.open[key]
		if text == nil {
			text = &strings.Builder{}
			s.open[key] = text
			s.order[e.Package] = append(s.order[e.Package], key)
		}
		if !framing.MatchString(e.Output) {
			text.WriteString(e.Output)
		}
	case "pass", "fail", "skip":
		if e.Test == "" {
			s.endPackage(e)
		} else {
			s.endTest(e, key)
		}
	}
}

func (s *summary) endTest(e event, key string) {
	text := s.open[key]
	if e.Action == "skip" && text != nil {
		if m := notRun.FindStringSubmatch(text.String()); m != nil {
			s.missing[m[1]]++
		}
	}
	if e.Action != "fail" {
		delete(s.open, key)
	}
	if strings.Contains(e.Test, "/") {
		return
	}
	switch e.Action {
	case "pass":
		s.passed++
	case "fail":
		s.failed++
		s.blamed[e.Package] = true
	case "skip":
		s.skipped++
	}
	s.tests = append(s.tests, timed{s.short(e.Package) + " " + e.Test, e.Elapsed})
}

// endPackage prints the package's line. If it failed, the output of its failed tests comes
// first, and that of tests which had not ended, because a panic or a timeout ends all.
func (s *summary) endPackage(e event) {
	s.seconds += e.Elapsed
	if e.Action == "fail" {
		if e.FailedBuild != "" {
			if text := s.build[e.FailedBuild]; text != nil {
				fmt.Fprint(s.out, text)
			}
		}
		if !s.blamed[e.Package] {
			s.failed++ // the build or TestMain failed, or a test ended the process
		}
		for _, key := range s.order[e.Package] {
			if text := s.open[key]; text != nil {
				fmt.Fprint(s.out, text)
			}
		}
	}
	if word := map[string]string{"pass": "ok", "fail": "FAIL"}[e.Action]; word != "" {
		fmt.Fprintf(s.out, "%-4s %-36s %7.1f s\n", word, s.short(e.Package), e.Elapsed)
	}
	for _, key := range s.order[e.Package] {
		delete(s.open, key)
	}
	delete(s.order, e.Package)
}

func (s *summary) short(pkg string) string { return strings.TrimPrefix(pkg, s.module+"/") }

// close prints the end: what was not run, the slowest tests, and the counts.
func (s *summary) close(slow int) {
	fmt.Fprintln(s.out)
	slices.SortStableFunc(s.tests, func(a, b timed) int { return cmp.Compare(b.seconds, a.seconds) })
	for _, t := range s.tests[:min(slow, len(s.tests))] {
		fmt.Fprintf(s.out, "slow: %6.1f s  %s\n", t.seconds, t.name)
	}
	for _, what := range slices.Sorted(maps.Keys(s.missing)) {
		fmt.Fprintf(s.out, "not run: %d tests, because %s is missing\n", s.missing[what], what)
	}
	fmt.Fprintf(s.out, "%d passed, %d failed, %d skipped\n", s.passed, s.failed, s.skipped)
}
