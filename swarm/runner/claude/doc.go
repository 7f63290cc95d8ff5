// Package claude is the backend for Claude Code (observed with 2.1.197 and 2.1.330;
// if they differ, the version is named).
//
// A turn is one process:
//
//	claude -p --input-format stream-json --output-format stream-json --verbose
//	       --replay-user-messages --session-id|--resume UUID …
//
// Its standard input is our pipe and carries the prompt as one line of JSON. It stays open
// until the result and is closed then, so the client ends. Since the pipe closes with the
// daemon, a client that outlives its daemon ends by itself after this turn. The client
// writes its standard output and error directly to files, so it never blocks and no output
// is lost: no turn begins without room on the disk for its output, and space for more is
// reserved while it runs (runner.Room; on Linux).
//
// Served as a [runner.Resident] it stays open longer: the next prompt is one more line. A
// later turn in such a client counts only once the line that repeats its prompt has come.
// That line comes with the first output of the model; 2.1.330 says at once that it has the
// prompt (command_lifecycle), so it is not given up as silent before. A client does not
// stay if work that it watches in the background may end later: it would begin another turn
// at that time. If it begins one anyway, for example because of a timer, it stirs
// (runner.Warm.Stirs).
//
// # What is passed
//
// The system prompt and the settings are passed in files, the prompt on standard input: one
// argument has at most 128 KiB, and a prompt may begin with a dash. A session of 2.1.197
// keeps neither permissions nor system prompt, so all of it is passed every time. 2.1.330
// keeps the system prompt of the first turn, unless --system-prompt-snapshot off is passed;
// the client's --help shows whether it knows that flag. Our tools have alwaysLoad; without
// it the model of 2.1.330 would see only their names.
//
// Sessions of one user can reach each other in 2.1.330: the settings refuse incoming
// messages, and the tools SendMessage and ListAgents are always off. Tools that begin work
// that no message asked for (timers, Monitor, teams) and work in the background are off
// unless Spec.Background allows them.
//
// Permissions: claude-swarm send, reply, inbox and read are always allowed, and
// AskUserQuestion, which no person could answer, never. With a list of allowed tools the
// permission mode is dontAsk, which denies the rest; the default mode acceptEdits would let
// a reviewer write. (Even in dontAsk the client permits shell commands that it knows to be
// read-only, such as ls.) Without a list all built-in tools are allowed. The modes plan and
// bypassPermissions of the configuration are passed unchanged, and plan allows nothing
// more.
//
// Thinking: "off" sets MAX_THINKING_TOKENS=0, a number sets it to that number, any other
// word is passed as --effort (low, medium, high, xhigh, max).
//
// # How a turn is judged
//
// The is_error of the result that belongs to our prompt decides, not the exit status; a bad
// key is "success" in other fields, and a client ended by a signal may exit with 0. That
// result comes after the line that repeats our prompt. While a command or a sub-agent runs
// in the background the turn continues: the client begins turns by itself when one ends,
// and their results add to the cost. Their words are added to the text; after a sub-agent
// the last words replace the earlier ones, and the last result decides. Without a result,
// the client's standard error decides.
//
// The cost is what each result reports as spent since the previous one. 2.1.197 does not
// report that, so its cost is a difference: total_cost_usd is a running total of the
// process. (In 2.1.330 it includes earlier processes of the session.) The cost of a killed
// client since its last result is unknown.
//
// A turn with a cap (runner.Turn.CapUSD) has --max-budget-usd and a separate process: the
// client counts all that its process spends. At the cap the client leaves the text of a
// complete answer out of its result, but the answer counts. See cap.go.
//
// An error result belongs to the account or the service (Limited), to the set-up (Refused)
// or to the message (Failed). Fields decide: the HTTP status, the word on the assistant
// line, since 2.1.330 also api_error and api_error_type; the text decides only if the
// client has no field. A 401 is a wrong key if the init line's apiKeySource names one, and
// otherwise a login that may be renewed. The end of a limit comes from api_error_params,
// from a rate_limit_event, or from the text.
//
// If a turn is ended by a time limit while the client retries a request without an answer,
// the service is at fault.
//
// The client retries a refused key for three minutes; we end the turn at the second
// attempt. We leave other retries to the client: an overloaded API recovers, and the work
// so far would be lost.
package claude
