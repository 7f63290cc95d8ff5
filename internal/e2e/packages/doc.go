// Package packages tests the packages of a release as a person meets them: it makes them,
// installs each kind into an empty root or prefix, runs the program from there, removes the
// package, and looks for what it left behind.
//
//	make packages-test                  this machine's platform
//	make nightly PART=packages          all platforms, the second time without any cache
//
// It needs dpkg, rpm, npm, man, the shells, and Claude Code, which `make tools` installs. If
// the machine allows it, everything runs in a network namespace that has only loopback, so
// no installation can fetch anything.
package packages
