package proxy_test

import (
	"testing"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

// A statement that can not be prepared is counted as one that failed (case 35): nothing more is ever heard of it. One that can is
// counted by its executions.
func TestFailedPrepareIsCounted(t *testing.T) {
	const wrong, right = "SELECT nobody FROM k.t", "SELECT a FROM k.t"
	recorder, k := &tally{}, &kept{}
	m := startMock(t, func(r *proxytest.Request) {
		if r.Text() == wrong {
			r.Reply(wire.OpError, wire.AppendError(nil, wire.ErrInvalid, "Undefined column name nobody"))
			return
		}
		k.handle(r)
	})
	for _, version := range []byte{4, 5} {
		c := connect(t, startProxy(t, m, proxy.Options{Recorder: recorder}), version)
		call(t, c, wire.OpPrepare, proxytest.PrepareBody(version, right))
		if h, _ := call(t, c, wire.OpPrepare, proxytest.PrepareBody(version, wrong)); h.Opcode != wire.OpError {
			t.Errorf("%+v", h)
		}
	}
	await(t, func() bool { return len(recorder.find(wrong)) == 2 })
	for _, x := range recorder.find(wrong) {
		if !x.Failed || x.ErrorCode != wire.ErrInvalid || x.Opcode != wire.OpPrepare {
			t.Errorf("%+v", x)
		}
	}
	if all := recorder.find(right); len(all) != 0 {
		t.Errorf("%+v", all)
	}
}
