package acp

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// options returns the keys under backend_options that change a client's description. They
// are needed for a program that is not in [Clients], and for a version that differs from
// the tested one.
func options() []runner.Option {
	return []runner.Option{
		key("start_timeout", "time", "How long the program may take to answer initialize.", aTime),
		key("silence", "time", "How long it may be silent before its model is considered unresponsive and the turn is tried again.", aTime),
		key("protocol", "1 or 2", "The protocol version to request; version 2 is a draft that no current client offers.", aVersion),
		key("late_tools", "true or false", "The client starts MCP servers only with the first prompt.", aBool),
		key("late_replay", "true or false", "The replay of a loaded session continues after the answer to session/load.", aBool),
		key("stays", "true or false", "The client does not exit when its input is closed.", aBool),
		key("servers", "session or file", "Where the client reads its MCP servers from; {servers} in command and env is the path of the file.", oneOf("session", "file")),
		key("tokens", "turn, session or quota", "What the token counts of a result cover.", oneOf("turn", "session", "quota")),
		key("model_args", "list of strings", "The arguments that name the model, with {model}.", texts),
		key("notes", "list of strings", "The beginnings of messages that come from the program, not the model.", texts),
		key("errors", "list of patterns", "Answers that count as errors; the first group may match an HTTP status.", patterns),
		key("limits", "list of patterns", "Errors that mean that the account has reached its limit.", patterns),
	}
}

func key(name, kind, doc string, check func(any) error) runner.Option {
	return runner.Option{Name: name, Type: kind, Doc: doc, Check: check}
}

func aTime(v any) error {
	text, ok := v.(string)
	if d, err := time.ParseDuration(text); !ok || err != nil || d <= 0 {
		return errors.New("want a time, such as 60s")
	}
	return nil
}

func aVersion(v any) error {
	if n, ok := v.(int); !ok || n != first && n != second {
		return errors.New("want 1 or 2")
	}
	return nil
}

func aBool(v any) error {
	if _, ok := v.(bool); !ok {
		return errors.New("want true or false")
	}
	return nil
}

func oneOf(words ...string) func(any) error {
	return func(v any) error {
		if text, ok := v.(string); !ok || !slices.Contains(words, text) {
			return fmt.Errorf("want one of %q", words)
		}
		return nil
	}
}

func texts(v any) error {
	list, ok := v.([]any)
	for _, each := range list {
		if _, text := each.(string); !text {
			ok = false
		}
	}
	if !ok {
		return errors.New("want a list of strings")
	}
	return nil
}

func patterns(v any) error {
	if err := texts(v); err != nil {
		return err
	}
	for _, text := range listed(v) {
		if _, err := regexp.Compile(text); err != nil {
			return fmt.Errorf("%q is not a valid pattern: %w", text, err)
		}
	}
	return nil
}

// listed returns the strings of a list.
func listed(v any) (all []string) {
	list, _ := v.([]any)
	for _, each := range list {
		if text, ok := each.(string); ok {
			all = append(all, text)
		}
	}
	return all
}

// changedBy returns c with an agent's options applied. The options were checked along
// with the configuration. rest contains the options that are passed to the client.
func (c Client) changedBy(all map[string]any) (changed Client, rest map[string]any) {
	for name, v := range all {
		text, _ := v.(string)
		yes, _ := v.(bool)
		d, _ := time.ParseDuration(text)
		switch name {
		case "start_timeout":
			c.Start = d
		case "protocol":
			c.Protocol, _ = v.(int)
		case "silence":
			c.Silence = d
		case "late_tools":
			c.LateTools = yes
		case "late_replay":
			c.LateReplay = yes
		case "stays":
			c.Stays = yes
		case "servers":
			c.Servers = inSession
			if text == "file" {
				c.Servers = inFile
			}
		case "tokens":
			c.Tokens, c.Kind.Tokens = inUsage, runner.TokensOfResult
			switch text {
			case "session":
				c.Kind.Tokens = runner.TokensOfSession
			case "quota":
				c.Tokens = inQuota
			}
		case "model_args":
			c.ModelArgs = listed(v)
		case "notes":
			c.Notes = listed(v)
		case "errors":
			c.Errors = listed(v)
		case "limits":
			c.Limits = listed(v)
		default:
			if rest == nil {
				rest = map[string]any{}
			}
			rest[name] = v
		}
	}
	return c, rest
}
