package config

import "slices"

// everyTool is the entry of allowed_tools that allows all tools of a client, including
// those that this version of claude-swarm does not know.
const everyTool = "all"

// AllTools reports whether the agent gets even the tools that this version of claude-swarm
// does not know.
func (a Agent) AllTools() bool {
	return a.Client.AllowedTools != nil && slices.Contains(*a.Client.AllowedTools, everyTool)
}

// ToolList returns the list of the tools that the agent may use. nil means no list, so that
// it may use all.
func (a Agent) ToolList() *[]string {
	if a.AllTools() {
		return nil
	}
	return a.Client.AllowedTools
}
