package fakeapi

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"
)

// Request is the server's record of a request, which it also logs as a line of JSON.
type Request struct {
	N      int               `json:"n"` // 1 for the first request
	Time   time.Time         `json:"time"`
	Method string            `json:"method"`
	Path   string            `json:"path"` // includes the query
	Kind   Kind              `json:"kind"`
	Reply  string            `json:"reply,omitempty"` // name of the reply that answered the request
	Status int               `json:"status"`
	Header map[string]string `json:"headers"` // without keys and cookies
	Body   []byte            `json:"-"`       // logged as body, or as raw_body if it is not JSON
}

// These are the limits for the requests that a Server keeps for [Server.Requests]. It
// always keeps the newest request, regardless of its size.
const (
	keepRequests = 256
	keepBytes    = 8 << 20
)

// Requests returns the newest requests, oldest first: at most 256, with at most 8 MiB of
// bodies unless the newest one alone is larger. The caller must not modify the bodies.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.kept)
}

func newRequest(r *http.Request, n int) *Request {
	got := &Request{
		N: n, Time: time.Now().UTC(), Method: r.Method, Path: r.URL.RequestURI(), Header: make(map[string]string, len(r.Header)),
	}
	for key := range r.Header {
		switch key {
		case "Authorization", "X-Api-Key", "Cookie":
			got.Header[key] = "(redacted)"
		default:
			got.Header[key] = r.Header.Get(key)
		}
	}
	return got
}

// keep stores the request and logs it before the answer is sent, so a test that has
// received the answer finds the request in [Server.Requests].
func (s *Server) keep(got *Request, kind Kind, reply string, status int) {
	got.Kind, got.Reply, got.Status = kind, reply, status
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = append(s.kept, *got)
	s.keptSize += len(got.Body)
	drop := 0
	for size := s.keptSize; drop < len(s.kept)-1 && (len(s.kept)-drop > keepRequests || size > keepBytes); drop++ {
		size -= len(s.kept[drop].Body)
		s.keptSize = size
	}
	s.kept = slices.Delete(s.kept, 0, drop)
	if s.log == nil {
		return
	}
	line := struct {
		*Request
		Body json.RawMessage `json:"body,omitempty"`
		Raw  string          `json:"raw_body,omitempty"`
	}{Request: got}
	if json.Valid(got.Body) {
		line.Body = got.Body
	} else {
		line.Raw = string(got.Body)
	}
	data, err := json.Marshal(line)
	if err == nil {
		_, err = s.log.Write(append(data, '\n'))
	}
	if err != nil && s.logErr == nil {
		s.logErr = err
	}
}
