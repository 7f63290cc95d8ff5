// Package follow runs the client of one turn and follows it until it ends. It handles a
// client's process and files for every backend, independently of the protocol that the
// client speaks.
//
// A client reads lines from our pipe and writes its output to a file. The backend reads
// that file through [Run.Output], which waits for more data at the end of the file:
//
//	Start, GoOn ─ room on the disk ─ Turn.Started ─┐
//	Adopt ─────────────────────────────────────────┴─ Output: read ─ tick ─ read ─ … ─ EOF ─ Finish ─ Outcome
//
//	tick:  the ladder ─ the bounds of the output ─ stop, timeout ─ Protocol.Tick ─ stall
//	wait:  until the file has grown, the client has exited, a step is due, or Wake
//
// Everything happens in the goroutine that reads the output, so a [Protocol] needs no
// lock. Writing to the client never blocks, so a client that does not read its input
// cannot hold up that goroutine.
//
// There are two ways to stop a client. [Run.End] uses the [runner.Ladder]. It cuts the
// turn short, and the first cause determines the outcome. [Run.CloseInput] closes the
// client's input after the work is done. If the client does not exit after that, it is
// killed, which does not count as a failure.
//
// [Run.Stay] keeps a client for the next turn as a [Warm], if [Run.MayStay] allows it.
package follow
