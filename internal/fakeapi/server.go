package fakeapi

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
)

// Server is the scripted API, an [http.Handler]. It is safe for concurrent use.
type Server struct {
	log io.Writer

	mu       sync.Mutex
	scenario *Scenario
	used     []int // number of uses of each reply in the scenario
	answered map[string]int
	requests int
	kept     []Request // the newest requests, oldest first
	keptSize int
	logErr   error
}

// New returns a server that plays s. It writes a line of JSON per request to log, unless
// log is nil.
func New(s *Scenario, log io.Writer) *Server {
	srv := &Server{log: log}
	srv.SetScenario(s)
	return srv
}

// SetScenario replaces the script and resets the counts of used replies. Answers that have
// already begun follow the old script to the end.
func (s *Server) SetScenario(sc *Scenario) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scenario, s.used, s.answered = sc, make([]int, len(sc.Replies)), map[string]int{}
}

// Stats contains the counts so far.
type Stats struct {
	Requests int            `json:"requests"` // requests of all kinds, since the start
	Answered map[string]int `json:"answered"` // by reply name, since the last SetScenario
	Unused   int            `json:"unused"`   // number of replies that have a limit and have not reached it
	LogError string         `json:"log_error,omitempty"`
}

// Stats returns the current counts. LogError is the first error from writing the log.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := Stats{Requests: s.requests, Answered: maps.Clone(s.answered)}
	for i := range s.scenario.Replies {
		if limit := s.scenario.Replies[i].uses(); limit > 0 && s.used[i] < limit {
			st.Unused++
		}
	}
	if s.logErr != nil {
		st.LogError = s.logErr.Error()
	}
	return st
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if verb, ok := strings.CutPrefix(r.URL.Path, "/__fakeapi/"); ok {
		s.control(w, r, verb)
		return
	}
	s.mu.Lock()
	s.requests++
	n, scenario := s.requests, s.scenario
	s.mu.Unlock()
	w.Header().Set("request-id", fmt.Sprintf("req_fake_%06d", n))
	got := newRequest(r, n)
	body, err := readBody(r)
	got.Body = body
	if err != nil {
		s.fail(w, got, http.StatusBadRequest, err.Error())
		return
	}
	switch endpoint := r.Method + " " + r.URL.Path; endpoint {
	case "POST /v1/messages":
		s.answer(w, r, got)
	case "POST /v1/messages/count_tokens":
		s.keep(got, CountTokens, "", http.StatusOK)
		writeJSON(w, http.StatusOK, map[string]int{"input_tokens": orElse(scenario.CountTokens, guess(len(body)))})
	case "GET /v1/models":
		s.keep(got, Models, "", http.StatusOK)
		writeJSON(w, http.StatusOK, map[string]any{"data": []any{}, "has_more": false, "first_id": nil, "last_id": nil})
	case "HEAD /", "GET /":
		s.keep(got, Probe, "", http.StatusOK)
	default:
		s.fail(w, got, http.StatusNotFound, "fakeapi does not serve "+endpoint)
	}
}

// fail answers a request with an error from the server itself, without using the script.
func (s *Server) fail(w http.ResponseWriter, got *Request, status int, text string) {
	s.keep(got, Unknown, "", status)
	refuse(w, &Refusal{Status: status, ErrorMessage: text})
}

// answer plays the script for a Messages request.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, got *Request) {
	q, err := parseQuery(got.Body, r.Header)
	if err != nil {
		s.fail(w, got, http.StatusBadRequest, err.Error())
		return
	}
	rep, common := s.pick(q)
	status := orElse(rep.Status, http.StatusOK)
	s.keep(got, q.kind, rep.Name, status)
	if !sleep(r.Context(), rep.DelayMS) {
		return
	}
	if rep.Drop {
		cut(w, rep.CutWithReset)
		return
	}
	for _, headers := range []map[string]string{common, rep.Headers} {
		for key, value := range headers {
			w.Header().Set(key, value)
		}
	}
	if status != http.StatusOK || rep.RawBody != "" {
		refuse(w, &rep.Refusal)
		return
	}
	m := newMessage(rep, q, got.N)
	switch {
	case q.stream:
		m.send(r.Context(), w, rep)
	case rep.CutAfterEvents > 0:
		cut(w, rep.CutWithReset)
	default:
		writeJSON(w, http.StatusOK, m.json())
	}
}

// pick chooses the reply to q and counts the use.
func (s *Server) pick(q *query) (rep *Reply, headers map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rep, place := s.scenario.choose(q, s.used)
	if place >= 0 {
		s.used[place]++
	}
	s.answered[rep.Name]++
	return rep, s.scenario.Headers
}

// control serves the endpoints for tests in another process.
func (s *Server) control(w http.ResponseWriter, r *http.Request, verb string) {
	switch r.Method + " " + verb {
	case "GET stats":
		writeJSON(w, http.StatusOK, s.Stats())
	case "POST scenario":
		sc, err := Load(r.Body)
		if err != nil {
			refuse(w, &Refusal{Status: http.StatusBadRequest, ErrorMessage: err.Error()})
			return
		}
		s.SetScenario(sc)
		writeJSON(w, http.StatusOK, map[string]int{"replies": len(sc.Replies)})
	default:
		refuse(w, &Refusal{Status: http.StatusNotFound, ErrorMessage: "no such control endpoint"})
	}
}
