// Package sketch holds summaries of streams of hashed values, in bounded memory. It imports nothing of ours; HyperLogLog is
// github.com/axiomhq/hyperloglog.
//
// Each summary merges exactly: the summary of two streams is the same, to the last bit, as that of one stream that holds
// both, in whatever order and grouping they are put together. That rules out the usual top-k lists (Space-Saving,
// Misra-Gries), whose truncation depends on the order. What is here instead is either a lattice (the k smallest hashes, the
// k largest partitions, HyperLogLog's registers) or linear (counters that are added).
//
//	Values   a multiset of hashed values: how many, how many different ones, the frequent ones, how much two of them share
//	Octaves  numbers, in buckets by their highest bit
//	Largest  the k keys with the largest number ever seen with them
//	Recent   whether a value was seen lately: a Bloom filter of two generations (not merged: it is about one process's now)
//
// # Values
//
// A Values keeps the k smallest hashes with their counts (KMV, bottom-k). Since all of them hash under one key, the same
// value is kept everywhere: two sketches of k out of N values share about k of them and not k*k/N, and containment can be
// read off. A value that is among the k smallest at the end was so at all times, so its count is exact.
//
// As long as there are at most k different values that is everything there is to know, exactly. When the k+1st comes two
// more structures are made and given all that was counted so far: HyperLogLog, and a heap of counters from which the
// frequent values can be told (frequent.go). So what few values there are costs little, and the state is a function of the
// stream alone.
//
// Hashes must be uniform and secret (SipHash under a random key): who can choose hashes can lie to all of these.
package sketch
