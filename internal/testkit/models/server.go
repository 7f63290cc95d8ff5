package models

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Fixed is the model's answer if the rest of the script contains no text or call, or if
// the prompt has no script. Title is the model's answer to a request without tools.
const (
	Fixed = "Done."
	Title = "Scripted title"
)

// Each answer reports these token counts, unless @context sets other input tokens.
const (
	InputTokens  = 100
	OutputTokens = 10
)

// Server is the scripted model, an [http.Handler]. It is safe for concurrent use. The zero
// value is ready to use.
type Server struct {
	mu       sync.Mutex
	requests []Request
	refused  map[string]int // number of requests that got an error, by script
}

// A Request is one request from a client to the model.
type Request struct {
	Time   time.Time
	Path   string
	Body   []byte
	Status int  // status of the answer
	Side   bool // the request offered no tools
}

// Requests returns all valid requests, oldest first. The caller must not modify the
// bodies.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// A wire is one of the wire formats.
type wire interface {
	// read reads a request. If stream is true, the client requests a streamed answer.
	read(r *http.Request, body []byte) (c *conversation, stream bool, err error)
	// refuse writes an error.
	refuse(w http.ResponseWriter, r *refusal)
	// answer begins an answer.
	answer(w http.ResponseWriter, c *conversation, n int, stream bool) answer
}

// An answer writes the model's reply to the client. It sends nothing before the first
// text or call.
type answer interface {
	say(text string)
	call(c toolCall)
	end(u usage)
}

type usage struct{ in, out int }

// find returns the wire format for a URL path.
func find(path string) wire {
	switch {
	case strings.HasSuffix(path, "/responses"):
		return responses{}
	case strings.HasSuffix(path, "/chat/completions"):
		return completions{}
	case strings.HasSuffix(path, "GenerateContent"), strings.HasSuffix(path, ":generateContent"):
		return gemini{}
	}
	return nil
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	format := find(r.URL.Path)
	if r.Method != http.MethodPost || format == nil {
		http.Error(w, "models does not serve "+r.Method+" "+r.URL.Path, http.StatusNotFound)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has hung up
	}
	c, stream, err := format.read(r, body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	got := Request{Time: time.Now(), Path: r.URL.Path, Body: body, Status: http.StatusOK, Side: len(c.tools) == 0}
	var prompt string
	var steps []step
	switch {
	case got.Side:
		steps = []step{{say: Title}}
	default:
		prompt, steps = c.next()
	}
	if s.refuses(prompt, &steps) {
		got.Status = steps[0].refuse.status
		s.keep(got)
		format.refuse(w, steps[0].refuse)
		return
	}
	play(r.Context(), w, c, format.answer(w, c, s.keep(got), stream), steps)
}

// keep stores a request and returns its number.
func (s *Server) keep(got Request) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, got)
	return len(s.requests)
}

// refuses reports whether the script's next step is an error to send. If the error has
// already been sent the given number of times, refuses removes it from steps.
func (s *Server) refuses(prompt string, steps *[]step) bool {
	if len(*steps) == 0 || (*steps)[0].refuse == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := (*steps)[0].refuse
	if r.times > 0 && s.refused[prompt] >= r.times {
		*steps = (*steps)[1:]
		return false
	}
	if s.refused == nil {
		s.refused = map[string]int{}
	}
	s.refused[prompt]++
	return true
}

// play runs the steps up to the first call.
func play(ctx context.Context, w http.ResponseWriter, c *conversation, a answer, steps []step) {
	u := usage{InputTokens, OutputTokens}
	said := false
	say := func(text string) {
		if said {
			text = "\n" + text
		}
		said = true
		a.say(text)
	}
	for _, st := range steps {
		switch {
		case st.say != "":
			say(st.say)
		case st.context > 0:
			u.in = st.context
		case st.wait > 0:
			if !sleep(ctx, st.wait) {
				return
			}
		case st.cut, st.refuse != nil: // the answer has begun, so it is too late to send an error status
			panic(http.ErrAbortHandler)
		case st.call != nil:
			if known, ok := c.resolve(*st.call); ok {
				a.call(known)
				a.end(u)
				return
			}
			say(fmt.Sprintf("The client offers no tool for @%s %s", st.call.do, st.call.name))
		}
	}
	if !said {
		say(Fixed)
	}
	a.end(u)
}

// sleep waits for d. It returns false if ctx ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func firstWord(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return word
}
