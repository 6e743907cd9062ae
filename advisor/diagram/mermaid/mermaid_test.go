package mermaid

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/advisor/diagram/picture"
)

// TestQuoted: no character that ends a text, or begins something else in it, is left as it is.
func TestQuoted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		got := quoted(text)
		inner := strings.TrimSuffix(strings.TrimPrefix(got, `"`), `"`)
		if len(got) != len(inner)+2 || strings.ContainsAny(inner, "\"<>{}[]|&`\\\n") {
			t.Fatalf("%q became %s", text, got)
		}
	})
	if got := quoted(`a"b<c>&#;`); got != `"a#34;b#60;c#62;#38;#35;#59;"` {
		t.Error(got)
	}
}

func TestWord(t *testing.T) {
	for name, want := range map[string]string{"id": "id", "first name": "first_name", "2nd": "a2nd", "": "a", "größe": "gr__e", "_x": "a_x"} {
		if got := word(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestWrite(t *testing.T) {
	p := &picture.Picture{
		Kind: picture.Logical, Title: "t",
		Boxes: []picture.Box{{Shape: picture.Entry, Name: "Q1"}, {Shape: picture.Table, Name: `a"b`, Rows: []picture.Row{{Name: "<tags>", Mark: "C↑"}}}, {Shape: picture.UserType, Name: "*u*"}},
		Links: []picture.Link{{From: 0, To: 1}, {From: 1, To: 2, Label: "Q2, Q3", Broken: true}},
		Lists: []picture.List{{Heading: "Notation", Items: []picture.Item{{Sign: "K", Text: "partition key {x}\nnext"}}}},
	}
	const flow = `---
title: "t"
---
flowchart TB
  b0(["Q1"]):::entry
  b1["<b>a#34;b</b><br/>#60;tags#62; · C↑"]:::table
  b2["<b>#42;u#42;</b>"]:::udt
  b0 --> b1
  b1 -.->|"Q2, Q3"| b2
  classDef table fill:#fbfcfd,stroke:#2a5a8c,color:#1d2733,text-align:left
  classDef udt fill:#fbfcfd,stroke:#66478c,color:#1d2733,text-align:left
  classDef entry fill:#ffffff,stroke:#5d6b7a,color:#1d2733
%% Notation
%%   K  partition key (x) next
`
	const er = `---
title: "t"
---
erDiagram
  e0["Room #38; co"] {
    attribute code PK,FK "= building.code"
    attribute room_no PK "room no"
    attribute email UK
  }
  e0 ||--o{ e0 : "in"
`
	entities := &picture.Picture{
		Kind: picture.ER, Title: "t", Boxes: []picture.Box{{Shape: picture.Weak, Name: "Room & co", Rows: []picture.Row{{Name: "code", Key: true, Mark: "= building.code"}, {Name: "room no", Key: true}, {Name: "email", Mark: "AK"}}}},
		Links: []picture.Link{{Label: "in", Start: picture.One, Finish: picture.ZeroOrMany, Double: true}},
	}
	for want, p := range map[string]*picture.Picture{flow: p, er: entities} {
		var b strings.Builder
		if err := Write(&b, p); err != nil || b.String() != want {
			t.Errorf("%v, got\n%s\nwant\n%s", err, b.String(), want)
		}
	}
}
