package journal

// SetMaxSize sets the size, in bytes, at which the list starts a new file.
func SetMaxSize(e *Events, size int64) { e.maxSize = size }
