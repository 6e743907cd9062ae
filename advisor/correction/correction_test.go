package correction_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helenus-db/helenus/advisor/correction"
)

const every = `- same: [shop.a.x, shop.b.y, shop.c.z]
  because: "one and the same: a customer"
- different: [shop.a, shop.b]
- entity: shop.users
  name: Account
  key: [id, realm]
- relationship: shop.orders.buyer
  to: shop.users
  question: q-1
- relationship: shop.orders.seller
  to: none
- copy: shop.users_by_mail
  of: shop.users
- copy: shop.odd
  of: none
- join: accept
  from: 91c0de:shop.orders.buyer
  to: shop.users.id
- join: reject
  from: shop.orders.total
  to: shop.rates.id
- rename: shop.orders
  to: Purchase
- weight: q-91c0de12
  times: 0
- weight: 00c0de12
  per_second: 2.5
- pin: shop.users.name
`

// Every kind of line is written as it is read, byte for byte, a weight of 0 too.
func TestRoundTrip(t *testing.T) {
	list, err := correction.Parse("f", []byte(every))
	if err != nil {
		t.Fatal(err)
	}
	first, err := list.YAML()
	if err != nil {
		t.Fatal(err)
	}
	again, err := correction.Parse("f", first)
	if err != nil {
		t.Fatalf("%v\n%s", err, first)
	}
	if d := cmp.Diff(list, again); d != "" {
		t.Errorf("%s\n%s", d, first)
	}
	second, err := again.YAML()
	if err != nil || string(first) != string(second) {
		t.Errorf("%v\n%s\nthen\n%s", err, first, second)
	}
	if len(list) != 13 || list[10].Times == nil || *list[10].Times != 0 {
		t.Errorf("%d lines: %+v", len(list), list)
	}
	for i := range list {
		if text := list[i].String(); text == "" || strings.Contains(text, "%!") {
			t.Errorf("line %d is %q", i, text)
		}
	}
}

// What is wrong with a list is said with the place where it is.
func TestWrong(t *testing.T) {
	many := strings.Repeat("- pin: a.b\n", 1001)
	for _, tt := range []struct{ name, text, want string }{
		{"two kinds", "- same: [a.b, a.c]\n  pin: a.b", "f:2:8: a correction is of one kind, this is same and pin"},
		{"no kind", "- because: no reason", "says nothing: it needs one of same, different"},
		{"unknown key", "- sam: [a.b, a.c]", "nearest is \"same\""},
		{"a key of another kind", "- same: [a.b, a.c]\n  to: x", "f:2:7: to is nothing that a correction of kind same has"},
		{"a key that is missing", "- relationship: a.b.c", "f:1:17: a correction of kind relationship needs to"},
		{"one table", "- same: [a.b]", "two tables, or two columns"},
		{"table and column", "- same: [a.b, a.b.c]", "are not both tables"},
		{"twice", "- same: [a.b, a.b]", "a.b is named twice"},
		{"no table", "- entity: users\n  name: U", "\"users\" is no table, keyspace.table"},
		{"an entity of nothing", "- entity: a.b", "Give it a name or a key"},
		{"a name of two words", "- rename: a.b\n  to: two words", "f:2:7: \"two words\" is no name"},
		{"a join of maybe", "- join: maybe\n  from: a.b.c\n  to: a.d.e", "accepted or rejected, not \"maybe\""},
		{"a join of tables", "- join: accept\n  from: a.b\n  to: a.d.e", "f:2:9: \"a.b\" is no column"},
		{"a weight of both", "- weight: abcdef01\n  times: 1\n  per_second: 2", "one of them"},
		{"a weight below zero", "- weight: abcdef01\n  times: -1", "f:2:10: times -1 is not a number"},
		{"a weight of a word", "- weight: abcdef01\n  times: often", "expected a number"},
		{"no fingerprint", "- weight: hello!\n  times: 1", "is no statement"},
		{"a line break", "- pin: a.b\n  because: \"x\\ny\"", "can not be shown"},
		{"a copy of itself", "- copy: a.b\n  of: a.b", "a copy of itself"},
		{"no list", "same: x", "f:1:"},
		{"broken", "- same: [a.b, a.c", "f:1:"},
		{"too many", many, "1001 corrections are more than 1000"},
		{"an alias", "- &x {pin: a.b}\n- *x", "anchors and aliases"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if list, err := correction.Parse("f", []byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, %v; want %q", list, err, tt.want)
			}
		})
	}
}

// Lines that can not be true together are refused, at the one that says so; those that agree are not.
func TestContradictions(t *testing.T) {
	for _, tt := range []struct {
		text string
		want string // "": nothing
	}{
		{"- same: [a.b, a.c]\n- different: [a.c, a.b]", "f:2:15: a.c and a.b are said to be different, but correction 1 says that they are the same"},
		{"- different: [a.b, a.d]\n- same: [a.b, a.c]\n- same: [a.c, a.d]", "f:1:15: a.b and a.d are said to be different, but other corrections, taken together"},
		{"- copy: a.b\n  of: a.c\n- different: [a.b, a.c]", "f:3:15: "},
		{"- relationship: a.b.c\n  to: a.d\n- relationship: a.b.c\n  to: none", "f:3:17: \"a.b.c holds the key of no entity\" contradicts correction 1 (\"a.b.c holds the key of a.d\")"},
		{"- relationship: a.b.c\n  to: a.d\n- relationship: a.b.c\n  to: a.d", ""},
		{"- entity: a.b\n  name: X\n- rename: a.b\n  to: Y", "f:3:11: "},
		{"- entity: a.b\n  name: X\n- rename: a.b\n  to: X", ""},
		{"- entity: a.b\n  key: [x]\n- entity: a.b\n  key: [x, y]", "f:3:11: "},
		{"- join: accept\n  from: a.b.c\n  to: a.d.e\n- join: reject\n  from: a.b.c\n  to: a.d.e", "f:4:9: "},
		{"- weight: abcdef\n  times: 1\n- weight: abcdef\n  per_second: 1", "f:3:11: "},
		{"- different: [a.b, a.c]\n- different: [a.b, a.d]\n- same: [a.c, a.d]", ""},
	} {
		list, err := correction.Parse("f", []byte(tt.text))
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.want)) {
			t.Errorf("%s\n%v, %v; want %q", tt.text, list, err, tt.want)
		}
	}
}
