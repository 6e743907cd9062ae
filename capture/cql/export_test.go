package cql

// Normalise returns the text that a fingerprint is made from.
func Normalise(st Statement, keyspace string) string {
	p := normalised(st, keyspace)
	defer printers.Put(p)
	return p.String()
}
