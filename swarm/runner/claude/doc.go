// Package claude is the backend for Claude Code (observed with 2.1.197 and 2.1.330;
// where they differ, the version is named).
//
// A turn is one process:
//
//	claude -p --input-format stream-json --output-format stream-json --verbose
//	       --replay-user-messages --session-id|--resume UUID …
//
// Its standard input is a pipe of ours and carries the prompt as one line of
// JSON. It stays open until the result and is closed then, so the client ends;
// and since the pipe dies with the daemon, a client that outlives its daemon
// ends by itself after this turn. Standard output and error are files that the
// client writes itself, so it is never held up and nothing that it says is lost:
// no turn begins without room on the disk for what it will print, and while it runs
// there is a piece of it set aside in front (runner.Room; on Linux).
//
// Served as a [runner.Resident] it stays open longer: the next prompt is one more
// line. A turn goes on in such a client only when the line that repeats its prompt
// has come. That line comes with the first that the model says; 2.1.330 says at once
// that it has the prompt (command_lifecycle), so it is not given up as silent before.
// A client does not stay when something that it minds in the background may end later:
// it would begin a separate turn for that. When it begins one anyway, as a separate timer can make it do,
// it is said to stir.
//
// # What is passed
//
// The system text and the settings go by file, the prompt by standard input:
// one argument holds at most 128 KiB, and a prompt may begin with a dash. A
// session of 2.1.197 keeps neither permissions nor system text, so all of it is passed
// every time. 2.1.330 keeps the system text of the first turn, unless
// --system-prompt-snapshot off is passed; whether a client knows that flag its --help
// says. Our tools have alwaysLoad, or the model of 2.1.330 would see their names alone.
//
// Sessions of one user can reach each other in 2.1.330: the settings refuse what comes,
// and the tools SendMessage and ListAgents are never there. Tools that begin work that no
// message asked for (timers, Monitor, teams) and work in the background are off unless
// Spec.Background allows them.
//
// Permissions: claude-swarm send, reply, inbox and read are always allowed, and
// AskUserQuestion, which nobody could answer, never. With a list of allowed
// tools the permission mode is dontAsk, which denies the rest; the default mode
// acceptEdits would let a reviewer write. (In dontAsk, too, the client permits
// shell commands that it knows to read only, such as ls.) Without a list all
// built-in tools are allowed. A mode plan or bypassPermissions that is written
// in the configuration stays as it is, and plan allows nothing more by itself.
//
// Thinking: "off" sets MAX_THINKING_TOKENS=0, a number sets it to that, another
// word is passed as --effort (low, medium, high, xhigh, max).
//
// # How a turn is judged
//
// The result that belongs to our prompt decides by its is_error, not the exit
// status; a bad key is "success" in other fields, and a signal may exit 0. Its
// place is behind the line that repeats our prompt. While a command or a sub-agent runs
// in the background the turn goes on: the client begins turns by itself when one ends,
// and their results add to the cost. Their words add to the text; after a sub-agent the
// last ones take the place of what was said before, and the last result decides. Without
// a result, what the client wrote on standard error decides.
//
// The cost is what the results say was spent since the last one. 2.1.197 does not say
// that, and its cost is a difference: total_cost_usd adds up over the process. (In
// 2.1.330 it goes on from the earlier processes of the session.) What a client that is
// killed had spent since its last result is told by nobody.
//
// An error result belongs to the account or the service (Limited), to the set-up
// (Refused) or to the message (Failed). Fields decide: the HTTP status, the word on
// the assistant line, since 2.1.330 also api_error and api_error_type; the text
// decides only where the client has no field. A 401 is a wrong key where the init
// line's apiKeySource names one, else a login that may be renewed. When a limit ends
// is told by api_error_params, by a rate_limit_event, or by the text.
//
// A turn that is ended for its time while the client asks the API again, and has had
// no answer since, is the service's fault.
//
// A refused key is retried by the client for three minutes; the turn is ended
// at the second attempt. Other retries are the client's to make: an overloaded
// API comes back, and the work so far would be lost.
package claude
