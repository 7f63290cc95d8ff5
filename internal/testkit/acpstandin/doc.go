// Package acpstandin is a test stand-in for agents that use the Agent Client Protocol
// (version 1) on standard input and output. It needs no model, account or network. The
// prompt is the script: lines that begin with an @ and a known word are steps, and other
// lines are ignored. If no step says anything, the agent says "Done: " and the first line
// of the message.
//
//	@say TEXT            a message, in two chunks
//	@think TEXT          a thought
//	@sh COMMAND          asks, then runs COMMAND in a separate process session
//	@write PATH TEXT     asks, then writes a file and reports the diff
//	@double COMMAND      asks twice for one call, then runs COMMAND
//	@deny TOOL WHAT      a call that fails without a question
//	@tool NAME JSON      calls a tool of the MCP servers that the client was given
//	@sleep 3s            prints nothing for 3 seconds
//	@hang                ignores signals and session/cancel
//	@cost 0.25           adds US dollars to the cost of the session
//	@context 12000       sets the size of the context, in tokens
//	@compact             shrinks the context to a third
//	@steer               waits for _session/steering and follows its script
//	@late                sends updates after the response
//	@fail TEXT           says TEXT, and ends the turn as if the model had refused it
//	@status 429          ends the turn as this client does when its model's service answers with
//	                     this status; "@status 429 usage" is the usage limit of a subscription
//	@noresult            exits in the middle of the turn, with status 1
//
// The real clients differ. A [Personality] is a struct with one field for each observed
// difference. [Personalities] contains one entry for each client, with its values.
//
// Environment variables select the stand-in's behavior:
//
//	ACPSTANDIN=codex            the personality; without it "acp", which has no quirks
//	ACPSTANDIN_QUIRKS={…}       JSON that changes fields of the personality
//	ACPSTANDIN_NO_FIRST_EVENT=1 exits before it answers initialize
//	ACPSTANDIN_BAD=prose        a bad client; see [Bad]
//	ACPSTANDIN_PLAY=FILE        plays a recorded dialogue; see [Player]
//
// Sessions are stored as files below $HOME/.acpstandin, so a later process can resume
// them.
package acpstandin
