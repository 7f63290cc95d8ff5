// Package lineage finds the ancestors of a process and the environment with which each of them
// was started. A caller can change its own environment, but not the environments of its
// ancestors.
//
//	client of a turn (CLAUDE_SWARM_TURN=…) -> sh -> env -i -> caller
//	         ^                                                 |
//	         +------------- Above, Variable -------------------+
package lineage

// most is the maximum number of ancestors that Above returns. Real process chains are
// much shorter, and end at the machine's first process.
const most = 4096

// Above lists the ancestors of a process, nearest first, excluding the machine's first
// process. The list ends early if the system hides a parent.
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

// Names returns the names of the programs of a process and its ancestors, as the system
// knows them, nearest first. It leaves out ancestors that the system hides.
func Names(pid int) (names []string) {
	for _, p := range append([]int{pid}, Above(pid)...) {
		if name := programOf(p); name != "" {
			names = append(names, name)
		}
	}
	return names
}
