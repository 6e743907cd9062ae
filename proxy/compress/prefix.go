package compress

// Prefix decompresses the beginning of a body of which the beginning is there: as much as dst holds, or as the bytes
// that are there give. The codecs can not do so, and a relay that had to wait for the last byte of every long answer to
// read its first would hold what it need not. It is for long bodies: a few times slower than Decode. Error: ErrBroken.
func (a Algorithm) Prefix(dst, body []byte) (n int, err error) {
	length, size, err := a.Length(body)
	if err != nil {
		return 0, err
	}
	p := prefix{dst: dst[:min(len(dst), length)], src: body[size:]}
	step := p.snappy
	if a == LZ4 {
		step = p.lz4
	}
	for p.n < len(p.dst) && len(p.src) > 0 {
		if !step() {
			return 0, ErrBroken
		}
	}
	return p.n, nil
}

// prefix is a decoder's state. Both formats are a row of literals and of copies of what was written before. src becomes
// empty when an element is not all there.
type prefix struct {
	dst, src []byte
	n        int // written
}

// take returns the next k bytes as a little-endian number; ok is false at the end.
func (p *prefix) take(k int) (v int, ok bool) {
	if len(p.src) < k {
		p.src = nil
		return 0, false
	}
	for i := range k {
		v |= int(p.src[i]) << (8 * i)
	}
	p.src = p.src[k:]
	return v, true
}

// literal writes the next k bytes.
func (p *prefix) literal(k int) {
	p.n += copy(p.dst[p.n:], p.src[:min(k, len(p.src))])
	p.src = p.src[min(k, len(p.src)):]
}

// repeat writes k bytes again that are distance back; they may overlap what it writes. False: they never were.
func (p *prefix) repeat(distance, k int) bool {
	if distance <= 0 || distance > p.n {
		return false
	}
	for end := min(p.n+k, len(p.dst)); p.n < end; p.n++ {
		p.dst[p.n] = p.dst[p.n-distance]
	}
	return true
}

// lz4 does one sequence: a token of two lengths, literals, and a copy (which the last one lacks).
func (p *prefix) lz4() bool {
	token, _ := p.take(1)
	k, ok := p.longer(token >> 4)
	if !ok {
		return true
	}
	p.literal(k)
	if len(p.src) == 0 || p.n == len(p.dst) {
		return true
	}
	distance, ok := p.take(2)
	if !ok {
		return true
	}
	if k, ok = p.longer(token & 15); !ok {
		return distance > 0 && distance <= p.n
	}
	return p.repeat(distance, k+4)
}

// longer reads on in a length of LZ4's: 15 is continued by bytes up to the first that is not 255.
func (p *prefix) longer(k int) (int, bool) {
	if k < 15 {
		return k, true
	}
	for {
		b, ok := p.take(1)
		if !ok {
			return 0, false
		}
		if k += b; b < 255 {
			return k, true
		}
	}
}

// snappy does one element: a literal, or a copy with one, two or four bytes of distance.
func (p *prefix) snappy() bool {
	tag, _ := p.take(1)
	k := tag>>2 + 1
	switch tag & 3 {
	case 0:
		if k > 60 {
			v, ok := p.take(k - 60)
			if !ok {
				return true
			}
			k = v + 1
		}
		p.literal(k)
		return true
	case 1:
		low, ok := p.take(1)
		return !ok || p.repeat(tag>>5<<8|low, tag>>2&7+4)
	case 2:
		distance, ok := p.take(2)
		return !ok || p.repeat(distance, k)
	}
	distance, ok := p.take(4)
	return !ok || p.repeat(distance, k)
}
