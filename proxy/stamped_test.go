package proxy_test

import (
	"fmt"
	"testing"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

// TestStampedIsCounted: an exchange says whether its request carried a timestamp of its client's, in every form.
func TestStampedIsCounted(t *testing.T) {
	for _, d := range dialects {
		k, recorder := &kept{}, &tally{}
		c := d.connect(t, startProxy(t, startMock(t, k.handle), proxy.Options{Recorder: recorder, StripCompression: d.strip}))
		call(t, c, wire.OpPrepare, proxytest.PrepareBody(d.version, writeText))
		head := proxytest.ExecuteBody(d.version, proxytest.PreparedID(writeText))
		head = head[:len(head)-len(proxytest.QueryBody(d.version, ""))+4] // without its parameters
		plain, stamped := wire.ParamValues|wire.ParamSerial, wire.ParamValues|wire.ParamSerial|wire.ParamTimestamp
		var want []bool
		for _, flags := range []uint32{plain, stamped} {
			call(t, c, wire.OpQuery, append(wire.AppendLongString(nil, writeText), params(d.version, flags, 77)...))
			call(t, c, wire.OpExecute, append(append([]byte(nil), head...), params(d.version, flags, 77)...))
			is := flags&wire.ParamTimestamp != 0
			want = append(want, is, is)
		}
		await(t, func() bool { return len(recorder.find(writeText)) >= len(want) })
		var got []bool
		for _, x := range recorder.find(writeText) {
			if x.Opcode != wire.OpPrepare {
				got = append(got, x.Stamped)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: stamped %v, want %v", d.name, got, want)
		}
	}
}
