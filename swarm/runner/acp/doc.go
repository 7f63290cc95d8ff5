// Package acp runs clients that speak the Agent Client Protocol, version 1: codex,
// opencode, copilot, gemini, cline, and any other. The client is a JSON-RPC server on its
// standard input and output; package follow runs its process.
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
// An exchange takes one turn through its steps. It passes each line from the client to one
// of its parts. The parts do not refer to the exchange:
//
//	handshake           the requests before the prompt, and what the client answers
//	stream, toolCall    the events of the turn
//	asks                permission requests, and the decisions about them
//	steered             messages for the running turn
//	facts, program      the verdict
//
// Clients send each event of a turn in pieces, and each client uses a different order. A
// stream puts the pieces together. Each client has a row that specifies what the protocol
// leaves open ([Clients]). The verdict on a turn comes from fields of the client's
// messages. Texts decide only if no field does ([Client].Errors).
//
// A turn begins when our tools' server has listed its tools for the client. Some clients
// start servers only with the first prompt; their turn counts only if the file that our
// server makes ([removeReady]) exists at the end of the turn.
//
// The requests and their names come from the library acp-go-sdk, as far as it has them. This
// package itself reads the client's messages, line by line from the file with its output,
// for three reasons. It must begin at an offset in that file, even for a client of an
// earlier daemon. Updates and the answer to a prompt must stay in order. And a message of a
// future client must be readable even if we know only some of its fields. We ignore a field
// of an unexpected type, pass on an unknown update unread, and refuse an unknown request.
//
// A client cannot keep working after its daemon ends: its input ends, and its questions get
// no answer. So Follow only reads what the client has printed. If that includes the answer
// to the prompt, the turn counts; otherwise the turn is repeated in the same session.
package acp
