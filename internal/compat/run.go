package compat

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/claude-swarm/claude-swarm/internal/screen"
)

// Options describe a run. Command and Server are required.
type Options struct {
	// Command is the client's program, as an absolute path or a name on the PATH, and the
	// arguments that come before all others.
	Command []string
	// Server is a command that calls [ServeEcho] with its standard input and output.
	Server []string
	Only   []string // the names of the facts to test; empty means all
	AtOnce int      // the number of experiments that run beside each other; 0 means 1
	// Told, if it is not nil, is called after each experiment, by one goroutine at a time.
	Told func(Answer)
}

// A State says whether a fact holds.
type State string

// These are the states of an answer.
const (
	Yes     State = "yes"     // claude-swarm works with the answer
	No      State = "no"      // it does not
	Differs State = "differs" // it works with the answer, but nobody has seen its shape
	Unknown State = "unknown" // the experiment failed
)

// An Answer is how the client behaves with regard to one fact.
type Answer struct {
	Name  string `json:"name"`  // the fact's, one word
	Claim string `json:"claim"` // the fact
	Need  string `json:"need"`  // the part of claude-swarm that needs it
	State State  `json:"state"`
	Text  string `json:"text"`            // such as "yes", or what was observed
	Shape string `json:"shape,omitempty"` // what was observed, without ids, paths, dates and versions; "" if there is nothing to compare
	Known string `json:"known,omitempty"` // if State is [Differs], the shape that was recorded last
}

// A Report contains the answers of one program, in the order of the facts.
type Report struct {
	Version string // the first word of what the program prints for --version
	Answers []Answer
}

// Count returns the number of answers in the state.
func (r *Report) Count(s State) int { return count(r.Answers, s) }

// Run runs all experiments. If ctx is canceled, it returns the context's error after the
// experiments have ended.
func Run(ctx context.Context, o Options) (*Report, error) {
	version, err := versionOf(ctx, o)
	if err != nil {
		return nil, err
	}
	asked := slices.DeleteFunc(slices.Clone(facts), func(f fact) bool { return len(o.Only) > 0 && !slices.Contains(o.Only, f.name) })
	r := &Report{Version: version, Answers: make([]Answer, len(asked))}
	slots := make(chan struct{}, max(o.AtOnce, 1))
	var wg sync.WaitGroup
	var mu sync.Mutex // guards o.Told
	for i, f := range asked {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
		wg.Go(func() {
			defer func() { <-slots }()
			a := f.try(ctx, version, o)
			r.Answers[i] = a
			if o.Told != nil && ctx.Err() == nil {
				mu.Lock()
				defer mu.Unlock()
				o.Told(a)
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return r, nil
}

// versionOf asks the program for its version.
func versionOf(ctx context.Context, o Options) (version string, err error) {
	l, err := newLab(ctx, "", o)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	out, err := l.run("--version")
	if err != nil {
		return "", fmt.Errorf("%s --version: %w", strings.Join(o.Command, " "), err)
	}
	words := strings.Fields(string(out))
	if len(words) == 0 {
		return "", fmt.Errorf("%s --version prints nothing", strings.Join(o.Command, " "))
	}
	return words[0], nil
}

// try runs the fact's experiment.
func (f *fact) try(ctx context.Context, version string, o Options) Answer {
	text, shape, err := f.observe(ctx, version, o)
	if err != nil {
		return Answer{Name: f.name, Claim: f.claim, Need: f.need, State: Unknown, Text: "not determined: " + screen.Short(err.Error(), 300)}
	}
	return f.judge(text, shape)
}

// judge compares what was observed with what claude-swarm needs and with the recordings.
func (f *fact) judge(text, shape string) Answer {
	a := Answer{Name: f.name, Claim: f.claim, Need: f.need, State: Yes, Text: text, Shape: shape}
	switch {
	case !f.good(text):
		a.State = No
	case shape != "" && !known(f.name, shape):
		a.State = Differs
		a.Known = nearest(f.name)
	}
	return a
}

func (f *fact) observe(ctx context.Context, version string, o Options) (text, shape string, err error) {
	l, err := newLab(ctx, version, o)
	if err != nil {
		return "", "", err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	text, err = f.ask(l)
	return text, strings.Trim(l.shape.String(), "\n"), err
}

// good reports whether claude-swarm works with an answer.
func (f *fact) good(text string) bool {
	if len(f.wants) == 0 {
		return strings.HasPrefix(text, "yes")
	}
	return slices.Contains(f.wants, text)
}

// errStrange means that the client's output has an unknown format.
var errStrange = errors.New("the client's output has a different form")

// A Fact describes a fact to people.
type Fact struct {
	Name  string // one word
	Claim string
	Need  string                 // the part of claude-swarm that needs it
	Good  func(text string) bool // whether claude-swarm works with an answer
}

// Facts returns all facts, in their order.
func Facts() []Fact {
	var all []Fact
	for _, f := range facts {
		all = append(all, Fact{f.name, f.claim, f.need, f.good})
	}
	return all
}

// Difference returns the lines that only one of two shapes has, or that are in another
// place, those of the first one with a minus sign.
func Difference(was, is string) []string {
	a, b := linesOf(was), linesOf(is)
	// common[i][j] is the number of lines that a[i:] and b[j:] have in common, in order.
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var all []string
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			all = append(all, "- "+a[i])
			i++
		default:
			all = append(all, "+ "+b[j])
			j++
		}
	}
	return all
}

func linesOf(shape string) []string {
	return strings.FieldsFunc(shape, func(r rune) bool { return r == '\n' })
}
