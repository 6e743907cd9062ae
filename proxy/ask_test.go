package proxy_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

// askable is a Cassandra that asks for passwords, whose rows are the values it was asked with.
type askable struct {
	kept
	hold    chan struct{} // if set, EXECUTEs of ours wait for it
	long    bool          // answers of ours are longer than MaxFrame
	forgets bool          // the next EXECUTE of ours is of an id that is not known
	refuses bool
}

const askText = "SELECT a FROM k.t WHERE a = ? AND b = ?"

func (k *askable) handler() proxytest.Handler {
	return proxytest.Authenticate(proxytest.PasswordClass, proxytest.Password("app", "a"), func(r *proxytest.Request) {
		if r.Header.Opcode != wire.OpExecute || !bytes.Contains(r.Body, proxytest.PreparedID(proxy.Ours(askText))) {
			k.kept.handle(r)
			return
		}
		k.mu.Lock()
		forgets, long, refuses, hold := k.forgets, k.long, k.refuses, k.hold
		k.forgets = false
		k.list = append(k.list, *r)
		k.mu.Unlock()
		answer := func() {
			switch {
			case forgets:
				r.Reply(wire.OpError, wire.AppendString(wire.AppendError(nil, wire.ErrUnprepared, "not here"), string(proxytest.PreparedID(proxy.Ours(askText)))))
			case refuses:
				r.Reply(wire.OpError, wire.AppendError(nil, 0x2100, "User app has no SELECT permission"))
			case long:
				r.Reply(wire.OpResult, proxytest.RowsBody("k", "t", columns[:1], [][][]byte{{make([]byte, 3<<20)}}))
			default:
				r.Reply(wire.OpResult, proxytest.RowsBody("k", "t", columns[:1], [][][]byte{{r.Body[len(r.Body)-4:]}}))
			}
		}
		if hold != nil {
			go func() { <-hold; answer() }()
			return
		}
		answer()
	})
}

// asked is how many EXECUTEs of ours have come.
func (k *askable) asked() (n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, r := range k.list {
		if r.Header.Opcode == wire.OpExecute && bytes.Contains(r.Body, proxytest.PreparedID(proxy.Ours(askText))) {
			n++
		}
	}
	return n
}

// logIn connects with a password.
func logIn(t *testing.T, s *proxy.Server, version byte, options ...string) *proxytest.Client {
	t.Helper()
	c, err := proxytest.Dial(s.Addrs()[0], version)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if _, _, err := c.Hello(options...); err != nil {
		t.Fatal(err)
	}
	if h, body := call(t, c, wire.OpAuthResponse, wire.AppendBytes(nil, []byte("\x00app\x00a"))); h.Opcode != wire.OpAuthSuccess {
		t.Fatalf("%+v %q", h, body)
	}
	return c
}

// askBy takes reads by asking on the client's connection: the answer has what came of it.
func askBy(t *testing.T, w *scripted, text string, values ...[]byte) {
	w.takes(func(r *proxy.Request) bool {
		if !strings.HasPrefix(r.Text, "SELECT") {
			return false
		}
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), proxytest.Patience)
			defer cancel()
			a := r.Responder.(proxy.Asker)
			_, body, err := a.Ask(ctx, proxy.Own{Text: text, Values: append(values, r.Values[0].Bytes), Consistency: 6})
			if err != nil {
				var refused *proxy.Refused
				if errors.As(err, &refused) {
					r.Fail(refused.Code, refused.Text)
				} else {
					r.Fail(wire.ErrServer, err.Error())
				}
				return
			}
			if _, ok := a.Lately(text); !ok {
				t.Error("it is not remembered that it was carried out")
			}
			r.Answer(proxy.Rows{{body[len(body)-4:], nil}})
		}()
		return true
	})
}

func startAskable(t *testing.T, o proxy.Options) (*askable, *scripted, *proxy.Server) {
	t.Helper()
	k, w := &askable{}, &scripted{}
	o.Rewriter, o.Username, o.Password, o.MaxFrame = w, "app", "a", 1<<20
	s := startProxy(t, startMock(t, k.handler()), o)
	await(t, s.Ready)
	w.set(readText, rule(""))
	return k, w, s
}

// TestAsk: whoever took a read asks on the client's own connection, in every version and compression, beside the client's requests.
func TestAsk(t *testing.T) {
	for _, version := range []byte{3, 4, 5} {
		for _, compression := range []string{"", "lz4"} {
			t.Run(fmt.Sprintf("v%d %s", version, compression), func(t *testing.T) {
				k, w, s := startAskable(t, proxy.Options{})
				var options []string
				if compression != "" {
					options = []string{"COMPRESSION", compression}
				}
				c := logIn(t, s, version, options...)
				askBy(t, w, askText, []byte("other"))
				call(t, c, wire.OpPrepare, proxytest.PrepareBody(version, readText))
				execute := proxytest.ExecuteBody(version, proxytest.PreparedID(readText), []byte("key4"))
				answers := func(want string) {
					t.Helper()
					h, body := call(t, c, wire.OpExecute, execute)
					if !bytes.Contains(body, []byte(want)) {
						t.Errorf("%+v %q, want %q", h, body, want)
					}
				}
				for range 200 { // more than there are stream ids to ask under
					answers("key4")
				}
				own := k.last()
				if own.Header.Stream < 31680 || own.Header.Stream >= 31744 || !bytes.Contains(own.Body, []byte("other")) {
					t.Errorf("asked as %+v %q", own.Header, own.Body)
				}
				set := func(f func()) { k.mu.Lock(); f(); k.mu.Unlock() }
				set(func() { k.forgets = true })
				answers("key4")
				set(func() { k.refuses = true })
				answers("no SELECT permission")
				set(func() { k.refuses, k.long = false, true })
				answers("longer than the longest frame")
				answers("longer than the longest frame")
				set(func() { k.long = false })
				answers("key4")
				askBy(t, w, askText, make([]byte, 300<<10))
				answers("too long to be asked")
			})
		}
	}
}

// TestAskBesideAll: a client that uses every stream id, those for asking too, gets each answer once, and of the request it belongs to.
func TestAskBesideAll(t *testing.T) {
	_, w, s := startAskable(t, proxy.Options{})
	c := logIn(t, s, 4)
	askBy(t, w, askText, []byte("other"))
	call(t, c, wire.OpPrepare, proxytest.PrepareBody(4, readText))
	value := func(stream int) []byte { return wire.AppendInt(nil, int32(stream)) }
	const from, n = 31000, 1700 // over the ids for asking, and into the aliases
	for round := range 3 {
		sent := make(chan error, 1)
		go func() {
			for i := range n {
				stream := from + (i*7+round)%n
				if err := c.Send(int16(stream), wire.OpExecute, 0, proxytest.ExecuteBody(4, proxytest.PreparedID(readText), value(stream))); err != nil {
					sent <- err
					return
				}
			}
			sent <- nil
		}()
		for range n {
			h, body, err := c.Read()
			if err != nil {
				t.Fatal(err)
			}
			if h.Opcode != wire.OpResult || !bytes.Contains(body, value(int(h.Stream))) {
				t.Fatalf("%+v %q", h, body)
			}
		}
		if err := <-sent; err != nil {
			t.Fatal(err)
		}
	}
}

// TestAskLate: who asks what is not answered is told, whether time or the connection ends, and late answers free their ids.
func TestAskLate(t *testing.T) {
	clock := &manual{} // which stands still while answers are awaited that are to be in time
	k, w, s := startAskable(t, proxy.Options{RequestTimeout: 100 * time.Millisecond, Clock: clock.now})
	hold := make(chan struct{})
	k.mu.Lock()
	k.hold = hold
	k.mu.Unlock()
	c := logIn(t, s, 4)
	ended := make(chan error, 200)
	w.takes(func(r *proxy.Request) bool {
		go func() {
			_, _, err := r.Responder.(proxy.Asker).Ask(context.Background(), proxy.Own{Text: askText, Values: [][]byte{nil, []byte("key4")}})
			ended <- err
			r.Forward(proxy.Forward{})
		}()
		return true
	})
	call(t, c, wire.OpPrepare, proxytest.PrepareBody(4, readText))
	execute := proxytest.ExecuteBody(4, proxytest.PreparedID(readText), []byte("key4"))
	const n = 64
	for i := range n {
		if err := c.Send(int16(i), wire.OpExecute, 0, execute); err != nil {
			t.Fatal(err)
		}
	}
	await(t, func() bool { return k.asked() == n })
	clock.advance(time.Second)
	for range n {
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "in time") {
			t.Fatalf("%v", err)
		}
	}
	close(hold)
	k.mu.Lock()
	k.hold = nil
	k.mu.Unlock()
	for range n { // Overloaded: they were held for too long
		if _, _, err := c.Read(); err != nil {
			t.Fatal(err)
		}
	}
	await(t, func() bool {
		if err := c.Send(1, wire.OpExecute, 0, execute); err != nil {
			t.Fatal(err)
		}
		_, _, err := c.Read()
		return err == nil && <-ended == nil
	})
	gone := make(chan struct{})
	k.mu.Lock()
	k.hold = gone
	k.mu.Unlock()
	defer close(gone)
	if err := c.Send(1, wire.OpExecute, 0, execute); err != nil {
		t.Fatal(err)
	}
	c.Close()
	if err := <-ended; err == nil {
		t.Error("the connection is closed, and it was answered")
	}
}
