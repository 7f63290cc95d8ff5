package runnertest

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A Step is one action of a scripted client. The functions below make steps. Steps after
// one that ends the turn are ignored.
type Step func(*client) *runner.Outcome

// goOn makes a step that does not end the turn.
func goOn(f func(*client)) Step {
	return func(c *client) *runner.Outcome { f(c); return nil }
}

// Say makes the client say text. The last Say determines the text of the turn.
func Say(text string) Step {
	return goOn(func(c *client) {
		c.said = text
		c.assistant(streamjson.Block{Kind: streamjson.BlockText, Text: text})
	})
}

// Tool makes the client call a tool, which returns result immediately. input is encoded
// as JSON.
func Tool(name string, input any, result string) Step {
	return goOn(func(c *client) {
		id := c.call(name, input)
		if !c.permitted(name, encode(input)) {
			c.refuse(name, id, encode(input))
			return
		}
		c.emit(streamjson.Event{Kind: streamjson.KindUser, Blocks: []streamjson.Block{{Kind: streamjson.BlockToolResult, ID: id, Text: result}}})
	})
}

// During makes the client call a tool that takes as long as f runs.
func During(name string, input any, f func(context.Context) error) Step {
	return func(c *client) *runner.Outcome {
		id := c.call(name, input)
		if err := f(c.ctx); err != nil && c.ctx.Err() == nil {
			return c.outcome(runner.Failed, err.Error())
		}
		c.emit(streamjson.Event{Kind: streamjson.KindUser, Blocks: []streamjson.Block{{Kind: streamjson.BlockToolResult, ID: id}}})
		return nil
	}
}

// Deny makes the client call a tool and refuses the call.
func Deny(name, what string) Step {
	return goOn(func(c *client) {
		input := map[string]string{"path": what}
		if name == Shell {
			input = map[string]string{"command": what}
		}
		c.refuse(name, c.call(name, input), encode(input))
	})
}

// permitted reports whether the client may use a tool. It calls Permit if the client asks.
func (c *client) permitted(name string, input json.RawMessage) bool {
	if !c.asks {
		return true
	}
	request := runner.PermissionRequest{Kind: "other", Title: name, Input: input}
	switch about := (tools{}).About(name, input); name {
	case Shell:
		request.Kind, request.Command = "execute", about
	case Save:
		request.Kind, request.Paths = "edit", []string{about}
	}
	d := runner.Decision{Request: request, At: time.Now()}
	if c.turn.Permit != nil {
		d = c.turn.Permit(c.ctx, request)
	}
	c.decided = append(c.decided, d)
	return d.Allowed
}

// refuse ends a call that was not permitted.
func (c *client) refuse(name, id string, input json.RawMessage) {
	c.denied = append(c.denied, streamjson.Denial{Tool: name, ID: id, Input: input})
	c.emit(streamjson.Event{Kind: streamjson.KindUser, Blocks: []streamjson.Block{{Kind: streamjson.BlockToolResult, ID: id, Text: "permission denied", Failed: true}}})
}

func (c *client) call(name string, input any) string {
	c.calls++
	id := fmt.Sprintf("toolu_%s_%d", c.turn.ID, c.calls)
	c.assistant(streamjson.Block{Kind: streamjson.BlockToolUse, ID: id, Name: name, Input: encode(input)})
	return id
}

func encode(input any) json.RawMessage {
	data, err := json.Marshal(input)
	if err != nil {
		panic(fmt.Sprintf("runnertest: input of a tool: %v", err))
	}
	return data
}

// sleep waits for d. It ends the turn if d is at least Stall.
func sleep(d time.Duration) Step {
	return func(c *client) *runner.Outcome { c.birth(); return c.wait(d) }
}

// forever is longer than any test takes.
const forever = 100 * 365 * 24 * time.Hour

// Do calls f, for effects outside the client, in the goroutine of Run and with Run's
// context. An error ends the turn as Failed.
func Do(f func(context.Context, runner.Turn) error) Step {
	return func(c *client) *runner.Outcome {
		c.birth()
		if err := f(c.ctx, c.turn); err != nil && c.ctx.Err() == nil {
			return c.outcome(runner.Failed, err.Error())
		}
		return nil
	}
}

// TakeIn makes the client wait for a message from the turn's Steering and read it.
func TakeIn() Step {
	return func(c *client) *runner.Outcome {
		c.birth()
		for c.ctx.Err() == nil { // [client.play] handles the end of ctx
			if s, ok := c.turn.Steering.Next(); ok {
				c.brought = append(c.brought, s.UUID)
				c.emit(streamjson.Event{Kind: streamjson.KindReplay, UUID: s.UUID, Blocks: []streamjson.Block{{Kind: streamjson.BlockText, Text: s.Prompt}}})
				return nil
			}
			select {
			case <-c.turn.Steering.Wake:
			case <-c.ctx.Done():
			}
		}
		return nil
	}
}

// TookIn makes a followed client read a message that an earlier daemon delivered.
func TookIn(uuid string) Step {
	return goOn(func(c *client) { c.emit(streamjson.Event{Kind: streamjson.KindReplay, UUID: uuid}) })
}

// Emit emits an event unchanged.
func Emit(ev streamjson.Event) Step {
	return goOn(func(c *client) { c.birth(); c.emit(ev) })
}

// Cost sets the turn's cost so far, in US dollars, and reports it.
func Cost(usd float64) Step {
	return goOn(func(c *client) {
		c.cost = usd
		if c.turn.Spent != nil {
			c.turn.Spent(usd)
		}
	})
}

// Price sets the cost of each further request to the model, in US dollars. Each text
// block and each tool call is one request.
func Price(usd float64) Step { return goOn(func(c *client) { c.price = usd }) }

// Compact makes the client compact its context, without running the turn's hook.
func Compact() Step {
	return goOn(func(c *client) {
		c.birth()
		before := c.context
		c.context = min(c.context, 12000)
		c.emit(streamjson.Event{Kind: streamjson.KindStatus, Status: &streamjson.Status{Text: "compacting"}})
		c.emit(streamjson.Event{Kind: streamjson.KindStatus, Status: &streamjson.Status{CompactResult: "success"}})
		c.emit(streamjson.Event{Kind: streamjson.KindCompact, Compact: &streamjson.Compact{Trigger: "auto", Pre: before, Post: c.context}})
		c.emit(streamjson.Event{Kind: streamjson.KindUser, Synthetic: true, Blocks: []streamjson.Block{{Kind: streamjson.BlockText, Text: "This session continues an earlier one. Summary: it was scripted."}}})
	})
}

// HookRan makes the client report that the compact hook printed output.
func HookRan(output string) Step {
	return goOn(func(c *client) {
		c.birth()
		c.emit(streamjson.Event{Kind: streamjson.KindHook, Hook: &streamjson.Hook{Event: hookEvent, Output: output}})
	})
}

// ends ends the turn with an error result that contains reason.
func ends(end runner.End, reason string, more func(*runner.Outcome)) Step {
	return func(c *client) *runner.Outcome {
		c.result(true, reason)
		out := c.outcome(end, reason)
		more(out)
		return out
	}
}

// Hang waits until something else ends the turn.
func Hang() Step { return sleep(forever) }

// Fail ends the turn as Failed.
func Fail(text string) Step { return ends(runner.Failed, text, func(*runner.Outcome) {}) }

// Refused ends the turn as Refused, like a client that cannot work, for example because
// its key is wrong.
func Refused(reason string) Step { return ends(runner.BadSetup, reason, func(*runner.Outcome) {}) }

// Unknown ends the turn as Limited, for a reason that the client does not specify.
func Unknown() Step {
	return ends(runner.Limited, "API Error: something is wrong", func(out *runner.Outcome) { out.Unknown = true })
}

// End ends the turn with an error result and the end, reason, hint and flags of out.
func End(out runner.Outcome) Step {
	return ends(out.End, out.Reason, func(o *runner.Outcome) {
		o.Hint, o.Rejected, o.Service = out.Hint, out.Rejected, out.Service
	})
}

// Unavailable ends the turn because of an error of the service.
func Unavailable(how runner.ServiceError) Step {
	reason := "API Error: 500 Internal server error"
	if how == runner.ServiceAway {
		reason = "API Error: Connection refused"
	}
	return ends(runner.Limited, reason, func(out *runner.Outcome) { out.Service = how })
}

// Limited ends the turn because of a usage limit that is lifted after d. A negative d
// means that the limit has already been lifted, and 0 means that the client does not say
// when it will be lifted.
func Limited(d time.Duration) Step { return limited("the usage limit has been reached (429)", d) }

func limited(reason string, d time.Duration) Step {
	return ends(runner.Limited, reason, func(out *runner.Outcome) {
		if d != 0 {
			out.ResetAt = time.Now().Add(d)
		}
	})
}

// noFirstEvent ends the turn before its first event.
func noFirstEvent(c *client) *runner.Outcome {
	return c.crash(runner.NoFirstEvent, "the client died before its first event")
}

// Gone ends the turn as if its waiting client had died before it received the prompt. It
// does nothing in a client that was started for the turn.
func Gone() Step {
	return func(c *client) *runner.Outcome {
		if c.turn.From == (runner.Place{}) {
			return nil
		}
		return c.outcome(runner.ClientGone, "the client that waited has ended")
	}
}

// promptNotRun acknowledges the prompt and ends the turn without running it.
func promptNotRun(timing runner.Timing) Step {
	return func(c *client) *runner.Outcome {
		c.emit(streamjson.Event{Kind: streamjson.KindReplay, UUID: c.turn.UUID, Blocks: []streamjson.Block{{Kind: streamjson.BlockText, Text: c.turn.Prompt}}})
		if out := c.wait(timing.Or(runner.DefaultTiming()).PromptNotRun); out != nil {
			return out
		}
		return c.outcome(runner.PromptNotRun, "the client knows this prompt and does not run it again")
	}
}

// NoResult ends the turn without a result after it has begun.
func NoResult() Step {
	return func(c *client) *runner.Outcome {
		c.birth()
		return c.crash(runner.Failed, "the client ended without a result")
	}
}

// Panic panics in the goroutine of Run.
func Panic(text string) Step { return func(*client) *runner.Outcome { panic(text) } }
