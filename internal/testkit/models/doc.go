// Package models implements a scripted model that supports the three wire formats of coding
// agents. It lets the real clients run complete turns without a network or an account.
//
//	POST /v1/responses                                       codex
//	POST /v1/chat/completions                                opencode, copilot, cline
//	POST /v1beta/models/MODEL:streamGenerateContent          gemini
//
// The prompt determines what the model does. The script consists of the lines that begin
// with these words in the newest user message that contains such lines. The model ignores
// the other lines, and everything inside <prior-context>:
//
//	@say TEXT              streams TEXT, on a new line if it is not the first text
//	@sh COMMAND            calls the client's tool for commands
//	@write FILE TEXT       calls the client's tool that writes a file
//	@tool NAME JSON        calls the tool of an MCP server, by the server's name for it
//	@sleep DURATION        waits
//	@hang                  waits until the client hangs up
//	@status CODE [retry-after SECONDS] [times N]   sends an HTTP error to the first N requests
//	@limit [SECONDS]       reports the account's usage limit, which ends after that many seconds
//	                       (the default is 3600)
//	@cut                   closes the connection in the middle of the answer
//	@context TOKENS        sets the input tokens that answers report from here on
//
// An answer ends with the first tool call. The client's next request contains the call's
// result, and the answer to that request continues the script after the call. If the rest
// of the script contains no text or call, or if the prompt has no script, the model says
// [Fixed]. A request that offers no tools, such as one for a title, always gets [Title].
//
// Each answer reports 100 input tokens, unless @context sets another number, and 10 output
// tokens, so a test can check the totals that a client reports.
package models
