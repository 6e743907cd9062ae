package proxy_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

// payload is a custom payload with a request's body after it.
func payload(body []byte, pairs ...string) []byte {
	b := wire.AppendShort(nil, uint16(len(pairs)/2))
	for i := 0; i < len(pairs); i += 2 {
		b = append(wire.AppendShort(b, uint16(len(pairs[i]))), pairs[i]...)
		b = append(wire.AppendInt(b, int32(len(pairs[i+1]))), pairs[i+1]...)
	}
	return append(b, body...)
}

const (
	traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
	spanID  = "00f067aa0ba902b7"
	parent  = "00-" + traceID + "-" + spanID + "-01"
)

// TestTraces: who records hears of the trace that a request names, if its application keeps it, whatever kind of request it is and whoever
// answers; and Cassandra gets the payload as it came.
func TestTraces(t *testing.T) {
	for _, version := range []byte{4, 5} {
		k, w, recorder := &kept{}, &scripted{}, &tally{}
		w.takes(func(r *proxy.Request) bool {
			r.Responder.Fail(r, 0x1001, "ours")
			return true
		})
		w.set("SELECT taken", rule(""))
		s := startProxy(t, startMock(t, k.handle), proxy.Options{Recorder: recorder, Rewriter: w, Traces: true})
		c, err := proxytest.Connect(s.Addrs()[0], version)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		ask := func(opcode byte, flags byte, body []byte) {
			t.Helper()
			if err := c.Send(7, opcode, flags, body); err != nil {
				t.Fatal(err)
			}
			if _, _, err := c.Read(); err != nil {
				t.Fatal(err)
			}
		}
		_, _ = call(t, c, wire.OpPrepare, proxytest.PrepareBody(version, readText))
		query := func(text string) []byte { return proxytest.QueryBody(version, text) }
		batch := append([]byte{0, 0, 1, 0, 0, 0, 0, byte(len("UPDATE t"))}, "UPDATE t"...)
		batch = append(batch, 0, 0, 0, 1, 0) // no values, ONE, no flags
		if version >= 5 {
			batch = append(batch, 0, 0, 0)
		}
		for _, one := range []struct {
			text   string
			opcode byte
			body   []byte
		}{
			{"SELECT plain", wire.OpQuery, query("SELECT plain")},
			{readText, wire.OpExecute, proxytest.ExecuteBody(version, proxytest.PreparedID(readText), []byte("a"))},
			{"BATCH 0 | UPDATE t", wire.OpBatch, batch},
			{"SELECT taken", wire.OpQuery, query("SELECT taken")},
		} {
			ask(one.opcode, wire.FlagCustomPayload, payload(one.body, "other", "x", "traceparent", parent, "tracestate", "a=b"))
			await(t, func() bool { return len(recorder.find(one.text)) == 1 })
			x := recorder.find(one.text)[0]
			if x.Trace == nil || hex.EncodeToString(x.Trace.ID[:]) != traceID || hex.EncodeToString(x.Trace.Span[:]) != spanID || x.Trace.Flags != 1 || x.Trace.State != "a=b" {
				t.Fatalf("%d %s: %+v", version, one.text, x.Trace)
			}
			if one.text == "SELECT taken" {
				if !x.Rewritten {
					t.Errorf("%+v", x)
				}
				continue
			}
			if body := k.last().Body; !strings.Contains(string(body), parent) {
				t.Errorf("%d %s: Cassandra got %q", version, one.text, body)
			}
			ask(one.opcode, 0, one.body) // the same slot, without a trace
			await(t, func() bool { return len(recorder.find(one.text)) == 2 })
			if x := recorder.find(one.text)[1]; x.Trace != nil {
				t.Errorf("%d %s: %+v was left of the request before", version, one.text, x.Trace)
			}
		}
		if child := recorder.find("UPDATE t"); len(child) == 0 || child[0].Trace != nil {
			t.Errorf("a child of a batch is part of its batch, not of the trace by itself: %+v", child)
		}
	}
}

// TestTracesThatAreNone: what is no valid traceparent, or is not sampled, is no trace, and the request goes on.
func TestTracesThatAreNone(t *testing.T) {
	recorder := &tally{}
	s := startProxy(t, startMock(t, nil), proxy.Options{Recorder: recorder, Traces: true})
	c, err := proxytest.Connect(s.Addrs()[0], 4)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	for name, one := range map[string]struct {
		parent string
		traced bool
	}{
		"not sampled":             {"00-" + traceID + "-" + spanID + "-00", false},
		"sampled, and more flags": {"00-" + traceID + "-" + spanID + "-03", true},
		"a later version":         {"01-" + traceID + "-" + spanID + "-01-more", true},
		"more in version 0":       {parent + "-more", false},
		"version ff":              {"ff-" + traceID + "-" + spanID + "-01", false},
		"no trace id":             {"00-" + strings.Repeat("0", 32) + "-" + spanID + "-01", false},
		"no span id":              {"00-" + traceID + "-" + strings.Repeat("0", 16) + "-01", false},
		"not hexadecimal":         {"00-" + strings.Repeat("x", 32) + "-" + spanID + "-01", false},
		"too short":               {parent[:54], false},
		"empty":                   {"", false},
	} {
		text := "SELECT " + name
		if err := c.Send(1, wire.OpQuery, wire.FlagCustomPayload, payload(proxytest.QueryBody(4, text), "traceparent", one.parent)); err != nil {
			t.Fatal(err)
		}
		if h, _, err := c.Read(); err != nil || h.Opcode != wire.OpResult {
			t.Fatal(h, err)
		}
		await(t, func() bool { return len(recorder.find(text)) == 1 })
		if x := recorder.find(text)[0]; (x.Trace != nil) != one.traced {
			t.Errorf("%s: %+v", name, x.Trace)
		}
	}
}
