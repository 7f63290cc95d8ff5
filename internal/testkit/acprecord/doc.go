// Acprecord runs each real coding agent that speaks the Agent Client Protocol through fixed
// dialogues with a scripted model, and records both directions:
//
//	testdata/acp/CLIENT-VERSION/ROW.jsonl     {"t_ms":…,"dir":"client"|"agent","msg":…}
//
// Each file records one process, from its first message. Paths, ports, ids and times of the
// machine are replaced by neutral ones, and long lists are cut after two entries. `make
// record-acp` writes all files again; arguments such as codex or codex/turn select some.
package main
