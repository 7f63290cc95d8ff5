// Package bridgetest is the suite that a bridge passes over the link to any network: what
// waits in its mailbox is said, what people say reaches the agents, and neither is lost
// while the network is down or the bridge begins again.
package bridgetest
