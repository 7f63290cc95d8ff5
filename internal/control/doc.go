// Package control implements the socket between the command line and the daemon: the
// server, which the daemon runs, and the client, which every verb uses.
//
// Both ends send lines of JSON, each at most 1 MiB long. Each end first sends a hello;
// then the client sends requests, and the server answers with the same id:
//
//	client                                        daemon
//	  {"type":"hello","v":1,"version":"1.0"}  -->
//	                                          <--  {"type":"hello","v":1,"version":"1.0"}
//	  {"type":"status","id":"1"}              -->
//	                                          <--  {"type":"response","id":"1","ok":true,"data":{…}}
//	  {"type":"pause","id":"2","agent":"x"}   -->
//	                                          <--  {"type":"response","id":"2","ok":false,
//	                                                "error":{"code":"unknown_agent","message":"…","hint":"…"}}
//	  {"type":"subscribe","id":"3"}           -->
//	                                          <--  {"type":"response","id":"3","ok":true}
//	                                          <--  {"type":"event","id":"3","data":{…}}
//	  {"type":"cancel","id":"3"}              -->
//	                                          <--  {"type":"event","id":"3","end":true}
//
// A long request does not delay the next one; answers are sent in the order in which they
// are ready. If a line is not JSON, is too long or has an unknown type, the answer is an
// error, and the connection stays open. A reader that is too slow for a stream loses the
// oldest events, and an event of kind "lost" contains the number of lost events. The
// daemon does not wait for the reader.
//
// The socket is in a folder that only its owner can enter. On Linux and macOS, where the
// operating system reports the user at the other end, the server refuses all other users
// except root. A caller that can connect may make every request. However, a caller in an
// agent's turn or attached session acts as that agent; see [Options].CallerOf.
//
// # Goroutines
//
// [Server.Serve] accepts connections. Each connection has one goroutine for reading and one
// for writing. Each stream, and each request that waits for a turn, has an additional
// goroutine, which ends on cancel, or with the connection or the turn. Serve waits for all
// of them. A connection can have 64 concurrent requests; more are answered with an error. A [Client] has one goroutine, for reading;
// [Client.Close] stops it and waits for it to end.
package control
