// Package acptest knows the real coding agents that speak the Agent Client Protocol: which
// versions the tests run, and where `make acp-tools` installs them.
package acptest
