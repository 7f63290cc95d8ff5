package lineage

// PIDNamespace returns an empty string, because macOS has no PID namespaces.
func PIDNamespace() string { return "" }
