package journal

// SetMaxSize makes a list begin a new file earlier.
func SetMaxSize(e *Events, size int64) { e.maxSize = size }
