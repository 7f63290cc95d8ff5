// Package mcpserver gives the agents of a swarm their tools: it is an MCP server
// on the standard input and output of a separate process, which the agent's
// client starts.
//
//	the agent's client ── tools/call ── this ──┬── mailboxes, board: files
//	                                           └── control socket: the daemon
//
// Mail goes by the same way as that of the command line (package client), so
// an agent that sends by a tool and one that types claude-swarm send do the same.
// A tool asks the daemon over its control socket for what only the daemon knows or can do; when it is
// away, mail is read and delivered anyway, and the result says so.
//
// # A tool
//
// is a file: its arguments and its result as structs, and a method of [call] that
// does it. One line of [tools] adds it; its schemas come from the structs:
//
//	json:"to"                 the argument; with omitempty it may be left out
//	jsonschema:"who gets it"  what it is for
//	enum:"task,question"      the words that it may be
//	minimum:"1" maximum:"9"   the bounds of a number
//
// A result is both structured, as its schema says, and text ([result]). Claude Code
// 2.1.197 shows the structure alone to its model, others the text, so each must be
// whole without the other. An argument that is wrong is an error that says what is
// wrong and what was probably meant; nothing is done then.
//
// Names are parts of names in the client: the tool send of the server dead-drop is
// mcp__dead-drop__send there. The page docs/agents-tools.md is made of [Server.Tools].
//
// # The protocol
//
// MCP over the standard input and output is a line for each message and four methods:
// initialize, ping, tools/list and tools/call. It is written here by hand: the official SDK
// makes ready what servers with HTTP and logins need, and every verb of the program would
// wait for it, half as long as an empty program takes. The tests call the server by that
// SDK's client, by the inspector and by the real Claude Code.
package mcpserver
