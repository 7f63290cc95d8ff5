// Package claude is the backend for Claude Code. The facts in its comments were observed
// with versions 2.1.197 and 2.1.330. If the two versions differ, the comments name the
// version.
//
// A turn is one process:
//
//	claude -p --input-format stream-json --output-format stream-json --verbose
//	       --replay-user-messages --session-id|--resume UUID …
//
// The client's standard input is a pipe from the daemon, which carries the prompt as one
// line of JSON. The daemon closes the pipe after the result, and then the client ends. The
// pipe also closes if the daemon dies, so a client that outlives its daemon ends after
// this turn. The client writes its standard output and error directly to files, so it
// never blocks and no output is lost. No turn begins without room on the disk for its
// output, and more space is reserved while the turn runs (runner.Room; on Linux).
//
// For a [runner.Resident] the pipe stays open longer: the next prompt is one more line. A
// later turn in such a client has begun only when the client has repeated the prompt, which
// it does together with the model's first output. Version 2.1.330 says at once that it has
// the prompt (command_lifecycle), so the daemon does not treat the client as silent before
// that output. A client does not stay if it watches work in the background: it would begin
// another turn when that work ends. If a waiting client begins a turn anyway, for example
// because of a timer, [runner.Warm.Stirs] reports that.
//
// # What is passed
//
// The system prompt and the settings are passed in files, and the prompt on standard input:
// one argument can have at most 128 KiB, and a prompt may begin with a dash. A session of
// 2.1.197 keeps neither its permissions nor its system prompt, so every turn passes both.
// 2.1.330 keeps the system prompt of the first turn, unless --system-prompt-snapshot off is
// passed; the client's --help shows whether it knows that flag. Our tools have alwaysLoad;
// without it the model of 2.1.330 would see only their names.
//
// Sessions of one user can reach each other in 2.1.330: the settings refuse incoming
// messages, and the tools SendMessage and ListAgents are always off. Unless
// Spec.Background allows them, background work and the tools that begin work without a
// message (timers, Monitor, teams) are off. A list of allowed tools can name such a tool.
//
// Permissions: the mail commands of claude-swarm, such as send and inbox, are always
// allowed. AskUserQuestion is never allowed, because no person could answer. With a list
// of allowed tools the permission mode is dontAsk, which denies all other tools; the
// default mode acceptEdits would let a reviewer write. (Even in dontAsk the client
// permits shell commands that it knows to be read-only, such as ls.) Without a list all
// built-in tools are allowed, except in the mode plan. The modes plan and
// bypassPermissions of the configuration are passed unchanged.
//
// Thinking: "off" sets MAX_THINKING_TOKENS to 0, and a number sets it to that number. Any
// other word is passed as --effort (low, medium, high, xhigh, max).
//
// # How a turn is judged
//
// The verdict comes from the field is_error of the result that belongs to our prompt. The
// other fields say "success" even for a bad key, and a client that a signal has ended may
// exit with status 0. The result of our prompt comes after the line that repeats the prompt.
//
// While a command or a sub-agent runs in the background, the turn continues. When this work
// ends, the client begins another turn on its own. The cost and the words of that turn
// count for our turn. After a sub-agent, the last words replace the earlier ones, and the
// last result decides. Without a result, the client's standard error decides.
//
// Each result of 2.1.330 reports what was spent since the previous result. 2.1.197 reports
// only total_cost_usd, a running total of the process, so the cost is a difference. (In
// 2.1.330 that total includes earlier processes of the session.) If a client is killed, the
// cost since its last result is unknown.
//
// A turn with a cap (runner.Turn.CapUSD) has --max-budget-usd and a separate process,
// because the client counts all that its process spends. At the cap the client leaves the
// text of a complete answer out of its result, but the answer counts. See cap.go.
//
// The cause of an error result is the account or the service (Limited), the set-up
// (Refused) or the message (Failed). These fields decide which: the HTTP status, the word
// on the assistant line, and since 2.1.330 api_error and api_error_type. The text decides
// where no field names the cause. A 401 means a wrong key if the init line's apiKeySource
// names a key or the environment has a fixed token, and otherwise a login that may be
// renewed. The end of a limit comes from api_error_params, from a rate_limit_event, or from
// the text.
//
// If a time limit ends a turn while the client retries a request that failed, the service
// is at fault.
//
// The client retries a refused key for three minutes; we end the turn at the second
// attempt. We leave other retries to the client: an overloaded API recovers, and ending the
// turn would lose its work so far.
package claude
