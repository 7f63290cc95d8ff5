package claude

import (
	"slices"
	"strings"
)

// quiet lists the tools that need no permission and that reach nothing outside the
// client: they find tools, read what the agent's servers offer, or return the result of a
// flag that we do not use.
var quiet = []string{
	"EnterPlanMode", "ExitPlanMode", "ListMcpResourcesTool", "LSP", "ReadMcpResourceDirTool", "ReadMcpResourceTool",
	"StructuredOutput", "ToolSearch", "WaitForMcpServers",
}

// listed lists the tools that an agent gets only if its list of allowed tools names them: a
// second shell, and DesignSync, which version 2.1.332 offers in some sessions and which
// writes the project's files to a service.
var listed = []string{"DesignSync", "PowerShell"}

// Sorted reports whether this version of claude-swarm knows the client's built-in tool: one
// of our lists says whether agents get it always, never, or only if they are told to.
func Sorted(tool string) bool {
	for _, list := range [][]string{builtIn, never, behind, quiet, listed} {
		if slices.Contains(list, tool) {
			return true
		}
	}
	return false
}

// ToolLists returns the tools that an agent without a list may use, and those that are off.
func ToolLists() (allow, off []string) {
	return slices.Clone(builtIn), slices.Concat(never, behind, listed)
}

// unsorted returns the client's own tools in the list of an init line that are in none of
// our lists. Such a tool may need no permission, or begin work that no message requested.
// The tools of MCP servers and of plugins, which begin with mcp__, belong to the agent's
// configuration.
func unsorted(offered []string) []string {
	return slices.DeleteFunc(slices.Clone(offered), func(tool string) bool { return strings.HasPrefix(tool, "mcp__") || Sorted(tool) })
}
