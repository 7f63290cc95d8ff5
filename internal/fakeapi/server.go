package fakeapi

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"strings"
	"sync"
)

// Server is the scripted API, which [Listen] serves. It is safe for several goroutines.
type Server struct {
	log io.Writer

	mu       sync.Mutex
	scenario *Scenario
	used     []int // per reply of the scenario
	answered map[string]int
	requests int
	kept     []Request // the newest, oldest first
	keptSize int
	logErr   error
}

// New returns a server that plays s. It writes a line of JSON per request to
// log, unless that is nil.
func New(s *Scenario, log io.Writer) *Server {
	srv := &Server{log: log}
	srv.SetScenario(s)
	return srv
}

// SetScenario replaces the script and forgets how often each reply was used.
// Answers that are under way are finished from the old one.
func (s *Server) SetScenario(sc *Scenario) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scenario, s.used, s.answered = sc, make([]int, len(sc.Replies)), map[string]int{}
}

// Stats says what happened so far.
type Stats struct {
	Requests int            `json:"requests"` // of all kinds, since the start
	Answered map[string]int `json:"answered"` // per name of a reply, since SetScenario
	Unused   int            `json:"unused"`   // replies with a limit that have uses left
	LogError string         `json:"log_error,omitempty"`
}

// Stats returns the counts of now. LogError is the first error of the log.
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

// respond answers one request; bad is what is wrong with its body.
func (s *Server) respond(ctx context.Context, w *response, r *request, body []byte, bad error) {
	if verb, ok := strings.CutPrefix(r.path, "/__fakeapi/"); ok {
		s.control(w, r, verb, body)
		return
	}
	s.mu.Lock()
	s.requests++
	n, scenario := s.requests, s.scenario
	s.mu.Unlock()
	w.header.Set("request-id", fmt.Sprintf("req_fake_%06d", n))
	got := newRequest(r, n)
	got.Body = body
	if bad != nil {
		s.fail(w, got, statusBadRequest, bad.Error())
		return
	}
	switch endpoint := r.method + " " + r.path; endpoint {
	case "POST /v1/messages":
		s.answer(ctx, w, r, got)
	case "POST /v1/messages/count_tokens":
		s.note(got, CountTokens, "", statusOK)
		writeJSON(w, statusOK, map[string]int{"input_tokens": orElse(scenario.CountTokens, guess(len(body)))})
	case "GET /v1/models":
		s.note(got, Models, "", statusOK)
		writeJSON(w, statusOK, map[string]any{"data": []any{}, "has_more": false, "first_id": nil, "last_id": nil})
	case "HEAD /", "GET /":
		s.note(got, Probe, "", statusOK)
	default:
		s.fail(w, got, statusNotFound, "fakeapi does not serve "+endpoint)
	}
}

// fail answers what the script does not reach.
func (s *Server) fail(w *response, got *Request, status int, text string) {
	s.note(got, Unknown, "", status)
	refuse(w, &Refusal{Status: status, ErrorMessage: text})
}

// answer plays the script for a Messages request.
func (s *Server) answer(ctx context.Context, w *response, r *request, got *Request) {
	q, err := parseQuery(got.Body, r.header)
	if err != nil {
		s.fail(w, got, statusBadRequest, err.Error())
		return
	}
	rep, common := s.pick(q)
	status := orElse(rep.Status, statusOK)
	s.note(got, q.kind, rep.Name, status)
	if !sleep(ctx, rep.DelayMS) {
		return
	}
	if rep.Drop {
		w.cut(rep.CutWithReset)
		return
	}
	for _, headers := range []map[string]string{common, rep.Headers} {
		for key, value := range headers {
			w.header.Set(key, value)
		}
	}
	if status != statusOK || rep.RawBody != "" {
		refuse(w, &rep.Refusal)
		return
	}
	m := newMessage(rep, q, got.N)
	switch {
	case q.stream:
		m.send(ctx, w, rep)
	case rep.CutAfterEvents > 0:
		w.cut(rep.CutWithReset)
	default:
		writeJSON(w, statusOK, m.json())
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
func (s *Server) control(w *response, r *request, verb string, body []byte) {
	switch r.method + " " + verb {
	case "GET stats":
		writeJSON(w, statusOK, s.Stats())
	case "POST scenario":
		sc, err := Load(bytes.NewReader(body))
		if err != nil {
			refuse(w, &Refusal{Status: statusBadRequest, ErrorMessage: err.Error()})
			return
		}
		s.SetScenario(sc)
		writeJSON(w, statusOK, map[string]int{"replies": len(sc.Replies)})
	default:
		refuse(w, &Refusal{Status: statusNotFound, ErrorMessage: "no such control endpoint"})
	}
}
