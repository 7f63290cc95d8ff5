// Package acptest runs the real coding agents that speak the Agent Client Protocol, without a
// network and without an account: their versions, and a home folder for each with the
// configuration that makes package models its model.
//
//	Again()      runs this program in a network namespace with only loopback
//	Prepare()    a home folder, a working folder and an environment for one client
//	Home.Speak() the client as a process that speaks the protocol
//
// The package does not read or write the user's home. `make acp-tools` installs the
// clients.
package acptest
