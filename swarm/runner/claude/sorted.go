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
// second shell, and DesignSync, which version 2.1.332 offers with some models and which
// sends the project's files to a service.
var listed = []string{"DesignSync", "PowerShell"}

// unsorted returns the client's own tools in the list of an init line that are in none of
// our lists. Such a tool may need no permission, or begin work that no message requested.
// The tools of MCP servers and of plugins, which begin with
// mcp__, belong to the agent's configuration.
func unsorted(offered []string) []string {
	return slices.DeleteFunc(slices.Clone(offered), func(tool string) bool {
		return strings.HasPrefix(tool, "mcp__") || slices.Contains(builtIn, tool) || slices.Contains(never, tool) ||
			slices.Contains(behind, tool) || slices.Contains(quiet, tool) || slices.Contains(listed, tool)
	})
}
