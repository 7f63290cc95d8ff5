package models

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

// events writes server-sent events and flushes each one immediately.
type events struct {
	w     http.ResponseWriter
	begun bool
}

// send sends data as JSON, with name as the event's name if it is not "". It does nothing
// after the client has hung up.
func (e *events) send(name string, data any) {
	if !e.begun {
		e.begun = true
		e.w.Header().Set("Content-Type", "text/event-stream")
		e.w.WriteHeader(http.StatusOK)
	}
	text, ok := data.(string)
	if !ok {
		buf, err := json.Marshal(data)
		if err != nil {
			panic(err) // cannot happen, because this package defines all the types
		}
		text = string(buf)
	}
	if name != "" {
		fmt.Fprintf(e.w, "event: %s\n", name)
	}
	fmt.Fprintf(e.w, "data: %s\n\n", text)
	http.NewResponseController(e.w).Flush()
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v) // fails only if the client has hung up
}

// fail writes an error with its Retry-After header, if it has one.
func fail(w http.ResponseWriter, r *refusal, body any) {
	if r.after > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(r.after))
	}
	writeJSON(w, r.status, body)
}

type object = map[string]any
