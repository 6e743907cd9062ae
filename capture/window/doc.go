// Package window looks at values for short times. It decides when (schedule.go), takes copies of exchanges meanwhile (ring.go),
// hashes their values (decode.go) and hands the hashed executions to those who learn from them (windows.go):
// capture/feed, capture/profile, capture/burst, and a recording if somebody makes one (capture/trace). It imports those,
// capture/value, and proxy for the hook types.
//
// # When
//
// Time windows, not statements: what links two statements is that a value travels from one to the other, and of pairs a
// sample of one in ten statements has one in a hundred (docs/design/mapping.md 2.0). A window of 2 s opens every 40 s; the first ones
// follow each other until enough is known to begin with; a statement that was never described before opens an extra one. A window
// that has looked at its budget of exchanges closes before its time, so a busy application pays no more than a calm one. While
// a variable that was bound has less than 200 observations, and there is budget to spare, windows come twice as often.
// Where in their periods the windows of a process lie is drawn from its name (host and process id), so that many proxies that are started
// together do not make Cassandra's clients wait all at once.
// All of it is one atomic load for who asks.
//
//	closed -- period, extra, warm --> open -- time or budget is over --> closed
//	open -- ring full --> paused (closed) -- ring half empty --> open
//	any -- switch off --> off (what waits is thrown away) -- switch on --> closed
//
// # What it costs the data path
//
// A copy of the request's values and of the beginning of the answer into a buffer of the ring. When the ring is full, by
// number or by bytes, the exchange is dropped and counted, and the window pauses until the ring is half empty: what is looked
// at comes in runs without gaps, for a sample with gaps says little. Decoding, hashing and mining are done by one goroutine.
//
// # Keys
//
// The key is made for an epoch, a day by default, and is in this process's memory only. With it goes everything hashed under
// it; what was derived stays for the retention. If Options.Secret is set the key is HMAC-SHA256 of the epoch's number under it,
// so that proxies that share the secret make sketches that can be merged; then who has the secret and a sketch can test
// whether a value is in it.
//
// Columns that are never to be sampled are not hashed, nor counted; the copy that the ring holds for an instant is all that
// there is of them.
//
// A process whose connections go through several proxies is seen by each in part. Members of a fleet look at the same time and share what they looked at (shared.go,
// capture/merged).
//
// What is bound or comes as one value, as tuples do, is looked at in its parts, too (fold.go); of an answer to a text that was not prepared lists and sets alone.
//
// Where it is thin: windows are those of the proxy, not of each client process (docs/design/mapping.md 2.5 D5); copies of values are in memory until they are
// decoded, milliseconds later, and their buffers are reused, not wiped.
package window
