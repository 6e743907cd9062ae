package bulk

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/capture/schema"
	"github.com/helenus-db/helenus/rewrite/kind"
	"github.com/helenus-db/helenus/rewrite/lookup/maintain"
	"github.com/helenus-db/helenus/rewrite/lookup/match"
)

func lookUp(t *testing.T, change func(*schema.Table)) *match.LookUp {
	t.Helper()
	base := &schema.Table{Keyspace: "shop", Name: "orders", ID: "1", GCGrace: 864000, Columns: []schema.Column{
		{Name: "day", Kind: schema.PartitionKey, Position: 0, Type: "int"},
		{Name: "place", Kind: schema.PartitionKey, Position: 1, Type: "text"},
		{Name: "at", Kind: schema.Clustering, Position: 0, Type: "timeuuid", Descending: true},
		{Name: "customer", Kind: schema.Regular, Position: -1, Type: "text"},
	}}
	if change != nil {
		change(base)
	}
	l, refusal := match.New(plan.Rewrite{Keyspace: "shop", Base: "orders", Column: base.Columns[3].Name, Table: "orders_by_customer", TableKeyspace: "helenus_data_shop", SchemaDigest: base.Digest(),
		Statements: []string{"1"}, Texts: []string{"SELECT * FROM shop.orders WHERE customer = ? ALLOW FILTERING"}}, base)
	if refusal != nil {
		t.Fatal(refusal)
	}
	return l
}

func written(t *testing.T, l *match.LookUp) (text string, told map[string]any) {
	t.Helper()
	entry := maintain.New(maintain.Parts{}, maintain.Settings{}).CellEntry()
	text, err := Spark("r-1", l, entry, kind.Filling{Read: gocql.EachQuorum, Write: gocql.All})
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(text, `json.loads("""`)
	said, _, found := strings.Cut(rest, `"""`)
	if !found {
		t.Fatalf("the job is not told:\n%s", text)
	}
	if err := json.Unmarshal([]byte(said), &told); err != nil {
		t.Fatal(err)
	}
	return text, told
}

// TestSpark: the script is told all that it has to know, and is Python.
func TestSpark(t *testing.T) {
	text, told := written(t, lookUp(t, nil))
	want := map[string]any{
		"change": "r-1", "base": map[string]any{"keyspace": "shop", "table": "orders"}, "look_up": map[string]any{"keyspace": "helenus_data_shop", "table": "orders_by_customer"},
		"column": "customer", "text": true, "key": []any{"day", "place", "at"}, "fixed_key_bytes": 20.0,
		"varying_key": []any{"place"}, "own": map[string]any{"kind": "entry_kind", "id": "entry_id", "written": "written"}, "entry_kind": 0.0, "entry_id": 0.0,
		"margin_seconds": time.Hour.Seconds(), "entries_expire": true, "max_ttl": 630720000.0, "last_second": 2147440446.0, "max_value_bytes": 65535.0, "max_key_bytes": 65526.0,
		"read_consistency": "EACH_QUORUM", "write_consistency": "ALL",
	}
	if !reflect.DeepEqual(told, want) {
		t.Errorf("told\n%v\nwant\n%v", told, want)
	}
	if _, told := written(t, lookUp(t, func(b *schema.Table) { b.DefaultTTL = 60 })); told["entries_expire"] != false {
		t.Error("entries of a base with a default time to live are to have none")
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3 to read it")
	}
	file := filepath.Join(t.TempDir(), "fill.py")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(python, "-m", "py_compile", file).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// TestNoSpark: what Spark would not carry byte by byte is refused.
func TestNoSpark(t *testing.T) {
	for name, change := range map[string]func(*schema.Table){
		"a frozen list in the key": func(b *schema.Table) { b.Columns[2].Type = "frozen<list<int>>" },
		"a duration looked up":     func(b *schema.Table) { b.Columns[3].Type = "duration" },
		"a name in capitals":       func(b *schema.Table) { b.Columns[1].Name = "Place" },
		"a name with a field":      func(b *schema.Table) { b.Columns[1].Name = "place.town" },
		"a name that goes on": func(b *schema.Table) {
			b.Columns[3].Name = "customer`) + reflect('java.lang.system', 'exit', 1) + ttl(`customer"
		},
		"a name of ours": func(b *schema.Table) { b.Columns[1].Name = "helenus_at" },
	} {
		l := lookUp(t, nil)
		base := *l.Base
		base.Columns = append([]schema.Column(nil), l.Base.Columns...)
		change(&base)
		l.Base, l.By, l.Key = &base, base.Columns[3], base.PrimaryKey()
		if _, err := Spark("r-1", l, maintain.CellEntry{}, kind.Filling{}); !errors.Is(err, kind.ErrNoBulk) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
