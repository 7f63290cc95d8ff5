package lineage

import "os"

// PIDNamespace returns the name of this process's PID namespace, for example
// "pid:[4026531836]". It returns an empty string if the system has no PID namespaces, or
// /proc is not mounted.
func PIDNamespace() string {
	name, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return name
}
