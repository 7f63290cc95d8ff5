package runnertest

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// words maps each word that can follow an @ at the beginning of a prompt line to its step.
// It contains the words of [Suite] and additional words for tests of the daemon. If an
// argument is invalid, the turn fails.
var words = map[string]func(arg string) Step{
	"say":      Say,
	"sh":       func(arg string) Step { return Tool(Shell, map[string]string{"command": arg}, "") },
	"write":    func(arg string) Step { return Tool(Save, map[string]string{"path": firstWord(arg)}, "written") },
	"deny":     func(arg string) Step { return Deny(firstWord(arg), strings.TrimPrefix(arg, firstWord(arg)+" ")) },
	"sleep":    func(arg string) Step { return parsed(arg, time.ParseDuration, sleep) },
	"hang":     func(string) Step { return Hang() },
	"cost":     func(arg string) Step { return parsed(arg, parseUSD, Cost) },
	"price":    func(arg string) Step { return parsed(arg, parseUSD, Price) },
	"context":  func(arg string) Step { return parsed(arg, strconv.Atoi, contextIs) },
	"model":    func(arg string) Step { return goOn(func(c *client) { c.model = arg }) },
	"compact":  func(string) Step { return Compact() },
	"fail":     Fail,
	"status":   func(arg string) Step { return parsed(firstWord(arg), strconv.Atoi, status(arg)) },
	"unborn":   func(string) Step { return noFirstEvent },
	"noresult": func(string) Step { return NoResult() },
}

// script returns the steps of a prompt.
func script(prompt string) []Step {
	var steps []Step
	given := false // whether the line is inside the earlier turns that the prompt repeats
	for line := range strings.Lines(prompt) {
		line = strings.TrimRight(line, "\r\n")
		given = (given || strings.HasPrefix(line, "<prior-context")) && !strings.Contains(line, "</prior-context>")
		word, arg, _ := strings.Cut(line, " ")
		word, ok := strings.CutPrefix(word, "@")
		if step := words[word]; ok && step != nil && !given {
			steps = append(steps, step(strings.TrimSpace(arg)))
		}
	}
	return steps
}

// parsed makes a step from an argument.
func parsed[T any](arg string, parse func(string) (T, error), step func(T) Step) Step {
	value, err := parse(arg)
	if err != nil {
		return Fail("script: " + err.Error())
	}
	return step(value)
}

func parseUSD(arg string) (float64, error) { return strconv.ParseFloat(arg, 64) }

func contextIs(tokens int) Step { return goOn(func(c *client) { c.context = tokens }) }

func firstWord(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return word
}

// status ends the turn as if the model's service had answered with this HTTP status. arg
// can end with retry-after and a number of seconds.
func status(arg string) func(code int) Step {
	return func(code int) Step {
		switch code {
		case 401, 404:
			return Refused(fmt.Sprintf("the service refused (%d)", code))
		case 402, 403, 408, 409, 429, 500, 502, 503, 504, 529:
			_, after, _ := strings.Cut(arg, " retry-after ")
			d, _ := time.ParseDuration(after + "s") // 0 if arg contains no time
			return limited(fmt.Sprintf("the service takes nothing (%d)", code), d)
		}
		return Fail(fmt.Sprintf("the service failed (%d)", code))
	}
}

// firstLine returns the first line of the message in a prompt. The message is between two
// identical lines "--- mark ---"; if there are none, firstLine returns the last line of
// the prompt.
func firstLine(prompt string) string {
	last, frame := "", ""
	for line := range strings.Lines(prompt) {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
		case frame != "":
			return line
		case strings.HasPrefix(line, "--- ") && strings.HasSuffix(line, " ---") && strings.Count(prompt, line) > 1:
			frame = line
		default:
			last = line
		}
	}
	return last
}
