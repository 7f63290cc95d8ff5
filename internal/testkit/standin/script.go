package standin

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A step is one line of a turn's script.
type step struct {
	verb string
	arg  string
	d    time.Duration // of sleep, tick, linger, orphan, limited
	each time.Duration // of tick
	n    int           // of big, context, exit, status, noise
	usd  float64       // of cost
}

// verbs says of each verb what its argument must be.
var verbs = map[string]func(*step) error{
	"say": text, "think": text, "sh": text, "write": twoWords, "edit": edit, "read": text, "deny": twoWords,
	"sleep": duration, "tick": ticks, "big": number, "cost": money, "context": number, "model": text,
	"compact": nothing, "fail": text, "status": number, "exit": number, "die": nothing, "noresult": nothing,
	"linger": duration, "hang": nothing, "spin": nothing, "closeout": nothing, "orphan": duration,
	"rubbish": nothing, "unknown": nothing, "unborn": nothing, "deaf": nothing, "again": text, "pending": twoWords,
	"flood": nothing, "noise": number, "limited": duration,
}

// begunBefore is what claude-swarm writes into the prompt of a later attempt.
const begunBefore = "This was begun before"

// parseScript reads the steps of a prompt. Its error names the line that makes
// no sense.
func parseScript(prompt string) ([]step, error) {
	var steps []step
	given := false // inside the window that is given back
	for line := range strings.Lines(prompt) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "<prior-context"):
			given = true
		case strings.Contains(line, "</prior-context>"):
			given = false
		}
		if given || !strings.HasPrefix(line, "@") {
			continue
		}
		verb, arg, _ := strings.Cut(line[1:], " ")
		if verb == "first" {
			if strings.Contains(prompt, begunBefore) {
				continue
			}
			verb, arg, _ = strings.Cut(arg, " ")
		}
		check, ok := verbs[verb]
		if !ok {
			continue
		}
		s := step{verb: verb, arg: strings.TrimSpace(arg)}
		if err := check(&s); err != nil {
			return nil, fmt.Errorf("%s: %w", line, err)
		}
		steps = append(steps, s)
	}
	return steps, nil
}

func nothing(s *step) error {
	if s.arg != "" {
		return fmt.Errorf("@%s takes nothing", s.verb)
	}
	return nil
}

func text(s *step) error {
	if s.arg == "" {
		return fmt.Errorf("@%s wants a text", s.verb)
	}
	return nil
}

func twoWords(s *step) error {
	if _, rest, _ := strings.Cut(s.arg, " "); rest == "" {
		return fmt.Errorf("@%s wants a word and a text", s.verb)
	}
	return nil
}

func edit(s *step) error {
	_, change, _ := strings.Cut(s.arg, " ")
	if old, _, ok := strings.Cut(change, " => "); !ok || old == "" {
		return fmt.Errorf("@edit wants PATH OLD => NEW")
	}
	return nil
}

func duration(s *step) (err error) {
	s.d, err = parseDuration(s.arg)
	return err
}

func ticks(s *step) (err error) {
	total, each, _ := strings.Cut(s.arg, " ")
	if s.d, err = parseDuration(total); err != nil {
		return err
	}
	if s.each, err = parseDuration(each); err == nil && s.each <= 0 {
		err = fmt.Errorf("@tick wants a pause above 0")
	}
	return err
}

func number(s *step) (err error) {
	first, _, _ := strings.Cut(s.arg, " ")
	s.n, err = strconv.Atoi(first)
	return err
}

func money(s *step) (err error) {
	s.usd, err = strconv.ParseFloat(s.arg, 64)
	return err
}

// parseDuration reads 3s, 250ms, or a bare number of seconds.
func parseDuration(s string) (time.Duration, error) {
	if seconds, err := strconv.ParseFloat(s, 64); err == nil {
		return time.Duration(seconds * float64(time.Second)), nil
	}
	return time.ParseDuration(s)
}

// breakLines turns \n into line breaks.
func breakLines(s string) string { return strings.ReplaceAll(s, `\n`, "\n") }

// firstLine is the first line of the body that a prompt frames by two equal
// lines "--- mark ---". Without a frame it is the last line that is not blank:
// what a person typed after whatever stands before it.
func firstLine(prompt string) string {
	lines := strings.Split(prompt, "\n")
	last := ""
	for i, line := range lines {
		line = strings.TrimSpace(line)
		if line != "" {
			last = line
		}
		if !strings.HasPrefix(line, "--- ") || !strings.HasSuffix(line, " ---") || len(line) < 9 {
			continue
		}
		first := ""
		for _, inner := range lines[i+1:] {
			inner = strings.TrimSpace(inner)
			if inner == line {
				return first
			}
			if first == "" {
				first = inner
			}
		}
	}
	return last
}
