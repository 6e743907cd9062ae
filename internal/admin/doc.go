// Package admin is the HTTP API of `helenus run` and the client that the command line uses: the same requests, the same
// types, so that what a person can do a script can do too.
//
// [Server] serves /api/v1 (JSON, with a bearer token), /metrics, /healthz, /readyz and, when asked for, /debug/pprof.
// [Client] speaks to it. A decision (approve, reject, roll back, ...) is always a POST; following a link never
// changes anything. The package decides nothing itself: it hands each request to the part whose business it is.
//
// It may be imported by cmd only, and imports capture, advisor and rewrite.
package admin
