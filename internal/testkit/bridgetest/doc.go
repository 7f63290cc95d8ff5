// Package bridgetest is the test suite for a bridge over a link to any network. It
// checks that the bridge posts the messages of its mailbox, that people's words reach the
// agents, and that nothing is lost while the network is down or the bridge restarts.
package bridgetest
