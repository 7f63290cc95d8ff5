// Package claude is the backend for Claude Code. The comments describe the observed
// behavior of versions 2.1.197 and 2.1.330. Where the two differ, the comments name the
// version.
//
// Each turn is one process:
//
//	claude -p --input-format stream-json --output-format stream-json --verbose
//	       --replay-user-messages --session-id|--resume UUID …
//
// The client's standard input is a pipe from the daemon, which carries the prompt as one
// line of JSON. The daemon closes the pipe after the result, and then the client exits.
// The pipe also closes if the daemon dies, so a client that outlives its daemon exits
// after the current turn. The client writes its standard output and error directly to
// files, so it never blocks and no output is lost. A turn begins only if there is disk
// space for its output, and more space is reserved while the turn runs (runner.Room; on
// Linux only).
//
// For a [runner.Resident], the pipe stays open for further prompts, one per line. A later
// turn in such a client counts as begun when the client repeats the prompt, which it does
// together with the model's first output. Version 2.1.330 reports immediately that it has
// the prompt (command_lifecycle), so the daemon does not treat the client as silent before
// that output. A client does not stay if it has work running in the background, because it
// would begin another turn when that work ends. If a waiting client begins a turn anyway,
// for example because of a timer, [runner.Warm.Stirs] reports it.
//
// # What is passed to the client
//
// The system prompt and the settings are passed in files, and the prompt is passed on
// standard input. They cannot be arguments, because an argument is limited to 128 KiB and a
// prompt may begin with a dash. In 2.1.197, a session keeps neither its permissions nor its
// system prompt, so every turn passes both. In 2.1.330, it keeps the system prompt of the
// first turn unless --system-prompt-snapshot off is passed. The client's --help shows
// whether it supports that flag. Our tools set alwaysLoad; without it, the model would see
// only their names in 2.1.330.
//
// In 2.1.330, a user's sessions can send messages to each other. To prevent this, the
// settings refuse incoming messages, and the tools SendMessage and ListAgents are always
// disabled. Unless Spec.Background allows them, background work and the tools that begin
// work without a message (timers, Monitor, teams) are disabled. A list of allowed tools
// can enable such a tool.
//
// Permissions: the mail commands of claude-swarm, such as send and inbox, are always
// allowed. AskUserQuestion is never allowed, because no person could answer. With a list
// of allowed tools, the permission mode is dontAsk, which denies all other tools. The
// default mode, acceptEdits, would allow a reviewer to write files. (Even in dontAsk, the
// client permits shell commands that it knows to be read-only, such as ls.) Without a
// list, all built-in tools are allowed, except in plan mode. If the configuration sets
// the mode to plan or bypassPermissions, that mode is passed unchanged.
//
// Thinking: "off" sets MAX_THINKING_TOKENS to 0, and a number sets it to that number. Any
// other value (low, medium, high, xhigh, max) is passed with --effort.
//
// # How a turn is judged
//
// The verdict is based on the is_error field in the result that belongs to our prompt. The
// other fields contain "success" even for an invalid key, and a client that was terminated
// by a signal may exit with status 0. The result of our prompt is the first one after the
// line that repeats the prompt.
//
// While a command or a sub-agent runs in the background, the turn continues. When this work
// ends, the client begins another turn on its own. The cost and the text of that turn count
// as part of our turn. After a sub-agent has ended, the final text replaces the earlier
// text, and the verdict is based on the final result. If there is no result, the verdict is
// based on the client's standard error.
//
// In 2.1.330, each result reports the cost since the previous result. 2.1.197 reports only
// total_cost_usd, a running total for the process, so the cost of a turn is the difference
// between two totals. (In 2.1.330 that total includes earlier processes of the session.)
// If a client is killed, the cost since its last result is unknown.
//
// A turn with a cap (runner.Turn.CapUSD) uses --max-budget-usd and its own process,
// because the cap applies to everything that a process spends. When a complete answer
// reaches the cap, the client omits the text from its result, but the answer counts. See
// cap.go.
//
// The cause of an error result is the account or the service (Limited), the setup (Refused)
// or the message (Failed). These fields identify the cause: the HTTP status, the error name
// on the assistant line, and since 2.1.330 api_error and api_error_type. If no field
// identifies it, the error text is used. A 401 means a wrong key if apiKeySource in the
// init line names a key or the environment contains a fixed token. Otherwise it means a
// login that may be renewed. The end time of a limit comes from api_error_params, from a
// rate_limit_event, or from the text.
//
// If a time limit ends a turn while the client is retrying a failed request, the cause is
// the service.
//
// With a rejected key, the client retries for three minutes, so we end the turn after the
// second rejection. We do not interfere with other retries, because an overloaded API
// recovers, and ending the turn would lose the work done so far.
package claude
