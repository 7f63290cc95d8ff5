// Package fakeapi is a Messages API that answers only from a scenario. It lets the real
// Claude Code program run complete turns, with tools, MCP, hooks, sessions, compaction
// and errors, without a network or a key. It has been checked with version 2.1.197.
//
//	                    +-- replies, the first that matches and has uses left
//	request --> kind ---+-- compact, side    (the client's own small requests)
//	                    +-- fallback, or a built-in text
//
// # Use
//
// In a test, serve a [Server] with [net/http/httptest]; elsewhere, call [Listen]. Then
// start the client with its own HOME, a dummy key and
//
//	ANTHROPIC_BASE_URL=<url>  ANTHROPIC_API_KEY=sk-ant-test-0000
//	DISABLE_AUTOUPDATER=1  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1
//	DISABLE_TELEMETRY=1  DISABLE_ERROR_REPORTING=1
//
// and with CLAUDE_CODE_MAX_RETRIES=0 to 2 if the scenario has errors, because by default
// the client retries for three minutes.
//
// # Scenario
//
//	{
//	  "replies": [
//	    {"name": "ask-tool", "match": {"last_user_contains": "Run the tests"},
//	     "content": [{"text": "I run them."},
//	                 {"tool_use": {"name": "Bash", "input": {"command": "go test ./..."}}}],
//	     "context_tokens": 13000},
//	    {"name": "answer", "match": {"last_is_tool_result": true}, "times": -1, "text": "All pass."},
//	    {"name": "busy", "status": 529},
//	    {"name": "rest", "times": -1, "text": "Done."}
//	  ],
//	  "compact": {"text": "<summary>short</summary>"},
//	  "fallback": {"text": "the script is exhausted"}
//	}
//
// Replies without a match are played in order. A reply with a match and "times": -1 is a
// rule: it answers every request that matches. Unknown keys are errors. In addition to
// replies, compact, side and fallback, a scenario can have count_tokens (the fixed answer
// of that endpoint) and headers (added to every reply).
//
// The keys of a reply, all of them optional:
//
//	name                 shown in the log and in the statistics
//	match                conditions, see below; without it: any request of kind main
//	times                how many requests it may answer: 0 means 1, -1 no limit
//	text                 short for one text block, before those of content
//	content              blocks: {"text"}, {"thinking"}, {"redacted_thinking"},
//	                     {"tool_use": {"id", "name", "input"}},
//	                     {"repeat": {"text", "times"}} (huge text),
//	                     {"raw": {…}} (any other block, sent unchanged)
//	stop_reason          default: tool_use if a block is a tool_use, else end_turn
//	usage                input_tokens, output_tokens,
//	                     cache_creation_input_tokens, cache_read_input_tokens
//	context_tokens       short for a usage whose input side adds up to this; without
//	                     either, usage is guessed from the sizes of request and answer
//	status, error_type,  an HTTP error instead of a message; type and text have
//	error_message,       defaults for the statuses that the real API sends
//	raw_body
//	headers              response headers, such as {"retry-after": "5"}
//	delay_ms             wait before anything is sent
//	drop                 close the connection without an answer, with a TCP reset if
//	                     cut_with_reset is set
//	chunk_runes,         size of the streamed pieces (default 4000 characters)
//	chunk_delay_ms       and the wait before each
//	cut_after_events,    drop the connection after that many events, with a TCP reset
//	cut_with_reset       if the second is set; if the request does not stream, drop
//	                     the connection without an answer
//	error_after_events   send an error event instead of the rest
//	stall_after_events,  hang in the middle of the stream
//	stall_ms
//
// The conditions of a match; all those that are set must be true:
//
//	kind                 main (default), compact, side, quota, or any
//	last_user_contains,  on the text of the last user message, without the
//	last_user_regexp     <system-reminder> blocks that the client adds, except
//	                     for the reason of a Stop hook
//	last_is_tool_result, whether the last user message carries a tool result,
//	tool_result_contains and what it says
//	any_contains,        anywhere in the request's JSON text
//	not_contains
//	system_contains,     in the system prompt, in the model's name
//	model_contains
//	tool_offered,        a tool of that name is, or is not, in the request's list
//	tool_not_offered     (the tool "Task" of the init line is "Agent" here)
//	header               {"X-Claude-Code-Session-Id": "2222"}: tells agents apart
//	min_messages,        length of the message list
//	max_messages
//
// Text can contain {{last_user}}, {{tool_result}}, {{messages}}, {{n}} and {{model}}.
// Text and tool inputs can contain {{match}}, the string that the first group of
// last_user_regexp matched.
//
// # Endpoints
//
// POST /v1/messages, streaming or not; POST /v1/messages/count_tokens; GET /v1/models;
// HEAD or GET / (the client's probe). A test in another process can use GET
// /__fakeapi/stats, and POST /__fakeapi/scenario, which replaces the scenario and resets
// the counts of used replies.
//
// # Provoking a compaction
//
// To provoke a compaction by size, use the settings {"autoCompactWindow": 100000} (a
// smaller window does not work), two earlier turns, a reply with "context_tokens": 68000,
// and one more prompt. The client compacts before it answers that prompt, because the
// limit is the window minus 33,000. To provoke one by refusal, use one reply with status
// 400 whose error_message begins with "prompt is too long".
package fakeapi
