// Package lineage tells which processes are above a process, and what they were
// started with. A caller's own environment is the caller's word; the processes above
// it are not, since no process can choose other ancestors.
//
//	client of a turn (CLAUDE_SWARM_TURN=…) -> sh -> env -i -> caller
//	         ^                                                 |
//	         +------------- Above, Variable -------------------+
package lineage

// most bounds the way up. A chain of processes that is longer than any of a person
// ends at the first process of the machine long before.
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
