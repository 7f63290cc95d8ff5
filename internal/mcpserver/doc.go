// Package mcpserver provides the tools for the agents in a swarm. It is an MCP server
// on the standard input and output of a separate process, which the agent's client
// starts.
//
//	the agent's client ── tools/call ── this ──┬── mailboxes, board: files
//	                                           └── control socket: the daemon
//
// A tool sends mail in the same way as the command line (package client), so calling the
// tool send has the same effect as running claude-swarm send. A tool uses the daemon's
// control socket for data and requests that need the daemon. Without a daemon, the tools
// still read and deliver mail, and their results say that no daemon is running.
//
// # Layers
//
// Each layer uses only those below it:
//
//	session.go                     one client: requests, answers, calls that run
//	server.go                      the tools that are offered, and one call of a tool
//	tools.go                       the list of tools
//	agents, send, inbox, irc …     the tools, in groups
//	tool, caller, daemon, text.go  what a tool is, and what its calls use
//	check.go                       checks arguments against a schema
//	lines, message, schema.go      the protocol, independent of the swarm
//
// # A tool
//
// A tool consists of two structs, for its arguments and its result, and a method of its
// tool group. A group is a type that contains everything its tools need and is created
// for each call: [crew], [mail], [asker], [mailbox], [topics], [work], [boardPages],
// [ownTurn], [folders], [chat]. To add a tool, add a line to [tools]. Its schemas are
// derived from the structs and their tags:
//
//	json:"to"                 the argument; with omitempty it may be left out
//	jsonschema:"who gets it"  what it is for
//	enum:"task,question"      the allowed words
//	minimum:"1" maximum:"9"   the bounds of a number
//
// A result has two forms: a structure that follows the schema, and plain text ([result]).
// Claude Code 2.1.197 shows its model only the structure, and other clients show only the
// text, so each form must be complete. If an argument is wrong, the tool does nothing,
// and its answer says what is wrong and what was probably meant.
//
// A client derives its own tool names from ours: Claude Code names the send tool of the
// dead-drop server "mcp__dead-drop__send". The page docs/agents-tools.md is generated
// from [Server.Tools].
//
// # The protocol
//
// MCP over standard input and output uses one line for each message. The server needs only
// four methods: initialize, ping, tools/list and tools/call, which session.go and
// message.go implement. The program does not use the official SDK, because its package mcp
// (v1.8.0) depends on OAuth, gob and the meta-schemas of JSON Schema. With the SDK, the
// program would be 2.4 MB larger, and every verb, even send, would take 3.5 ms of CPU time
// to start instead of 2.8 ms. Using only a part of the SDK would not help either: jsonrpc
// does less than message.go, and jsonschema has one of the two slowest initializers (0.1
// ms, 81 kB). The tests call the server with the SDK's client, the inspector and the real
// Claude Code.
package mcpserver
