package proxy

import (
	"encoding/hex"

	"github.com/helenus-db/helenus/proxy/wire"
)

// Trace is where in an application's distributed trace a request stands, as its custom payload says in the form of W3C Trace Context:
// a traceparent, and possibly a tracestate.
type Trace struct {
	ID     [16]byte
	Span   [8]byte // the application's own, of which the request is a part
	Flags  byte
	State  string // as it came, "" if none did
	wanted bool   // the application keeps this trace
}

const (
	traceParent = "traceparent"
	traceState  = "tracestate"
	// maxTraceState is what others must be able to pass on at least, bytes; a longer one is left out, which W3C allows.
	maxTraceState = 512
	traceSampled  = 1 // the flag by which the application says that it keeps the trace
)

// traced notes whose trace a request belongs to, if somebody wants to hear of it.
func (c *conn) traced(h wire.Header, body []byte, p *pending) {
	if h.Flags&wire.FlagCustomPayload == 0 || !c.server.options.Traces {
		return
	}
	var t Trace
	wire.CustomPayload(body, func(key string, value []byte) {
		switch key {
		case traceParent:
			t.parse(value)
		case traceState:
			if len(value) <= maxTraceState {
				t.State = string(value)
			}
		}
	})
	if t.wanted {
		p.need(&c.spares).trace = t
	}
}

// parse reads a traceparent: version, trace id, span id and flags in hexadecimal, with dashes between; of later versions what comes after
// is not looked at. Ids of zeros, and version ff, are invalid.
func (t *Trace) parse(s []byte) {
	const length = 55
	var version, flags [1]byte
	if len(s) < length || len(s) > length && s[length] != '-' || s[2] != '-' || s[35] != '-' || s[52] != '-' {
		return
	}
	for _, part := range [...]struct{ to, from []byte }{{version[:], s[:2]}, {t.ID[:], s[3:35]}, {t.Span[:], s[36:52]}, {flags[:], s[53:55]}} {
		if _, err := hex.Decode(part.to, part.from); err != nil {
			return
		}
	}
	if version[0] == 0xff || version[0] == 0 && len(s) != length || t.ID == [16]byte{} || t.Span == [8]byte{} {
		return
	}
	t.Flags, t.wanted = flags[0], flags[0]&traceSampled != 0
}
