package feed

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/helenus-db/helenus/capture/trace"
	"github.com/helenus-db/helenus/capture/value"
	"github.com/helenus-db/helenus/proxy"
)

// What a text is made of travels too: an id is delivered as 5 and asked for as "user:5", or as u5 and "user:u5", and the other way round. The same ids without a cause do not.
func TestMadeKeysTravel(t *testing.T) {
	ends := func(name, result, variable string) *trace.Statement {
		column := func(c string) []proxy.Column {
			return []proxy.Column{{Keyspace: "k", Table: name, Name: c, Type: proxy.Type{Code: 0x000D}}}
		}
		return &trace.Statement{Fingerprint: name, Keyspace: "k", Table: name, Variables: column(variable), Results: column(result)}
	}
	orders, search, users := ends("orders", "user_id", "id"), ends("search", "name", "ref"), ends("users", "name", "user_id")
	log := ends("log", "subject", "id")
	for n, caused := range []bool{true, false, true, false} {
		id := "%d" // and texts: "user:u5"
		if n > 1 {
			id = "u%d"
		}
		h := value.Hasher{K0: 1, K1: 2}
		r := rand.New(rand.NewPCG(1, 2))
		m := New(Options{Seed: 3})
		now := int64(0)
		say := func(st *trace.Statement, bind, cell string) {
			e := &trace.Execution{Statement: st, Start: now, End: now + 1e6, Process: 1, Rows: 1, Last: true}
			e.Binds, e.Cells = []value.Value{h.Of(value.Text, []byte(bind))}, []value.Value{h.Of(value.Text, []byte(cell))}
			h.Made([]byte(bind), func(x value.Made) { e.MadeBinds = append(e.MadeBinds, x) })
			h.Made([]byte(cell), func(x value.Made) { e.MadeCells = append(e.MadeCells, x) })
			m.Add(e)
			now += 3e6
		}
		for i := range 1500 {
			user := r.IntN(400)
			asked := user
			if !caused {
				asked = r.IntN(400)
			}
			if i%2 == 0 {
				say(orders, fmt.Sprint("o", i), fmt.Sprintf(id, user))
				say(search, fmt.Sprintf("user:"+id, asked), fmt.Sprint("name of ", asked))
			} else {
				say(log, fmt.Sprint("l", i), fmt.Sprintf("user#"+id, user))
				say(users, fmt.Sprintf(id, asked), fmt.Sprint("name of ", asked))
			}
			now += 40e6
		}
		found := map[string]bool{}
		for _, f := range m.Feeds() {
			found[f.From.Table+"."+f.From.Column+" "+f.To.Table+"."+f.To.Column] = true
		}
		if caused != found["orders.user_id search.ref"] || caused != found["log.subject users.user_id"] || !caused && len(found) > 0 {
			t.Errorf("%s, caused %v: %v", id, caused, found)
		}
	}
}
