// Package acp runs clients that speak the Agent Client Protocol, version 1: codex,
// opencode, copilot, gemini, cline, and any other. The client is a JSON-RPC server on its
// standard input and output; package follow manages its process.
//
//	we                                    the client
//	initialize ─────────────────────────▶ what it can do
//	session/new, /resume or /load ──────▶ the session and its settings
//	session/set_mode, set_model ────────▶
//	                                      starts our tool server, which makes a file
//	session/prompt ─────────────────────▶
//	            ◀────────────────── session/update: texts, tool calls, tokens
//	            ◀────────────────── session/request_permission
//	allow or deny ──────────────────────▶
//	            ◀────────────────── the answer to session/prompt: the turn is over
//
// An exchange takes one turn through its steps. It passes each line from the client to one
// of its components, which have no reference to the exchange:
//
//	handshake           the requests before the prompt, and what the client answers
//	stream, toolCall    the events of the turn
//	asks                permission requests, and the decisions about them
//	steered             messages for the running turn
//	facts, program      the verdict
//
// Clients send each event of a turn in pieces, and each client uses a different order. A
// stream assembles the pieces. Each client has an entry in [Clients] that specifies what
// the protocol does not define. The verdict on a turn is based on fields of the client's
// messages. Error messages ([Client].Errors) are used only if no field identifies the
// cause.
//
// A turn begins when our tool server has listed its tools for the client. Some clients
// start MCP servers only with the first prompt. In that case, the turn counts only if the
// file that our server creates ([removeReady]) exists at the end of the turn.
//
// The requests and their names come from the library acp-go-sdk if it defines them. This
// package does not use the library to read the client's messages. It reads them line by line
// from the client's output file, for three reasons. Reading must be able to start at any
// offset in that file, even for a client that an earlier daemon started. Updates and the
// answer to a prompt must stay in order. A message from a future client must be readable
// even if we know only some of its fields. We ignore a field of an unexpected type, pass on
// an unknown update unparsed, and reject an unknown request.
//
// A client cannot keep working after its daemon ends, because its input is closed and its
// requests get no answer. Follow therefore only reads what the client has printed. If that
// includes the answer to the prompt, the turn counts; otherwise the turn is repeated in the
// same session.
package acp
