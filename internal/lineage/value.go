package lineage

import "bytes"

// value finds a variable in entries of the form NAME=VALUE, each of which ends with a
// zero byte.
func value(block []byte, name string) string {
	for entry := range bytes.SplitSeq(block, []byte{0}) {
		if v, ok := bytes.CutPrefix(entry, []byte(name+"=")); ok {
			return string(v)
		}
	}
	return ""
}
