package streamjson

import "strings"

// kindOf returns the kind of a line with the given type and subtype. The subtype of a
// hook begins with hook_ and that of a task with task_, followed by the phase; the one
// exception is background_tasks_changed.
func kindOf(typ, subtype string) Kind {
	switch typ {
	case "assistant":
		return KindAssistant
	case "user":
		return KindUser
	case "result":
		return KindResult
	case "stream_event":
		return KindPartial
	case "control_request", "control_response", "control_cancel_request":
		return KindControl
	case "command_lifecycle":
		return KindCommand
	case "system":
		switch subtype {
		case "init":
			return KindInit
		case "status":
			return KindStatus
		case "compact_boundary":
			return KindCompact
		case "api_retry":
			return KindRetry
		case "background_tasks_changed":
			return KindTask
		}
		switch {
		case strings.HasPrefix(subtype, "hook_"):
			return KindHook
		case strings.HasPrefix(subtype, "task_"):
			return KindTask
		}
	}
	return KindOther
}

// what returns the type and the subtype of a line of kind other.
func what(typ, subtype string) string {
	if subtype == "" {
		return typ
	}
	return typ + "/" + subtype
}

// quiet lists the types of known lines that are classified as other and that no caller
// needs. They are not counted as unknown.
var quiet = map[string]bool{
	"system/thinking_tokens":           true,
	"system/notification":              true,
	"system/informational":             true,
	"system/model_refusal_no_fallback": true,

	// Since 2.1.330.
	"conversation_reset":           true,
	"rate_limit_event":             true,
	"system/model_fallback":        true,
	"system/peer_message_hold":     true,
	"system/permission_denied":     true,
	"system/session_title_changed": true,
}

// finish sets the fields that are derived from other fields of the event.
func (e *Event) finish() {
	if e.Model == ModelSynthetic {
		e.Synthetic = true
	}
	if e.Result != nil {
		e.Result.setLimit("")
	}
}

// setLimit sets the context limit of the main conversation's model. This is the model
// named main or, if the result does not list that model, the model that read the most
// tokens.
func (r *Result) setLimit(main string) {
	most := -1
	for _, m := range r.Models {
		if m.Model == main && m.ContextWindow > 0 {
			r.ContextLimit = m.ContextWindow
			return
		}
		if n := m.Usage.Context(); n > most {
			most, r.ContextLimit = n, m.ContextWindow
		}
	}
}
