package models

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A step is one action of the model. At most one field is set; a step without a field does
// nothing.
type step struct {
	say     string
	call    *call
	wait    time.Duration
	refuse  *refusal
	cut     bool
	context int // input tokens
}

// A call is a tool call that does not yet use the client's tool names.
type call struct {
	do   string // "sh", "write" or "tool"
	name string // name of the file or of the MCP server's tool
	text string // the command, the file's text or the tool's input
}

// A refusal is an HTTP error in place of an answer.
type refusal struct {
	status int
	after  int  // seconds in the Retry-After header; 0 for no such header
	limit  bool // the account has reached its usage limit, which is lifted after that time
	times  int  // number of requests that are refused; 0 means all
	text   string
}

const forever = 365 * 24 * time.Hour

// words maps each word of a script to the function that makes its step.
var words = map[string]func(arg string) (step, error){
	"say":     func(arg string) (step, error) { return step{say: arg}, nil },
	"sh":      func(arg string) (step, error) { return step{call: &call{do: "sh", text: arg}}, nil },
	"write":   func(arg string) (step, error) { return named("write", arg), nil },
	"tool":    tool,
	"hang":    func(string) (step, error) { return step{wait: forever}, nil },
	"cut":     func(string) (step, error) { return step{cut: true}, nil },
	"limit":   limit,
	"status":  status,
	"sleep":   func(arg string) (step, error) { d, err := time.ParseDuration(arg); return step{wait: d}, err },
	"context": func(arg string) (step, error) { n, err := strconv.Atoi(arg); return step{context: n}, err },
}

// script returns the steps of a prompt, or none if the prompt has no script. If an
// argument is invalid, the result is a single refusal that names the argument.
func script(prompt string) []step {
	var steps []step
	given := false // whether the line is inside the earlier turns that the prompt repeats
	for line := range strings.Lines(prompt) {
		line = strings.TrimRight(line, "\r\n")
		given = (given || strings.HasPrefix(line, "<prior-context")) && !strings.Contains(line, "</prior-context>")
		word, arg, _ := strings.Cut(unwrap(line), " ")
		word, ok := strings.CutPrefix(word, "@")
		parse := words[word]
		if !ok || parse == nil || given {
			continue
		}
		s, err := parse(strings.TrimSpace(arg))
		if err != nil {
			return []step{{refuse: &refusal{status: http.StatusBadRequest, text: "script: " + err.Error()}}}
		}
		steps = append(steps, s)
	}
	return steps
}

// unwrap removes the tags that a client puts around a prompt, such as <user_input>, from
// one line.
func unwrap(line string) string {
	for strings.HasPrefix(line, "<") {
		_, rest, ok := strings.Cut(line, ">")
		if !ok {
			break
		}
		line = rest
	}
	if i := strings.LastIndex(line, "</"); i >= 0 && strings.HasSuffix(line, ">") && !strings.ContainsAny(line[i+2:len(line)-1], " <>") {
		line = line[:i]
	}
	return line
}

func named(do, arg string) step {
	name, text, _ := strings.Cut(arg, " ")
	return step{call: &call{do: do, name: name, text: text}}
}

func tool(arg string) (step, error) {
	s := named("tool", arg)
	if s.call.text == "" {
		s.call.text = "{}"
	}
	if !json.Valid([]byte(s.call.text)) {
		return step{}, fmt.Errorf("@tool %s: the input is not JSON", arg)
	}
	return s, nil
}

func limit(arg string) (step, error) {
	r := &refusal{status: http.StatusTooManyRequests, limit: true, after: 3600, text: "scripted usage limit"}
	if arg == "" {
		return step{refuse: r}, nil
	}
	n, err := strconv.Atoi(arg)
	r.after = n
	return step{refuse: r}, err
}

func status(arg string) (step, error) {
	words := strings.Fields(arg)
	if len(words)%2 == 0 {
		return step{}, fmt.Errorf("@status %s: want a number and pairs of a word and a number", arg)
	}
	r := &refusal{text: "scripted status"}
	for i := 0; i < len(words); i += 2 {
		n, err := strconv.Atoi(words[i])
		if err != nil {
			return step{}, fmt.Errorf("@status %s: %w", arg, err)
		}
		switch {
		case i == 0:
			r.status = n
		case words[i-1] == "retry-after":
			r.after = n
		case words[i-1] == "times":
			r.times = n
		default:
			return step{}, fmt.Errorf("@status %s: unknown word %s", arg, words[i-1])
		}
	}
	return step{refuse: r}, nil
}
