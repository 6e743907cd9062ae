package verify

import (
	"testing"
	"time"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/workload"
)

func TestJudge(t *testing.T) {
	id, a := &model.Attribute{Name: "id", Type: "int"}, &model.Attribute{Name: "a", Type: "int"}
	e := &model.Entity{Name: "E", Count: 9, Key: []*model.Attribute{id}, Attributes: []*model.Attribute{id, a}}
	g := &model.Graph{Entities: []*model.Entity{e}}
	rows := [][]any{{int64(1), int64(5)}, {int64(2), int64(5)}, {int64(3), int64(6)}, {int64(4), int64(7)}} // id, a
	for _, c := range []struct {
		text string
		got  []string
		want string
	}{
		{"SELECT E.id, E.a FROM E", []string{"4, 7", "3, 6", "1, 5", "2, 5"}, ""},
		{"SELECT E.id, E.a FROM E", []string{"4, 7", "3, 6", "1, 5"}, "3 rows, want 4"},
		{"SELECT E.id, E.a FROM E", []string{"4, 7", "3, 6", "1, 5", "1, 5"}, "row 4 is (1, 5), want one like (4, 7)"},
		{"SELECT E.id FROM E ORDER BY E.a", []string{"2", "1", "3", "4"}, ""},
		{"SELECT E.id FROM E ORDER BY E.a", []string{"1", "3", "2", "4"}, "row 2 is (3), want one like (2)"},
		{"SELECT E.id FROM E ORDER BY E.a LIMIT 1", []string{"2"}, ""},
		{"SELECT E.id FROM E ORDER BY E.a LIMIT 1", []string{"3"}, "row 1 is (3), want one like (1)"},
		{"SELECT E.id FROM E LIMIT 2", []string{"4", "1"}, ""},
		{"SELECT E.id FROM E LIMIT 2", []string{"4", "4"}, "row 2 is (4), want one like (2)"},
		{"SELECT E.id FROM E ORDER BY E.a LIMIT 1 PER E.a", []string{"2", "3", "4"}, ""},
		{"SELECT E.id FROM E ORDER BY E.a LIMIT 1 PER E.a", []string{"2", "1", "3"}, "row 2 is (1), want one like (3)"},
	} {
		s, err := workload.Parse(g, c.text)
		if err != nil {
			t.Fatal(err)
		}
		answer := make([][]any, len(rows)) // of the wide query, whose fields may come in another order
		for i, row := range rows {
			for _, f := range wide(s.Query).Select {
				answer[i] = append(answer[i], row[map[*model.Attribute]int{id: 0, a: 1}[f.Attribute]])
			}
		}
		if got := judge(s.Query, lines(s.Query, answer), c.got); got != c.want {
			t.Errorf("%s answered %q: %q, want %q", c.text, c.got, got, c.want)
		}
	}
}

func TestWords(t *testing.T) {
	got := words([]any{nil, "", "null", int64(3), 3.0, 3.5, true, time.Unix(0, 0), []byte{1}, []any{int64(1), nil}})
	if want := `null, "", "null", 3, 3, 3.5, true, 1970-01-01T00:00:00.000, 0x01, (1, null)`; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	missing, extra := apart([]string{"a", "a", "b", "c"}, []string{"a", "c", "d"}, 1)
	if len(missing) != 2 || missing[0] != "a" || missing[1] != "and 1 more" || len(extra) != 1 || extra[0] != "d" {
		t.Errorf("%q %q", missing, extra)
	}
}
