// Acprecord runs each real coding agent that supports the Agent Client Protocol through
// fixed dialogues with a scripted model, and records the messages in both directions:
//
//	testdata/acp/CLIENT-VERSION/ROW.jsonl     {"t_ms":…,"dir":"client"|"agent","msg":…}
//
// Each file records one process, starting with its first message. The machine's paths,
// ports, ids and times are replaced by neutral values, and long lists are cut off after
// two entries. `make record-acp` rewrites all files; arguments such as codex or
// codex/turn select some of them.
package main
