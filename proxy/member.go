package proxy

import (
	"strings"

	"github.com/helenus-db/helenus/proxy/pipe"
	"github.com/helenus-db/helenus/proxy/wire"
)

// restart is the STARTUP that Cassandra gets in place of a client's: with the option that says whose process the connection came
// through (Options.Member), and without compression if that is to be stripped. All else is as the client said it.
func (c *conn) restart(h wire.Header, body []byte) (v pipe.Verdict, instead []byte, stripped bool) {
	member := c.server.options.Member
	stripped = c.strips(h.Version)
	if member == "" && !stripped {
		return pipe.Pass, nil, false
	}
	r := wire.NewReader(body)
	r.SkipRequestPrefix(h.Flags)
	out := append(wire.AppendHeader(nil, h), body[:r.Offset()]...)
	at, n := len(out), uint16(0)
	out = wire.AppendShort(out, 0)
	add := func(key, value string) {
		out = wire.AppendString(wire.AppendString(out, key), value)
		n++
	}
	r.StringMap(func(key, value []byte) {
		switch name := strings.ToUpper(string(key)); {
		case stripped && name == compressionOption, member != "" && name == wire.MemberOption:
		default:
			add(string(key), string(value))
		}
	})
	if r.Bad() {
		return pipe.Pass, nil, false
	}
	if member != "" {
		add(wire.MemberOption, member)
	}
	wire.AppendShort(out[:at], n)
	out = append(out, r.Rest()...)
	wire.SetLength(out, 0)
	return pipe.Replace, out, stripped
}
