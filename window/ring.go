package window

// A ring holds the newest bytes of an endless stream. The byte of position p is
// at p modulo the ring's size, so that no byte moves while others come and go.
type ring struct {
	bytes []byte
}

const leastRing = 4 << 10

// write puts data at position pos, behind kept bytes that are to stay. The ring
// grows by doubling, up to most bytes.
func (r *ring) write(data []byte, pos int64, kept, most int) {
	if need := kept + len(data); need > len(r.bytes) {
		size := max(len(r.bytes), leastRing)
		for size < need {
			size *= 2
		}
		r.resize(min(size, most), pos-int64(kept), kept)
	}
	at := r.index(pos)
	n := copy(r.bytes[at:], data)
	copy(r.bytes, data[n:])
}

// resize moves n bytes from position pos on into a ring of another size.
func (r *ring) resize(size int, pos int64, n int) {
	next := ring{bytes: make([]byte, size)}
	if n > 0 {
		at := r.index(pos)
		first := r.bytes[at:min(at+n, len(r.bytes))]
		next.write(first, pos, 0, size)
		next.write(r.bytes[:n-len(first)], pos+int64(len(first)), 0, size)
	}
	*r = next
}

func (r *ring) index(pos int64) int { return int(pos % int64(len(r.bytes))) }

func (r *ring) at(pos int64) byte { return r.bytes[r.index(pos)] }

// appendTo appends n bytes from position pos on to dst.
func (r *ring) appendTo(dst []byte, pos int64, n int) []byte {
	at := r.index(pos)
	first := r.bytes[at:min(at+n, len(r.bytes))]
	dst = append(dst, first...)
	return append(dst, r.bytes[:n-len(first)]...)
}
