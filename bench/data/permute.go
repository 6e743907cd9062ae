package data

import "math/bits"

// mix is a number that looks random, of two others (the finaliser of SplitMix64, twice).
func mix(a, b uint64) uint64 {
	x := a + 0x9e3779b97f4a7c15*(b+1)
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// hash is a number of a text.
func hash(seed uint64, text string) uint64 {
	h := mix(seed, uint64(len(text)))
	for i := 0; i < len(text); i++ {
		h = mix(h, uint64(text[i]))
	}
	return h
}

// permutation is a bijection of [0, n). Each round adds, multiplies by an odd number and folds the upper half of the bits on the
// lower one, all modulo the power of two from n on; each of those can be undone. What falls outside of [0, n) goes round again.
type permutation struct {
	n, mask     uint64
	fold        uint
	add         uint64
	times, back [rounds]uint64
}

const rounds = 3

func newPermutation(seed, n uint64) permutation {
	p := permutation{n: n}
	if n < 2 {
		return p
	}
	width := uint(bits.Len64(n - 1))
	p.mask, p.fold = 1<<width-1, (width+1)/2
	p.add = mix(seed, n) & p.mask
	for i := range p.times {
		p.times[i] = mix(seed, uint64(i)) | 1
		p.back[i] = inverse(p.times[i])
	}
	return p
}

// inverse is the odd number by which multiplying is undone, modulo 2^64 (Newton's iteration: each round doubles the bits).
func inverse(a uint64) uint64 {
	x := a // right for three bits
	for range 5 {
		x *= 2 - a*x
	}
	return x
}

// at is where x goes; x is below n.
func (p *permutation) at(x uint64) uint64 {
	if p.n < 2 {
		return x
	}
	for {
		x = (x + p.add) & p.mask
		for i := range p.times {
			x = x * p.times[i] & p.mask
			x ^= x >> p.fold
		}
		if x < p.n {
			return x
		}
	}
}

// of is what goes to x.
func (p *permutation) of(x uint64) uint64 {
	if p.n < 2 {
		return x
	}
	for {
		for i := len(p.back) - 1; i >= 0; i-- {
			x ^= x >> p.fold // undoes itself: fold is at least half the width
			x = x * p.back[i] & p.mask
		}
		x = (x - p.add) & p.mask
		if x < p.n {
			return x
		}
	}
}

// product is a*b/c and what remains; a*b/c must be below 2^64.
func product(a, b, c uint64) (quotient, rest uint64) {
	hi, lo := bits.Mul64(a, b)
	return bits.Div64(hi, lo, c)
}

// modular is a*b modulo c.
func modular(a, b, c uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return bits.Rem64(hi, lo, c)
}

// undo is the number by which multiplying by a is undone modulo n; a and n have no common divisor.
func undo(a, n uint64) uint64 {
	if n < 2 {
		return 0
	}
	r, next := int64(n), int64(a%n) // Euclid, extended
	x, more := int64(0), int64(1)
	for next != 0 {
		q := r / next
		r, next = next, r-q*next
		x, more = more, x-q*more
	}
	if x < 0 {
		x += int64(n)
	}
	return uint64(x)
}

func common(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
