package standin

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Step is one line of a turn's script.
type Step struct {
	Verb string
	Arg  string
	D    time.Duration // for sleep, tick, linger, orphan, limited
	Each time.Duration // for tick
	N    int           // for big, context, exit, status, noise
	USD  float64       // for cost
}

// verbs maps each verb to the function that checks its argument.
var verbs = map[string]func(*Step) error{
	"say": text, "think": text, "sh": text, "write": twoWords, "edit": edit, "read": text, "deny": twoWords,
	"sleep": duration, "await": text, "tick": ticks, "big": number, "cost": money, "context": number, "model": text,
	"compact": nothing, "fail": text, "status": number, "exit": number, "die": nothing, "noresult": nothing,
	"linger": duration, "hang": nothing, "spin": nothing, "closeout": nothing, "orphan": duration,
	"rubbish": nothing, "unknown": nothing, "unborn": nothing, "deaf": nothing, "again": text, "pending": twoWords,
	"flood": nothing, "noise": number, "limited": duration,
}

// begunBefore is a phrase in the prompts that claude-swarm writes for later attempts.
const begunBefore = "This was begun before"

// Script reads the steps of a prompt. Its error names the invalid line.
func Script(prompt string) ([]Step, error) {
	var steps []Step
	given := false // whether the line is inside the earlier turns that the prompt repeats
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
		s := Step{Verb: verb, Arg: strings.TrimSpace(arg)}
		if err := check(&s); err != nil {
			return nil, fmt.Errorf("%s: %w", line, err)
		}
		steps = append(steps, s)
	}
	return steps, nil
}

func nothing(s *Step) error {
	if s.Arg != "" {
		return fmt.Errorf("@%s takes nothing", s.Verb)
	}
	return nil
}

func text(s *Step) error {
	if s.Arg == "" {
		return fmt.Errorf("@%s wants a text", s.Verb)
	}
	return nil
}

func twoWords(s *Step) error {
	if _, rest, _ := strings.Cut(s.Arg, " "); rest == "" {
		return fmt.Errorf("@%s wants a word and a text", s.Verb)
	}
	return nil
}

func edit(s *Step) error {
	_, change, _ := strings.Cut(s.Arg, " ")
	if old, _, ok := strings.Cut(change, " => "); !ok || old == "" {
		return fmt.Errorf("@edit wants PATH OLD => NEW")
	}
	return nil
}

func duration(s *Step) (err error) {
	s.D, err = parseDuration(s.Arg)
	return err
}

func ticks(s *Step) (err error) {
	total, each, _ := strings.Cut(s.Arg, " ")
	if s.D, err = parseDuration(total); err != nil {
		return err
	}
	if s.Each, err = parseDuration(each); err == nil && s.Each <= 0 {
		err = fmt.Errorf("@tick wants a pause above 0")
	}
	return err
}

func number(s *Step) (err error) {
	first, _, _ := strings.Cut(s.Arg, " ")
	s.N, err = strconv.Atoi(first)
	return err
}

func money(s *Step) (err error) {
	s.USD, err = strconv.ParseFloat(s.Arg, 64)
	return err
}

// parseDuration parses 3s, 250ms, or a number of seconds without a unit.
func parseDuration(s string) (time.Duration, error) {
	if seconds, err := strconv.ParseFloat(s, 64); err == nil {
		return time.Duration(seconds * float64(time.Second)), nil
	}
	return time.ParseDuration(s)
}

// breakLines replaces \n with line breaks.
func breakLines(s string) string { return strings.ReplaceAll(s, `\n`, "\n") }

// Body returns the part of a prompt between two identical lines "--- mark ---", without
// the last line break. Without such a frame, it returns the last non-blank line, which is
// the line that a person typed.
func Body(prompt string) string {
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
		for n, inner := range lines[i+1:] {
			if strings.TrimSpace(inner) == line {
				return strings.Join(lines[i+1:i+1+n], "\n")
			}
		}
	}
	return last
}

// FirstLine returns the first non-blank line of the body.
func FirstLine(prompt string) string {
	for line := range strings.Lines(Body(prompt)) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}
