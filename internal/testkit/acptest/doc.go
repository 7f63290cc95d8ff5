// Package acptest runs the real coding agents that support the Agent Client Protocol,
// without a network or an account. It lists their versions, and prepares a home folder
// and an environment in which each client uses the scripted model from package models.
//
//	Again()      runs this program in a network namespace with only loopback
//	Prepare()    makes a home folder, a working folder and an environment for one client
//	Home.Speak() returns the command that starts the client as an agent of the protocol
//
// The package does not access the user's home folder. `make acp-tools` installs the
// clients.
package acptest
