// Package irctest contains servers for testing IRC clients: real servers on loopback,
// optionally with TLS and real accounts; a real bouncer; a server with the features that
// the servers in Linux distributions lack (multiline, history, relayed messages); a
// script that plays an exchange byte by byte; and a proxy that breaks connections in many
// ways.
//
// Every server listens on a free port on 127.0.0.1 and stops at the end of the test. If
// the program of a real server is not installed, the test is skipped. With
// SWARM_STRICT=1, the test fails instead.
package irctest
