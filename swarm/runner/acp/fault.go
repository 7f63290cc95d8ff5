package acp

import (
	"encoding/json"
	"strconv"
	"strings"
)

// faultData contains what clients put into the data field of an error.
type faultData struct {
	Message string          `json:"message"`
	Details string          `json:"details"`
	Info    json.RawMessage `json:"codexErrorInfo"`
	Status  int             `json:"statusCode"`
	HTTP    int             `json:"httpStatus"`
	ResetAt int64           `json:"resets_at"`
}

func (f *fault) data() (d faultData) {
	lenient(f.Data, &d)
	return d
}

// text returns the error as human-readable text.
func (f *fault) text() string {
	d := f.data()
	var parts []string
	for _, text := range []string{strings.TrimSpace(f.Message), strings.TrimSpace(d.Message), strings.TrimSpace(d.Details)} {
		if text == "" || text == "Internal error" && d.Message+d.Details != "" {
			continue
		}
		if len(parts) > 0 && strings.Contains(parts[len(parts)-1], text) {
			continue
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return "error " + strconv.Itoa(f.Code)
	}
	return strings.Join(parts, ": ")
}

// status returns the HTTP status in an error, or 0 if the error has none. gemini uses the
// status as the error code.
func (f *fault) status() int {
	d := f.data()
	for _, n := range []int{f.Code, d.Status, d.HTTP, statusIn(d.Info)} {
		if n >= 400 && n < 600 {
			return n
		}
	}
	return 0
}

// statusIn returns the HTTP status in codex's error information, for example
// {"x":{"httpStatus":503}}.
func statusIn(info json.RawMessage) int {
	var object map[string]struct {
		Status int `json:"httpStatus"`
	}
	if json.Unmarshal(info, &object) == nil {
		for _, each := range object {
			return each.Status
		}
	}
	return 0
}

// errorInfo returns codex's name for an error: a string, or the only key of an object.
func errorInfo(info json.RawMessage) string {
	var word string
	if json.Unmarshal(info, &word) == nil {
		return word
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(info, &object) == nil {
		for key := range object {
			return key
		}
	}
	return ""
}
