// Package lineage tells which processes are above a process, and what they were
// started with. A caller can set its own environment as it likes, but it cannot choose
// other processes above it.
//
//	client of a turn (CLAUDE_SWARM_TURN=…) -> sh -> env -i -> caller
//	         ^                                                 |
//	         +------------- Above, Variable -------------------+
package lineage

// most bounds the way up. The chain of a person's processes is much shorter, and ends at the
// first process of the machine.
const most = 4096

// Above lists the parent of a process, its parent, and so on, nearest first, without
// the first process of the machine. It ends early where the system does not tell.
func Above(pid int) []int {
	var all []int
	for len(all) < most {
		parent, err := Parent(pid)
		if err != nil || parent <= 1 {
			return all
		}
		all = append(all, parent)
		pid = parent
	}
	return all
}
