// Package wire reads and writes CQL's native protocol (versions 3, 4 and 5) in place: frame headers, version 5's
// segments, and as much of the messages' bodies as a relay has to look at. It imports the standard library only.
//
// Nothing here allocates unless its name says Append (it then appends to the caller's slice) or it returns a string.
// Byte slices that are returned point into the slice that was read, so they are valid as long as that is.
//
// Bad input never panics: a [Reader] that ran over the end stays Bad and gives zeroes, and a count is never believed
// further than the bytes that are there.
//
// Compressed bodies and payloads are proxy/compress's; here is only how segments say that they are.
package wire
