package acptest

// A Client is a real coding agent that supports the Agent Client Protocol, in the version
// that the tests run.
type Client struct {
	Name    string // name of the backend
	Package string // on npm
	Version string
	Program string // the name of its command
}

// Clients lists all clients. The Makefile reads this list and installs them below
// .tools/acp.
var Clients = []Client{
	{Name: "codex", Package: "@agentclientprotocol/codex-acp", Version: "2.6.0", Program: "codex-acp"},
	{Name: "opencode", Package: "opencode-ai", Version: "1.18.33", Program: "opencode"},
	{Name: "copilot", Package: "@github/copilot", Version: "1.0.102", Program: "copilot"},
	{Name: "gemini", Package: "@google/gemini-cli", Version: "0.61.0", Program: "gemini"},
	{Name: "cline", Package: "cline", Version: "3.0.65", Program: "cline"},
}
