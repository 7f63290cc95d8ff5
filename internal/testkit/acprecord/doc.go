// Acprecord runs each real coding agent that speaks the Agent Client Protocol through fixed
// dialogues with a scripted model, and writes both directions down:
//
//	testdata/acp/CLIENT-VERSION/ROW.jsonl     {"t_ms":…,"dir":"client"|"agent","msg":…}
//
// Each file is one process from its first message on. In the files paths, ports, ids and
// times of the machine are neutral, and long lists end after two entries. `make record-acp`
// writes all of them again; arguments such as codex or codex/turn name some.
package main
