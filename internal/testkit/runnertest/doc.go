// Package runnertest has what tests of turns need: [Scripted], a backend
// without processes whose turns do what the prompt or the test says, and
// [Suite], the promises that every backend keeps, over its own stand-in client.
//
// A prompt is a script. Lines that begin with @ and a known word are its steps,
// in order; the words are those of the stand-in client (internal/testkit/standin), so
// that one message does the same in both:
//
//	@say TEXT              the client says so
//	@think TEXT            it thinks so
//	@tool NAME [RESULT]    it calls a tool, which answers RESULT
//	@sh COMMAND            it calls Bash (nothing is really run)
//	@write PATH [TEXT]     it calls Write (nothing is really written)
//	@edit PATH …           it calls Edit (the same)
//	@read PATH             it calls Read
//	@deny TOOL [ARGUMENT]  it calls a tool and is not permitted to
//	@sleep 3s              silence
//	@tick 3s 100ms         a text every 100 ms for 3 s
//	@cost 0.05             the turn costs so many US dollars
//	@context 68000 [LIMIT] the context is so large, in tokens
//	@model NAME            the model that answers
//	@compact               the client compacts its context
//	@fail TEXT             the turn ends Failed with that text
//	@status 401|404|429|529 [retry-after SECONDS]  it ends as the API's answer demands
//	@limited 1h            it ends Limited, until an hour from now
//	@unknown               it ends Limited, for a cause that the client does not name
//	@refused [TEXT]        it ends Refused
//	@nosession             it ends NoSession
//	@unborn                the client dies before its first event
//	@exit N, @noresult, @die   it ends Failed, without a result
//	@lost                  Follow finds it Lost
//	@unheard               the client acknowledges the prompt and does not run it
//	@hang                  silence until the turn is stopped or timed out
//	@panic TEXT            Run panics
//
// Without a step the client says "Done: " and the first line of the body, which
// stands between the two "--- mark ---" lines of a prompt.
//
// Scripted uses plain time and starts no goroutine, so it runs inside a bubble
// of testing/synctest.
package runnertest
