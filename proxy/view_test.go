package proxy

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helenus-db/helenus/proxy/proxytest"
	"github.com/helenus-db/helenus/proxy/wire"
)

// TestABodyIsReadInOnePlace: a wire.View goes over a body once (its own test), and this package makes a request's view once, so whatever
// is wanted of a request (counting it, sampling it, a rule, a change, handing it over), its body is read once.
func TestABodyIsReadInOnePlace(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var places []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		set := gotoken.NewFileSet()
		parsed, err := parser.ParseFile(set, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "See" {
				places = append(places, set.Position(s.Pos()).String())
			}
			return true
		})
	}
	if len(places) != 1 {
		t.Errorf("requests are read in %d places: %v", len(places), places)
	}
}

// ruling is a Rewriter that has the same rule for everything, and takes nothing.
type ruling struct{ text string }

func (ruling) Epoch() uint64              { return 1 }
func (r ruling) Rule(string, string) Rule { return r }
func (ruling) Take(*Request) bool         { return false }
func (ruling) Unsure(string) Rule         { return nil }
func (ruling) Opaque(*Client) func()      { return func() {} }
func (r ruling) Text() string             { return r.text }
func (ruling) Name() string               { return "all" }

// BenchmarkFollowed is what it costs to look at everything that a request says: its values are sampled, and it is offered to a Rewriter.
func BenchmarkFollowed(b *testing.B) {
	execute := proxytest.ExecuteBody(4, proxytest.PreparedID(customers), make([]byte, 16), make([]byte, 100), make([]byte, 1000))
	batch := wire.AppendShort([]byte{0}, 20)
	for range 20 {
		batch = wire.AppendString(append(batch, 1), string(proxytest.PreparedID(customers)))
		batch = wire.AppendBytes(wire.AppendBytes(wire.AppendShort(batch, 2), make([]byte, 16)), make([]byte, 100))
	}
	batch = append(wire.AppendShort(batch, 1), 0)
	for _, x := range []struct {
		name   string
		opcode byte
		body   []byte
	}{{"EXECUTE", wire.OpExecute, execute}, {"QUERY", wire.OpQuery, proxytest.QueryBody(4, customers, make([]byte, 16))}, {"BATCH of 20", wire.OpBatch, batch}} {
		b.Run(x.name, func(b *testing.B) {
			t := newTalk(b, &heard{open: true, told: map[string][][]Exchange{}})
			t.server.options.Rewriter = ruling{}
			t.prepare(customers)
			b.ReportAllocs()
			b.ResetTimer()
			used := cpuTime()
			for range b.N {
				t.now++
				t.ask(x.opcode, 1, x.body)
				t.answer(wire.OpResult, 1, aRow)
				t.written()
				clear(t.told())
			}
			b.ReportMetric(float64(cpuTime()-used)/float64(b.N), "cpu-ns/op")
		})
	}
}

// told is what its Recorder was told.
func (t *talk) told() map[string][][]Exchange {
	return t.server.options.Recorder.(guardedRecorder).Recorder.(*heard).told
}
