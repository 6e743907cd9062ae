package wire

import "bytes"

// WarningNames are names of the kinds of warnings, the first for those not told apart.
var WarningNames = [...]string{"other", "tombstones", "batch_size", "batch_partitions", "filtering", "aggregation", "read_size", "index", "guardrail"}

// signs are words of Cassandra 4.0 to 5.0 that tell a kind of warning, each for the name at its place.
var signs = [len(WarningNames)][]string{
	1: {"tombstone"},
	2: {"exceeding specified threshold"},
	3: {"Unlogged batch covering", "unlogged batch"},
	4: {"ALLOW FILTERING"},
	5: {"Aggregation query"},
	6: {"read_size", "bytes of data", "row_index"},
	7: {"sai_sstable", "secondary index", "SASI"},
	8: {"uardrail"},
}

// Warnings tells which kinds of warnings a response carries: a bit, 1 << its place in WarningNames, for each. flags are of the
// frame's header.
func Warnings(flags byte, body []byte) (kinds uint16) {
	if flags&FlagWarnings == 0 {
		return 0
	}
	r := NewReader(body)
	if flags&FlagTracing != 0 {
		r.Take(16)
	}
	for n := int(r.Short()); n > 0; n-- {
		text := r.String()
		if r.Bad() {
			break
		}
		kinds |= 1 << warningPlace(text)
	}
	return kinds
}

func warningPlace(text []byte) int {
	for i, list := range signs {
		for _, s := range list {
			if bytes.Contains(text, []byte(s)) {
				return i
			}
		}
	}
	return 0
}
