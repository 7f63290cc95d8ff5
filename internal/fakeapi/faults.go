package fakeapi

import (
	"encoding/json"
	"net"
	"net/http"
)

// cut drops the connection without ending the response. If reset is true, it sends a TCP
// reset.
func cut(w http.ResponseWriter, reset bool) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		// HTTP/2 connections and response recorders cannot be hijacked, so the handler is
		// aborted instead.
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok && reset {
		tcp.SetLinger(0)
	}
	conn.Close()
}

// refuse sends an HTTP error. If r has a raw body, it is sent unchanged. Otherwise, the
// error type and message come from r; their defaults are those that the real API uses for
// the status.
func refuse(w http.ResponseWriter, r *Refusal) {
	if r.RawBody != "" {
		w.WriteHeader(orElse(r.Status, http.StatusOK))
		w.Write([]byte(r.RawBody))
		return
	}
	known := apiErrors[r.Status]
	writeJSON(w, r.Status, map[string]any{
		"type": "error",
		"error": map[string]any{
			"type":    orElse(r.ErrorType, orElse(known.kind, "api_error")),
			"message": orElse(r.ErrorMessage, orElse(known.message, http.StatusText(r.Status))),
		},
		"request_id": w.Header().Get("request-id"),
	})
}

// apiErrors contains the error types and messages of the Messages API.
var apiErrors = map[int]struct{ kind, message string }{
	400: {"invalid_request_error", ""},
	401: {"authentication_error", "invalid x-api-key"},
	402: {"billing_error", ""},
	403: {"permission_error", ""},
	404: {"not_found_error", ""},
	413: {"request_too_large", ""},
	429: {"rate_limit_error", "This request would exceed your account's rate limit. Please try again later."},
	500: {"api_error", "Internal server error"},
	504: {"timeout_error", ""},
	529: {"overloaded_error", "Overloaded"},
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v) // fails only if the client has hung up
}

// orElse returns v, or def if v is zero.
func orElse[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}
