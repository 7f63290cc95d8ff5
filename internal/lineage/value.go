package lineage

import "bytes"

// value finds a variable in a list of NAME=VALUE entries, each terminated by a NUL byte.
func value(block []byte, name string) string {
	for entry := range bytes.SplitSeq(block, []byte{0}) {
		if v, ok := bytes.CutPrefix(entry, []byte(name+"=")); ok {
			return string(v)
		}
	}
	return ""
}
