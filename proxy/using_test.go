package proxy_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

// doubtful notes in which keyspace it is asked for a rule: "?" if that is not known.
type doubtful struct {
	mu    sync.Mutex
	asked []string // keyspace and text
}

func (d *doubtful) note(keyspace, text string) proxy.Rule {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, keyspace+" "+text)
	return nil
}

func (d *doubtful) Epoch() uint64                         { return 1 }
func (d *doubtful) Rule(keyspace, text string) proxy.Rule { return d.note(keyspace, text) }
func (d *doubtful) Unsure(text string) proxy.Rule         { return d.note("?", text) }
func (d *doubtful) Take(*proxy.Request) bool              { return false }
func (d *doubtful) Opaque(*proxy.Client) func()           { return func() {} }

func (d *doubtful) last() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.asked) == 0 {
		return ""
	}
	return d.asked[len(d.asked)-1]
}

// TestWhatIsSaidBehindUSE: Cassandra carries out a USE, and what a client sends behind it, in either order. Until the USE is answered it is not known in which keyspace a text is said, unless
// it names one; and a statement that is prepared meanwhile is prepared again, once it is executed.
func TestWhatIsSaidBehindUSE(t *testing.T) {
	for _, version := range []byte{3, 4, 5} {
		for _, use := range []string{"USE new", "\n use\t\"new\"", "/* a */ -- USE\nUse new;", "prepared"} {
			var held sync.Map
			m := startMock(t, func(r *proxytest.Request) {
				text := r.Text()
				if r.Header.Opcode == wire.OpExecute && strings.Contains(string(r.Body), string(proxytest.PreparedID("USE new"))) {
					text = "USE new"
				}
				switch {
				case uses(text) && (r.Header.Opcode == wire.OpQuery || r.Header.Opcode == wire.OpExecute):
					held.Store("use", r)
				case r.Header.Opcode == wire.OpPrepare && strings.HasPrefix(text, "held"):
					held.Store("prepare", r)
				default:
					proxytest.Default(r)
				}
			})
			d := &doubtful{}
			s := startProxy(t, m, proxy.Options{Rewriter: d})
			c := connect(t, s, version)
			say := func(opcode byte, body []byte, want string) {
				t.Helper()
				if h, _ := call(t, c, opcode, body); h.Opcode != wire.OpResult || want != "" && d.last() != want {
					t.Errorf("v%d, %q: %+v, asked for %q, not %q", version, use, h, d.last(), want)
				}
			}
			known := func(text string) bool {
				t.Helper()
				h, body := call(t, c, wire.OpExecute, proxytest.ExecuteBody(version, proxytest.PreparedID(text)))
				r := wire.NewReader(body)
				return h.Opcode != wire.OpError || r.Int() != wire.ErrUnprepared
			}
			opcode, body := wire.OpQuery, proxytest.QueryBody(version, use)
			if use == "prepared" {
				say(wire.OpPrepare, proxytest.PrepareBody(version, "USE new"), "")
				opcode, body = wire.OpExecute, proxytest.ExecuteBody(version, proxytest.PreparedID("USE new"))
			}
			say(wire.OpPrepare, proxytest.PrepareBody(version, "known"), "")
			if !known("known") {
				t.Errorf("v%d, %q: what was prepared before is not known", version, use)
			}
			say(wire.OpQuery, proxytest.QueryBody(version, "before"), " before")
			send(t, c, 50, wire.OpPrepare, proxytest.PrepareBody(version, "held"))
			send(t, c, 51, opcode, body)
			for _, one := range []string{"use", "prepare"} {
				await(t, func() bool { _, ok := held.Load(one); return ok })
			}
			say(wire.OpQuery, proxytest.QueryBody(version, "behind"), "? behind")
			say(wire.OpBatch, batchBody(version, "child", proxytest.PreparedID("known")), "? child")
			say(wire.OpPrepare, proxytest.PrepareBody(version, "meanwhile"), "")
			if version == 5 {
				own := wire.AppendShort(wire.AppendLongString(nil, "own"), 1)
				say(wire.OpQuery, wire.AppendString(wire.AppendInt(own, int32(wire.ParamKeyspace)), "named"), "named own")
				say(wire.OpPrepare, wire.AppendString(wire.AppendInt(wire.AppendLongString(nil, "its own"), 1), "named"), "")
				if !known("its own") {
					t.Errorf("%q: a PREPARE that names its keyspace is forgotten", use)
				}
			}
			reply := func(one string, body []byte) {
				r, _ := held.Load(one)
				r.(*proxytest.Request).Reply(wire.OpResult, body)
				read(t, c)
			}
			reply("prepare", proxytest.PreparedBody(version, "held", nil, nil))
			reply("use", wire.AppendString(wire.AppendInt(nil, wire.ResultSetKeyspace), "new"))
			for _, text := range []string{"held", "meanwhile"} {
				if known(text) {
					t.Errorf("v%d, %q: %s is known, in a keyspace that is not", version, use, text)
				}
			}
			say(wire.OpQuery, proxytest.QueryBody(version, "after"), "new after")
			say(wire.OpBatch, batchBody(version, "child after", proxytest.PreparedID("known")), "new child after")
			say(wire.OpPrepare, proxytest.PrepareBody(version, "meanwhile"), "")
			if !known("meanwhile") || !slices.Contains(d.asked, "new meanwhile") {
				t.Errorf("v%d, %q: what is prepared after the answer is not known", version, use)
			}
		}
	}
}

func uses(text string) bool { return strings.Contains(strings.ToUpper(text), "USE") }

// TestAUSEComesBehindWhatIsHeld: what a client sends before a USE is carried out before it, as far as that is up to the proxy, also if the Rewriter holds it for a while; what comes behind
// it comes behind it.
func TestAUSEComesBehindWhatIsHeld(t *testing.T) {
	for name, goOn := range map[string]func(r *proxy.Request){
		"it goes on":     func(r *proxy.Request) { r.Forward(proxy.Forward{}) },
		"it is answered": func(r *proxy.Request) { r.Fail(wire.ErrOverloaded, "not now") },
	} {
		t.Run(name, func(t *testing.T) {
			var came struct {
				sync.Mutex
				texts []string
			}
			list := func() []string {
				came.Lock()
				defer came.Unlock()
				return slices.Clone(came.texts)
			}
			m := startMock(t, func(r *proxytest.Request) {
				if r.Header.Opcode == wire.OpQuery && r.Conn.Driver() != "Helenus" {
					came.Lock()
					came.texts = append(came.texts, r.Text())
					came.Unlock()
				}
				proxytest.Default(r)
			})
			w, taken := &scripted{}, make(chan *proxy.Request, 1)
			w.set("held", rule(""))
			w.takes(func(r *proxy.Request) bool { taken <- r; return true })
			c := connect(t, startProxy(t, m, proxy.Options{Rewriter: w}), 4)
			for i, text := range []string{"held", "USE new", "behind"} {
				send(t, c, int16(i), wire.OpQuery, proxytest.QueryBody(4, text))
			}
			held := <-taken
			time.Sleep(50 * time.Millisecond)
			if early := list(); len(early) > 0 {
				t.Errorf("%q came before what is held", early)
			}
			goOn(held)
			for range 3 {
				read(t, c)
			}
			want := []string{"held", "USE new", "behind"}
			if name == "it is answered" {
				want = want[1:]
			}
			if got := list(); !slices.Equal(got, want) {
				t.Errorf("%q came, not %q", got, want)
			}
		})
	}
}
