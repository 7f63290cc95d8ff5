package lineage

import "bytes"

// value finds a variable among entries of the form NAME=VALUE that end with a zero
// byte each.
func value(block []byte, name string) string {
	for entry := range bytes.SplitSeq(block, []byte{0}) {
		if v, ok := bytes.CutPrefix(entry, []byte(name+"=")); ok {
			return string(v)
		}
	}
	return ""
}
