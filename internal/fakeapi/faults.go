package fakeapi

import (
	"encoding/json"
	"strconv"
)

// refuse sends an HTTP error with the type and the text that the real API has
// for the status, unless the refusal brings its own.
func refuse(w *response, r *Refusal) {
	if r.RawBody != "" {
		w.begin(orElse(r.Status, statusOK))
		w.Write([]byte(r.RawBody))
		return
	}
	known := apiErrors[r.Status]
	writeJSON(w, r.Status, map[string]any{
		"type": "error",
		"error": map[string]any{
			"type":    orElse(r.ErrorType, orElse(known.kind, "api_error")),
			"message": orElse(r.ErrorMessage, orElse(known.message, statusText(r.Status))),
		},
		"request_id": w.header.Get("request-id"),
	})
}

// apiErrors are the error types and texts of the Messages API.
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

// The statuses that the server itself chooses.
const (
	statusOK         = 200
	statusBadRequest = 400
	statusNotFound   = 404
)

// statusText is the name of a status (RFC 9110), of those that the API has; else its number.
func statusText(status int) string {
	switch status {
	case statusOK:
		return "OK"
	case statusBadRequest:
		return "Bad Request"
	case 401:
		return "Unauthorized"
	case 402:
		return "Payment Required"
	case 403:
		return "Forbidden"
	case statusNotFound:
		return "Not Found"
	case 413:
		return "Request Entity Too Large"
	case 429:
		return "Too Many Requests"
	case 500:
		return "Internal Server Error"
	case 503:
		return "Service Unavailable"
	case 504:
		return "Gateway Timeout"
	}
	return strconv.Itoa(status)
}

func writeJSON(w *response, status int, v any) {
	w.header.Set("Content-Type", "application/json")
	w.begin(status)
	json.NewEncoder(w).Encode(v) // only a client that went away makes this fail
}

// orElse is v, or def if v is zero.
func orElse[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}
