// Package backends runs turns on each ACP backend with its real client and a scripted model
// on loopback, and prints which guarantees each backend meets:
//
//	make backends         the rows that an agent needs
//	make backends-full    all rows
//
// Each row runs once per client, without a retry. acptest.Cannot lists the rows that a
// client cannot pass, with the reasons; these rows are printed as "no". The test fails
// if a row that is not in the list fails, or if a row in the list passes.
//
// The clients are those that `make acp-tools` installs. TestMixedSwarm also needs Claude
// Code, which `make tools` installs. If the machine allows it, everything runs in a network
// namespace that has only loopback.
package backends
