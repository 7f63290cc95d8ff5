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

// permitted lists the tools that need permission and that only an agent's own list of
// allowed tools can give.
var permitted = []string{"PowerShell"}

// unsorted returns the client's own tools in the list of an init line that are in none of
// our lists. Such a tool may need no permission, or begin work that no message requested.
// The tools of MCP servers and of plugins, which begin with
// mcp__, belong to the agent's configuration.
func unsorted(offered []string) []string {
	return slices.DeleteFunc(slices.Clone(offered), func(tool string) bool {
		return strings.HasPrefix(tool, "mcp__") || slices.Contains(builtIn, tool) || slices.Contains(never, tool) ||
			slices.Contains(behind, tool) || slices.Contains(quiet, tool) || slices.Contains(permitted, tool)
	})
}
