package window

// A ring contains the newest bytes of an endless stream. The byte at position p is stored
// at p modulo the ring's size, so bytes do not move while others are added and removed.
type ring struct {
	bytes []byte
}

const leastRing = 4 << 10

// reserve makes room for need bytes starting at position pos. The ring already contains
// the first kept bytes of this range. The ring grows by doubling, up to most bytes.
func (r *ring) reserve(pos int64, kept, need, most int) {
	if need <= len(r.bytes) {
		return
	}
	size := max(len(r.bytes), leastRing)
	for size < need {
		size *= 2
	}
	next := ring{bytes: make([]byte, min(size, most))}
	if kept > 0 {
		first, second := r.parts(pos, kept)
		write(&next, pos, first)
		write(&next, pos+int64(len(first)), second)
	}
	*r = next
}

// write puts data at position pos. The ring must have room for data at pos.
func write[T string | []byte](r *ring, pos int64, data T) {
	if len(data) == 0 {
		return
	}
	n := copy(r.bytes[r.index(pos):], data)
	copy(r.bytes, data[n:])
}

// parts returns the n bytes starting at position pos. The second part is empty unless the
// bytes wrap around the ring's end.
func (r *ring) parts(pos int64, n int) (first, second []byte) {
	at := r.index(pos)
	first = r.bytes[at:min(at+n, len(r.bytes))]
	return first, r.bytes[:n-len(first)]
}

func (r *ring) index(pos int64) int { return int(pos % int64(len(r.bytes))) }

func (r *ring) at(pos int64) byte { return r.bytes[r.index(pos)] }

// appendTo appends the n bytes starting at position pos to dst.
func (r *ring) appendTo(dst []byte, pos int64, n int) []byte {
	first, second := r.parts(pos, n)
	return append(append(dst, first...), second...)
}
