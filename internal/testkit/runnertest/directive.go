package runnertest

import (
	"strconv"
	"strings"
	"time"
)

// Parse reads the steps of a prompt; see the package's comment for the words. A
// line whose first word is none of them is text. A known word with a broken
// argument makes a step that fails the turn and says so.
func Parse(prompt string) []Step {
	var steps []Step
	past := false // inside the window, which may repeat the script of an earlier turn
	for line := range strings.Lines(prompt) {
		switch strings.TrimSpace(line) {
		case "<prior-context>":
			past = true
		case "</prior-context>":
			past = false
		}
		if past {
			continue
		}
		rest, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "@")
		if !ok {
			continue
		}
		word, arg, _ := strings.Cut(rest, " ")
		read, ok := words[word]
		if !ok {
			continue
		}
		step, err := read(strings.TrimSpace(arg))
		if err != nil {
			step = Fail("script: " + strings.TrimSpace(line) + ": " + err.Error())
		}
		steps = append(steps, step)
	}
	return steps
}

// words reads the argument of each word.
var words = map[string]func(arg string) (Step, error){
	"say":   text(Say),
	"think": text(Think),
	"fail":  text(Fail),
	"model": text(Model),
	"panic": text(Panic),
	"tool": func(arg string) (Step, error) {
		name, result, _ := strings.Cut(arg, " ")
		return Tool(name, map[string]string{}, result), nil
	},
	"sh": func(arg string) (Step, error) {
		return Tool("Bash", map[string]string{"command": arg}, ""), nil
	},
	"write": func(arg string) (Step, error) {
		path, content, _ := strings.Cut(arg, " ")
		return Tool("Write", map[string]string{"file_path": path, "content": content}, "written"), nil
	},
	"edit": func(arg string) (Step, error) {
		path, change, _ := strings.Cut(arg, " ")
		before, after, _ := strings.Cut(change, " => ")
		return Tool("Edit", map[string]string{"file_path": path, "old_string": before, "new_string": after}, "edited"), nil
	},
	"read": func(arg string) (Step, error) {
		return Tool("Read", map[string]string{"file_path": arg}, "content of "+arg), nil
	},
	"deny": func(arg string) (Step, error) {
		name, what, _ := strings.Cut(arg, " ")
		key := "file_path"
		if name == "Bash" {
			key = "command"
		}
		return Deny(name, map[string]string{key: what}), nil
	},
	"sleep": duration(Sleep),
	"tick": func(arg string) (Step, error) {
		whole, part, _ := strings.Cut(arg, " ")
		d, err := time.ParseDuration(whole)
		if err != nil {
			return nil, err
		}
		step, err := time.ParseDuration(part)
		return Tick(d, max(step, time.Millisecond)), err
	},
	"cost": func(arg string) (Step, error) {
		usd, err := strconv.ParseFloat(arg, 64)
		return Cost(usd), err
	},
	"context": func(arg string) (Step, error) {
		size, limit, _ := strings.Cut(arg, " ")
		tokens, err := strconv.Atoi(size)
		if err != nil || limit == "" {
			return Context(tokens, 0), err
		}
		most, err := strconv.Atoi(limit)
		return Context(tokens, most), err
	},
	"status":    status,
	"limited":   duration(Limited),
	"unknown":   none(Unknown),
	"refused":   text(func(reason string) Step { return Refused(or(reason, "the key is wrong (401)")) }),
	"compact":   none(Compact),
	"nosession": none(NoSession),
	"unborn":    none(Unborn),
	"unheard":   none(Unheard),
	"noresult":  none(NoResult),
	"die":       none(NoResult),
	"exit":      text(func(string) Step { return NoResult() }),
	"lost":      none(Lost),
	"hang":      none(Hang),
}

// status reads "401" or "429 retry-after 3600".
func status(arg string) (Step, error) {
	code, rest, _ := strings.Cut(arg, " ")
	switch code {
	case "401", "404":
		return Refused("the API refused (" + code + ")"), nil
	case "429":
		after := strings.TrimSpace(strings.TrimPrefix(rest, "retry-after"))
		seconds, err := strconv.Atoi(or(after, "0"))
		return Limited(time.Duration(seconds) * time.Second), err
	case "402", "403", "408", "409", "500", "502", "503", "504", "529":
		return limited("the API takes nothing ("+code+")", 0), nil
	}
	_, err := strconv.Atoi(code)
	return Fail("the API failed (" + code + ")"), err
}

func text(f func(string) Step) func(string) (Step, error) {
	return func(arg string) (Step, error) { return f(arg), nil }
}

func none(f func() Step) func(string) (Step, error) {
	return func(string) (Step, error) { return f(), nil }
}

func duration(f func(time.Duration) Step) func(string) (Step, error) {
	return func(arg string) (Step, error) {
		d, err := time.ParseDuration(or(arg, "0s"))
		return f(d), err
	}
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// Body returns what stands in a prompt between its two "--- mark ---" lines,
// without the last newline, or its last line that is not empty.
func Body(prompt string) string {
	mark, body, inside := "", strings.Builder{}, false
	last := ""
	for line := range strings.Lines(prompt) {
		bare := strings.TrimRight(line, "\r\n")
		switch {
		case inside && bare == mark:
			return strings.TrimSuffix(body.String(), "\n")
		case inside:
			body.WriteString(line)
		case isMark(bare):
			mark, inside = bare, true
		}
		if strings.TrimSpace(bare) != "" {
			last = bare
		}
	}
	return last
}

// isMark reports whether a line is "--- 16 characters ---".
func isMark(line string) bool {
	word, ok := strings.CutPrefix(line, "--- ")
	word, ok2 := strings.CutSuffix(word, " ---")
	return ok && ok2 && len(word) == 16 && !strings.Contains(word, " ")
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
