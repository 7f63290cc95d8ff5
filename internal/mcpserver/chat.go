package mcpserver

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/bridge"
)

// This file contains tools that duplicate some of the tools in irc.go and ircchannel.go
// under names that do not depend on the chat system.

type sendMessageArguments struct {
	Channel string `json:"channel" jsonschema:"#channel"`
	Text    string `json:"text" jsonschema:"at most 8192 bytes"`
}

func (c chat) sendMessage(_ context.Context, in sendMessageArguments) (*saidOnIRC, error) {
	return c.say(in.Channel, in.Text)
}

type readMessagesArguments struct {
	Channel string `json:"channel" jsonschema:"#channel"`
	Since   string `json:"since,omitempty" jsonschema:"only lines after this time, such as 2026-11-21T09:00:00Z"`
	Limit   int    `json:"limit,omitempty" jsonschema:"how many; default: 50" minimum:"1" maximum:"500"`
}

func (c chat) readMessages(_ context.Context, in readMessagesArguments) (*channelLines, error) {
	var since time.Time
	if in.Since != "" {
		var err error
		if since, err = time.Parse(time.RFC3339, in.Since); err != nil {
			return nil, fmt.Errorf("since: %q is not a time; write it like 2026-11-21T09:00:00Z", in.Since)
		}
	}
	lines, at, err := c.irc.Recent(in.Channel, since, cmp.Or(in.Limit, 50))
	if err != nil {
		return nil, err
	}
	return &channelLines{Channel: at, Lines: c.ircLines(lines), Note: c.whySilent(lines)}, nil
}

type createChannelArguments struct {
	Name string `json:"name" jsonschema:"#channel"`
}

func (c chat) createChannel(_ context.Context, in createChannelArguments) (*saidOnIRC, error) {
	return c.tell(bridge.DoJoin, in.Name, "")
}

// A nameList is the result of list_channels and get_members.
type nameList struct {
	Names []string `json:"names"`
	Note  string   `json:"note,omitempty"`
}

func (c chat) listChannels(ctx context.Context, in noArguments) (*nameList, error) {
	list, err := c.channels(ctx, in)
	if err != nil {
		return nil, err
	}
	n := &nameList{Names: []string{}, Note: list.Note}
	for _, ch := range list.Channels {
		n.Names = append(n.Names, ch.Name)
	}
	return n, nil
}

func (c chat) getMembers(ctx context.Context, in channelArguments) (*nameList, error) {
	who, err := c.who(ctx, ircWhoArguments(in))
	if err != nil {
		return nil, err
	}
	n := &nameList{Names: []string{}}
	for _, m := range who.Members {
		n.Names = append(n.Names, m.Nick)
	}
	slices.Sort(n.Names)
	return n, nil
}

func (n *nameList) readable() string {
	var t text
	t.line("%s", cmp.Or(strings.Join(n.Names, ", "), "none"))
	t.remark(n.Note)
	return t.String()
}
