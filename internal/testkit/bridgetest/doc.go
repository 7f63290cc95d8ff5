// Package bridgetest is the test suite for a bridge over the link to any network: the
// bridge says the messages of its mailbox, people's words reach the agents, and neither is
// lost while the network is down or the bridge restarts.
package bridgetest
