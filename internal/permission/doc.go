// Package permission decides on requests from a client that asks for permission before
// it uses a tool: allow, deny, or ask a person.
//
// [Rules] contain the entries of the configuration key permissions. An entry is a kind of
// tool call, or a kind and a pattern:
//
//	read                  every call of the kind read
//	execute go test*      a command line; * stands for any text
//	edit docs/*           a path, or the title of a call without a path
//	tool files__read*     a tool of an MCP server, under the client's name for it
//
// [Rules.Decide] checks deny, then ask, then allow, and finally otherwise. An entry in deny
// or ask is interpreted broadly: it also matches part of a command line, or one of several
// paths. An entry in allow is interpreted narrowly: all paths must match, and * does not
// match shell syntax that starts another command or writes to a file. A line of plain
// commands, joined by && || ; | and newlines, is allowed if each of its commands is
// allowed. No pattern allows a line that the shell cannot parse.
//
// If no entry matches, reading, searching and thinking are allowed. Edits in the agent's
// folder are also allowed if otherwise is not set.
//
// The rules protect against a client that makes a mistake. They are not a sandbox: a
// program that a rule allows may start any other program.
package permission
