package wire

// CountRows is what CountKnownRows makes of an answer with metadata of its own.
func CountRows(r *Reader) (m Metadata, rows int) {
	m, rows, _ = countRows(r)
	return m, rows
}
