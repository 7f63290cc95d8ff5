// Package acptest runs the real coding agents that speak the Agent Client Protocol, without
// a network and without an account. It lists their versions, and gives each client a home
// folder and an environment that make it use the scripted model of package models.
//
//	Again()      runs this program in a network namespace with only loopback
//	Prepare()    makes a home folder, a working folder and an environment for one client
//	Home.Speak() returns the command that starts the client as an agent of the protocol
//
// The package does not read or write the user's home. `make acp-tools` installs the
// clients.
package acptest
