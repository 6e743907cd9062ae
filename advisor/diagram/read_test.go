package diagram_test

import (
	"bytes"
	"encoding/xml"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/advisor/diagram"
	"github.com/helenus-db/helenus/advisor/diagram/mermaid"
	"github.com/helenus-db/helenus/advisor/diagram/picture"
	"github.com/helenus-db/helenus/advisor/diagram/svg"
	"github.com/helenus-db/helenus/capture/cql"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares with a file of testdata/golden.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.WriteFile(file, got, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file) //nolint:gosec // of ours
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what it was; look at it and run `go test ./advisor/diagram -update`", name)
	}
}

func drawn(t rapid.TB, p *picture.Picture, theme svg.Theme) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := p.SVG(&b, theme); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func mermaidOf(t rapid.TB, p *picture.Picture) string {
	t.Helper()
	var b strings.Builder
	if err := mermaid.Write(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// element is a node of an SVG file.
type element struct {
	XMLName  xml.Name
	Class    string    `xml:"class,attr"`
	Text     string    `xml:",chardata"`
	Children []element `xml:",any"`
}

func (e *element) first(name string) string {
	for _, c := range e.Children {
		if c.XMLName.Local == name {
			return c.Text
		}
	}
	return ""
}

// read makes CREATE statements of what the boxes of a physical diagram show, and of nothing else.
func read(t rapid.TB, file []byte) []string {
	t.Helper()
	var root element
	if err := xml.Unmarshal(file, &root); err != nil {
		t.Fatalf("%v\n%s", err, file)
	}
	var types, tables []string
	for _, box := range root.Children {
		isType := box.Class == "box type"
		if box.Class != "box table" && !isType {
			continue
		}
		name := box.first("title")
		if name == "" {
			name = box.first("text")
		}
		var columns, partition, clustering, order, indexes []string
		for _, row := range box.Children {
			if row.Class != "row" {
				continue
			}
			parts := []string{"", "", ""}
			if whole := row.first("title"); whole != "" {
				copy(parts, strings.Split(whole, "\n"))
			} else {
				for _, x := range row.Children {
					switch x.Class {
					case "row":
						parts[0] = x.Text
					case "type":
						parts[1] = x.Text
					case "mark":
						parts[2] = x.Text
					}
				}
			}
			column := quote(parts[0])
			definition := column + " " + parts[1]
			for _, mark := range strings.Fields(parts[2]) {
				switch mark {
				case "K":
					partition = append(partition, column)
				case "C↑", "C↓":
					clustering = append(clustering, column)
					order = append(order, column+map[string]string{"C↑": " ASC", "C↓": " DESC"}[mark])
				case "S":
					definition += " STATIC"
				case "IDX":
					indexes = append(indexes, "CREATE INDEX ON "+quote(name)+" ("+column+")")
				}
			}
			columns = append(columns, definition)
		}
		if isType {
			types = append(types, "CREATE TYPE "+quote(name)+" ("+strings.Join(columns, ", ")+")")
			continue
		}
		key := strings.Join(append([]string{"(" + strings.Join(partition, ", ") + ")"}, clustering...), ", ")
		text := "CREATE TABLE " + quote(name) + " (" + strings.Join(columns, ", ") + ", PRIMARY KEY (" + key + "))"
		if len(order) > 0 {
			text += " WITH CLUSTERING ORDER BY (" + strings.Join(order, ", ") + ")"
		}
		tables = append(append(tables, text), indexes...)
	}
	return append(types, tables...)
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// sameTables tells whether two schemas would make the same tables.
func sameTables(t rapid.TB, got, want *diagram.Schema) {
	t.Helper()
	a, b := strings.Join(plain(got), "\n"), strings.Join(plain(want), "\n")
	if a != b {
		t.Fatalf("read again it is\n%s\nit was\n%s", a, b)
	}
}

// plain writes a schema's statements without keyspaces, which diagrams of one keyspace name once.
func plain(s *diagram.Schema) []string {
	own := &diagram.Schema{}
	for _, x := range s.Tables {
		c := *x
		c.Keyspace = ""
		own.Tables = append(own.Tables, &c)
	}
	for _, x := range s.Types {
		c := *x
		c.Keyspace = ""
		own.Types = append(own.Types, &c)
	}
	return own.CQL()
}

func parsed(t rapid.TB, text string) *diagram.Schema {
	t.Helper()
	s, err := diagram.ReadCQL("file.cql", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return s
}

func typed(t rapid.TB, text string) cql.Type {
	t.Helper()
	return parsed(t, "CREATE TABLE t (c "+text+" PRIMARY KEY)").Tables[0].Columns[0].Type
}
