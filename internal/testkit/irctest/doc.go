// Package irctest contains the servers for tests of IRC clients: real servers on
// loopback, also with TLS and real accounts, a real bouncer, a server with the features
// that the servers in Linux distributions lack (multiline, history, relayed messages), a
// script that plays an exchange byte by byte, and a proxy that breaks connections in
// every way.
//
// Everything listens on 127.0.0.1 at a free port and ends with the test. If the program
// of a real server is not installed, the test is skipped. With SWARM_STRICT=1 it fails.
package irctest
