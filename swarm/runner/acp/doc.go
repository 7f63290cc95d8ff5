// Package acp runs clients that speak the Agent Client Protocol, version 1: codex, opencode,
// copilot, gemini, cline, and any other. The client is a server of JSON-RPC on its standard
// input and output; package follow runs its process.
//
//	we                                    the client
//	initialize ─────────────────────────▶ what it can do
//	session/new, /resume or /load ──────▶ the session and its settings
//	session/set_mode, set_model ────────▶
//	                                      starts our tools' server, which makes a file
//	session/prompt ─────────────────────▶
//	            ◀────────────────── session/update: texts, tool calls, tokens
//	            ◀────────────────── session/request_permission
//	allow or deny ──────────────────────▶
//	            ◀────────────────── the answer to session/prompt: the turn is over
//
// Clients tell an event of a turn in pieces, and each in another order: a stream puts the
// pieces together. Each client has a row for what the protocol leaves open ([Clients]).
// A verdict on a turn looks at fields first, and at texts only where no field
// tells ([Client].Errors).
//
// A turn begins when our tools' server has listed its tools for the client. Some clients start
// servers only with the first prompt; then the turn counts only if the file was made by its
// end.
//
// The requests and their names come from the library acp-go-sdk. The messages of a client
// are read here, line by line from the file of its output, for three reasons: the file is read from an
// offset, also for a client of an earlier daemon; updates and the answer to a prompt must stay
// in order; and messages of clients of next year must be read as far as they are known. A
// field of another type is left out, an update that is not known is passed on unread, a request
// that is not known is refused.
//
// A client has no life after its daemon: its input ends, and nobody answers what it asks. So
// Follow reads what it has printed. Where that has the answer to the prompt the turn counts;
// else it is done again in the same session.
package acp
