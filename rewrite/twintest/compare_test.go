package twintest

import (
	"encoding/binary"
	"reflect"
	"strings"
	"testing"
)

// tables is a keyspace of made-up rows of stays, each with one guest.
type tables map[string][]stay

type stay struct {
	room  string
	guest Value
	at    int64
	ttl   int
}

// Do implements Doer: it answers the reads of Compare.
func (t tables) Do(s Statement) (Answer, error) {
	a := Answer{Code: NoError}
	for name, rows := range t {
		if !strings.HasSuffix(s.Text, "@."+name) {
			continue
		}
		for _, r := range rows {
			at := binary.BigEndian.AppendUint64(nil, uint64(r.at)) //nolint:gosec // positive
			var ttl []byte
			if r.ttl > 0 {
				ttl = Int(r.ttl).Contents
			}
			row := [][]byte{[]byte(r.room), Int(1).Contents, Int(1).Contents, r.guest.Contents, at, ttl}
			for len(row) < 3+3*len(shapes[0].columns) {
				row = append(row, nil)
			}
			a.Rows = append(a.Rows, row)
		}
	}
	return a, nil
}

// side has sent two statements to a room, one in each millisecond from 1 on.
func side(rows ...stay) *Side {
	s := NewSide(tables{"stays": rows})
	s.rooms["a"] = []span{{1000, 1900}, {2000, 2900}}
	return s
}

// Every kind of difference is found, and what is only read at another moment is none.
func TestCompareFindsWhatDiffers(t *testing.T) {
	base := stay{"a", Text("ann"), 1000, 0}
	change := func(f func(*stay)) *Side {
		r := base
		f(&r)
		return side(r)
	}
	for _, c := range []struct {
		name string
		got  *Side
		want *Side
		says string // "": nothing differs
	}{
		{"equal", side(base), side(base), ""},
		{"the same statement a little later", change(func(r *stay) { r.at = 1500 }), side(base), ""},
		{"another value", change(func(r *stay) { r.guest = Text("bob") }), side(base), `stays 1 1 guest: is "bob", and "ann" without Helenus`},
		{"null", change(func(r *stay) { r.guest = Null() }), side(base), "is null"},
		{"empty is not null", change(func(r *stay) { r.guest = Text("") }), change(func(r *stay) { r.guest = Null() }), `is "", and null`},
		{"another statement's", change(func(r *stay) { r.at = 2000 }), side(base), "of statement 2; without Helenus 1000, of statement 1"},
		{"nobody's", change(func(r *stay) { r.at = 1950 }), side(base), "of no statement"},
		{"a client's timestamp", change(func(r *stay) { r.at = 77 }), change(func(r *stay) { r.at = 77 }), ""},
		{"two clients' timestamps", change(func(r *stay) { r.at = 77 }), change(func(r *stay) { r.at = 78 }), "of no statement; without Helenus 78"},
		{"a TTL, a moment later", change(func(r *stay) { r.ttl = 990 }), change(func(r *stay) { r.ttl = 1000 }), ""},
		{"a TTL that is gone", side(base), change(func(r *stay) { r.ttl = 1000 }), "TTL"},
		{"another TTL", change(func(r *stay) { r.ttl = 5000 }), change(func(r *stay) { r.ttl = 1000 }), "TTL 5000"},
		{"a row that is missing", side(), side(base), "the row is missing"},
		{"a row too many", side(base), side(), "the row is there"},
	} {
		found, _, err := Compare(c.got, c.want, func(string) bool { return false })
		if err != nil {
			t.Fatal(err)
		}
		if c.says == "" && len(found) > 0 || c.says != "" && (len(found) != 1 || !strings.Contains(found[0].String(), c.says)) {
			t.Errorf("%s: found %v, want %q", c.name, found, c.says)
		}
	}
}

// A form makes the same statements for both sides, each in its own room; none is there twice.
func TestFormsAreDeterministic(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range append(Forms(), Refusals()...) {
		if seen[f.Name] || strings.Contains(f.Name, "'") {
			t.Errorf("%s: its name is another form's, or can not stand in a literal", f.Name)
		}
		seen[f.Name] = true
		sequence := func() []Statement {
			at := int64(0)
			list := f.Sequence(&Gen{Room: f.Name, Guest: "guest", Stamps: true, Now: func() int64 { at++; return at }})
			for _, s := range list {
				if s.At == 0 {
					t.Errorf("%s: %s has no timestamp, although the client gives them", f.Name, s)
				}
			}
			return list
		}
		if a, b := sequence(), sequence(); !reflect.DeepEqual(a, b) {
			t.Errorf("%s: %s, and again %s", f.Name, a, b)
		}
	}
	if len(seen) < 90 {
		t.Errorf("only %d forms", len(seen))
	}
}
