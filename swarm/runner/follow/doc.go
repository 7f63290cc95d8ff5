// Package follow runs the client of one turn and follows it until it ends. It does
// everything that a backend does with a client's process and files, whatever protocol the
// client speaks.
//
// A client reads lines from our pipe and writes its output into a file. The backend reads
// that file through [Run.Output], which waits at the end of the file for more:
//
//	Start, GoOn ─ room on the disk ─ Turn.Started ─┐
//	Adopt ─────────────────────────────────────────┴─ Output: read ─ tick ─ read ─ … ─ EOF ─ Finish ─ Outcome
//
//	tick:  the ladder ─ the bounds of the output ─ stop, timeout ─ Protocol.Tick ─ stall
//	wait:  until the file has grown, the client has exited, a step is due, or Wake
//
// Everything happens in the goroutine that reads, so a [Protocol] needs no lock. No write
// to the client blocks: a client that does not read cannot hold up that goroutine.
//
// There are two ways to end a client. [Run.End] climbs the [runner.Ladder]: the turn is
// cut short, and its outcome is the first cause. [Run.CloseInput] closes the client's
// input after the work is done. If the client does not end then, it is killed, which does
// not count as a failure.
//
// [Run.Stay] turns a client that may stay for the next turn ([Run.MayStay]) into a [Warm].
package follow
