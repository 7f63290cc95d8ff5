// Package backends runs turns of each backend that speaks the Agent Client Protocol with its
// real client, against a scripted model on loopback, and prints which of them keep which
// promise:
//
//	make backends         the rows that an agent needs
//	make backends-full    all rows
//
// Each row is run once for each client, and is not tried again. A row that a client cannot
// pass is in a list, with the reason, and is printed as "no". A row that fails without being
// there is a failed test; so is a row that passes although it is there.
//
// The clients are those that `make acp-tools` installs. Where the machine allows it, all of
// it runs in a network namespace that has nothing but loopback.
package backends
