// Package standin is a stand-in for the claude command line program. It accepts the same
// flags, stores sessions, and prints the same stream of JSON lines as Claude Code 2.1.330
// in print mode, or 2.1.197 if STANDIN_VERSION selects it. It uses no model; instead, the
// prompt contains the script of a turn. Tests use it to run thousands of turns, in the
// test binary itself or with the program in the folder claude.
//
// # A turn
//
//	stdin line ---> replay ---> init ---> steps of the script ---> result ---+
//	    ^                                                                    |
//	    +--------------------------- next line <-----------------------------+
//	                                 EOF: exit 0, or 1 after a bad result
//
// The script of a turn consists of the prompt's lines that begin with a verb from this
// table, in order. Lines inside <prior-context> are ignored. D is a duration (3s, 250ms,
// or a number of seconds), and N is a number. \n in TEXT is a line break.
//
//	@say TEXT             text of the assistant; the last one is the result
//	@think TEXT           a thinking block
//	@sh COMMAND           Bash: run by /bin/sh in a separate session
//	@write PATH TEXT      Write: the file is TEXT and a line break
//	@edit PATH OLD => NEW Edit: the first OLD becomes NEW
//	@read PATH            Read
//	@deny TOOL INPUT      a call of TOOL that is refused, whatever the rules say
//	@sleep D              silence
//	@await PATH           silence until the file exists
//	@tick D EVERY         a text every EVERY for D
//	@big N                a text of N bytes
//	@cost USD             what the turn costs
//	@context N            tokens in the context from here on
//	@model NAME           the model from here on
//	@compact              the session is compacted here
//	@fail TEXT            the turn ends with is_error and this text
//	@status N [retry-after S]  the API refuses: 401, 403, 404, 429, 500, 529 …
//	@limited D            the usage limit of a subscription, lifted after D
//	@exit N               the process exits with N, without a result
//	@die                  the process kills itself with SIGKILL
//	@noresult             the process exits with 0, without a result
//	@linger D             the process stays D after the end of its input
//	@hang                 silent endlessly; deaf to SIGINT, SIGTERM and EOF
//	@spin                 like @hang, and keeps a processor busy
//	@closeout             standard output is closed, and the process continues
//	@orphan D             a grandchild in its own session holds stdout for D
//	@unborn               the process exits with 1 before it prints anything
//	@deaf                 deaf to SIGINT, SIGTERM and interrupts from here on
//	@pending TOOL TEXT    a call of TOOL that is never answered
//	@again TEXT           after the result a turn that no prompt began: init,
//	                      TEXT, and a second result
//	@flood                lines at full speed until it is interrupted
//	@noise N              N bytes on standard error
//	@first VERB …         VERB, but not in a prompt that says that the message
//	                      was begun before
//	@rubbish              a line that is not JSON
//	@unknown              an event of an unknown type
//
// A line with any other word after the @ is plain text. A known verb with an invalid
// argument ends the process with status 2, so an error in a test script does not go
// unnoticed. The answer to a prompt without verbs is "Done: " and the first line of the
// body, which is between two identical lines of the form "--- mark ---". If there is no
// such frame, the answer contains the last non-blank line instead. If ANTHROPIC_BASE_URL is
// set, such a prompt is sent to the Messages API at that address, and the turn, including
// its tool calls, continues until the model stops.
//
// --disallowedTools applies to all tools, as does --allowedTools in the modes dontAsk and
// plan. With an API, the other modes also apply to Bash, Read, Write and Edit.
//
// # A cap
//
// --max-budget-usd USD is the maximum amount that the process may spend. After each
// request (a text block or a tool call in the script), the cost is compared with this
// cap. A turn that has reached the cap ends with error_max_budget_usd, and its result has
// no text, even if the last request returned the answer. Later turns are refused.
//
// # Sessions
//
// A session is a file below $CLAUDE_CONFIG_DIR (or $HOME/.claude), in standin/<hash of the
// working directory>/<id>.jsonl. If the session already contains a message's uuid, the
// message is echoed but not run again. After a compaction, the next process of the session
// no longer recognizes earlier uuids.
//
// In 2.1.330, the totals in a result (total_cost_usd, modelUsage) cover the session,
// including its earlier processes; model_usage_since_last_result covers only the turn. In
// 2.1.197, the totals cover only the process.
//
// When the context reaches the compact window (the autoCompactWindow setting, or
// CLAUDE_CODE_AUTO_COMPACT_WINDOW) minus 33,000 tokens, the next turn compacts first and
// runs the SessionStart hooks in --settings. In 2.1.330, the system prompt of the first turn
// applies until a compaction, unless --system-prompt-snapshot off or an initialize request
// disables this.
//
// # Prompts
//
// 2.1.330 prints the state of each prompt that has a uuid (command_lifecycle): queued
// when it has been read, then started, then completed, or cancelled after an interrupt.
// The stand-in prints the line that echoes the prompt at the beginning of the prompt's
// turn; the real program prints it with the first content.
//
// # Stopping
//
// An "interrupt" control request ends the running turn with error_during_execution, but
// does not end the process. SIGINT ends the turn in the same way, and then the process.
// SIGTERM and SIGHUP end the process immediately with 143 and 129 and do not stop a
// running Bash command. The real program does the same.
//
// # Unsupported features
//
// The stand-in does not support hooks other than SessionStart, sub-agents, background
// commands, plugins, session titles, or "priority" on a message. MCP servers are listed
// where the real program lists them, but not started. The stand-in answers a prompt of the
// form /word the way the real program does, but only /compact and /clear have an effect.
// There is no socket for messages from other sessions (messaging_socket_path), and no MCP
// tools are deferred.
//
// # Environment
//
//	STANDIN_LOG=FILE     for each prompt of a turn, a line when the turn begins and
//	                     one when it ends:
//	                     "begin AGENT UUID PID FIRST-LINE-OF-THE-BODY", "end …"
//	                     (before the result is printed; none after @exit and
//	                     the like); also "steer …" for a message taken into a
//	                     running turn, "deaf …" when @hang, @spin or @deaf
//	                     begins, and "unheard AGENT - PID SIGNAL" for each signal
//	                     after that
//	STANDIN_LOCK=DIR     holds a lock on DIR/AGENT until it and every command that
//	                     it started have ended; if another holds it, the log
//	                     gets "overlap AGENT - PID" and the process exits with 1
//	STANDIN_UNBORN=1     exits with 1 before it prints anything
//	STANDIN_SILENT=1     does its work and prints nothing
//	STANDIN_VERSION=V    the version that is played, 2.1.197 or 2.1.330 (the default)
//	STANDIN_TOOLS=NAMES  tools that it offers besides its own, separated by spaces
//	STANDIN_NOREPLAY=1   prints neither replay lines nor the states of prompts
//	STANDIN_DELAY=D      waits D before each result
//	STANDIN_MCP=STATUS   the reported state of the MCP servers: connected (the default),
//	                     "failed WHY", pending, slow (pending in the first two answers)
//	                     or "after D" (pending until the process has run for D)
//	STANDIN_MCP_ANSWER=W how mcp_status is answered: none, unknown, or "after D" (after
//	                     D, during which nothing else is read)
//
// AGENT is $CLAUDE_SWARM_AGENT, or a dash if it is not set. Each log line is written in a
// single write, so many processes can share the file.
package standin
