package data

import "math"

// spread deals slots to bins: each bin has a run of them, bin after bin.
type spread struct {
	slots, bins uint64
	form        form
	seed        uint64  // uneven
	power       float64 // falling
	area        float64 // falling: of all bins
}

// form is how large the runs are.
type form byte

const (
	even    form = iota // all the same, but for one
	single              // one each, as far as slots go
	uneven              // about exponentially distributed
	falling             // by a power law, the largest first
)

// block is how many bins of an uneven spread share what is theirs.
const block = 16

// quantiles are those of an exponential distribution: the weights of an uneven spread.
var quantiles = [16]uint64{0, 1, 2, 3, 4, 5, 6, 7, 9, 11, 13, 16, 19, 24, 31, 51}

// newFalling is a spread whose first bin has about so many slots, or as even as the number of slots asks for.
func newFalling(slots, bins uint64, most float64) spread {
	s := spread{slots: slots, bins: bins}
	if mean := float64(slots) / float64(max(1, bins)); bins < 2 || most <= mean+1 {
		return s
	}
	// The area under most*(1+x)^-power up to bins is the number of slots; it falls with power.
	low, high := 0.0, 60.0
	for range 100 {
		middle := (low + high) / 2
		if most*area(float64(bins), middle) > float64(slots) {
			low = middle
		} else {
			high = middle
		}
	}
	return newPower(slots, bins, high)
}

// newPower is a spread that falls with a power.
func newPower(slots, bins uint64, power float64) spread {
	if power <= 0 || bins < 2 {
		return spread{slots: slots, bins: bins}
	}
	return spread{slots: slots, bins: bins, form: falling, power: power, area: area(float64(bins), power)}
}

// area is that under (1+x)^-power from 0 to x.
func area(x, power float64) float64 {
	if math.Abs(power-1) < 1e-9 {
		return math.Log1p(x)
	}
	return math.Expm1((1-power)*math.Log1p(x)) / (1 - power)
}

// start is the first slot of a bin; that of bin number bins is the number of slots.
func (s *spread) start(bin uint64) uint64 {
	if bin >= s.bins {
		return s.slots
	}
	switch s.form {
	case single:
		return min(bin, s.slots)
	case falling:
		return min(s.slots, uint64(float64(s.slots)*(area(float64(bin), s.power)/s.area)))
	case uneven:
		first, from, to := s.block(bin)
		sum, before := s.weights(first, bin-first)
		if sum == 0 {
			sum, before = min(block, s.bins-first), bin-first
		}
		part, _ := product(to-from, before, sum)
		return from + part
	}
	at, _ := product(s.slots, bin, s.bins)
	return at
}

// block is the block of a bin: its first bin, and its slots.
func (s *spread) block(bin uint64) (first, from, to uint64) {
	first = bin &^ (block - 1)
	from, _ = product(s.slots, first, s.bins)
	to, _ = product(s.slots, min(first+block, s.bins), s.bins)
	return first, from, to
}

// weights are the sum of those of a block's bins, and of those before the nth.
func (s *spread) weights(first, nth uint64) (sum, before uint64) {
	drawn := mix(s.seed, first)
	for i := range min(block, s.bins-first) {
		if i == nth {
			before = sum
		}
		sum += quantiles[drawn&15]
		drawn >>= 4
	}
	return sum, before
}

// bin is whose slot it is.
func (s *spread) bin(slot uint64) uint64 {
	low, high := uint64(0), s.bins-1 // the last bin that starts at the slot or before is between
	switch s.form {
	case single:
		return slot
	case even:
		q, rest := product(slot+1, s.bins, s.slots)
		if rest == 0 {
			q--
		}
		return q
	case uneven:
		at, rest := product(slot+1, s.bins, s.slots)
		if rest == 0 {
			at--
		}
		low = at &^ (block - 1)
		for low > 0 && s.start(low) > slot {
			low -= block
		}
		for low+block < s.bins && s.start(low+block) <= slot {
			low += block
		}
		high = min(high, low+block-1)
	case falling:
		guess := s.guess(slot)
		for step := uint64(1); ; step *= 2 {
			if low = guess - min(guess, step); s.start(low) <= slot {
				break
			}
		}
		for step := uint64(1); ; step *= 2 {
			if high = min(s.bins-1, guess+step); high == s.bins-1 || s.start(high) > slot {
				break
			}
		}
	}
	for low < high {
		middle := low + (high-low+1)/2
		if s.start(middle) <= slot {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return low
}

// guess is about where a slot of a falling spread is: the power law the other way round.
func (s *spread) guess(slot uint64) uint64 {
	a := float64(slot) / float64(s.slots) * s.area
	x := math.Expm1(a)
	if math.Abs(s.power-1) >= 1e-9 {
		x = math.Expm1(math.Log1p((1-s.power)*a) / (1 - s.power))
	}
	if !(x > 0) {
		return 0
	}
	return uint64(min(x, float64(s.bins-1)))
}

// size is the number of slots of a bin.
func (s *spread) size(bin uint64) uint64 { return s.start(bin+1) - s.start(bin) }

// most is the greatest size of a bin.
func (s *spread) most() uint64 {
	most := uint64(0)
	switch s.form {
	case single:
		return min(1, s.slots)
	case falling:
		for bin := range min(s.bins, 64) { // sizes fall, but for rounding
			most = max(most, s.size(bin))
		}
		return most + 1
	case uneven:
		for first := uint64(0); first < s.bins; first += block {
			_, from, to := s.block(first)
			sum, _ := s.weights(first, 0)
			greatest, drawn := uint64(0), mix(s.seed, first)
			for range min(block, s.bins-first) {
				greatest = max(greatest, quantiles[drawn&15])
				drawn >>= 4
			}
			if sum == 0 {
				sum, greatest = 1, 1
			}
			size, _ := product(to-from, greatest, sum)
			most = max(most, size+1)
		}
		return most
	}
	if s.bins == 0 {
		return 0
	}
	return (s.slots + s.bins - 1) / s.bins
}
