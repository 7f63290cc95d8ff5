// Package bridgetest is a test suite for bridges that works with a link to any network.
// It checks that the bridge posts the messages in its mailbox, that the agents receive
// what people write, and that nothing is lost while the network is down or the bridge
// restarts.
package bridgetest
