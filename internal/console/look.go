package console

import (
	"bytes"
	"fmt"
)

// token is a colour by what it is used for.
type token struct{ name, light, dark string }

// tokens are all colours. Dark is not light turned round: both are chosen.
var tokens = []token{
	{"paper", "#f6f7f9", "#101419"},
	{"card", "#ffffff", "#181e25"},
	{"sunk", "#eef1f4", "#0c1014"},
	{"ink", "#1b2430", "#e6ebf0"},
	{"faint", "#566273", "#a0adba"},
	{"hair", "#dce2e8", "#2b3540"},
	{"edge", "#7a8795", "#748291"}, // of what can be typed into or pressed
	{"accent", "#0b5cad", "#6bb4f5"},
	{"onaccent", "#ffffff", "#0b1a28"},
	{"good", "#0f6b4f", "#56c99f"},
	{"goodback", "#e3f4ed", "#10281f"},
	{"warn", "#855000", "#f0b35a"},
	{"warnback", "#fdf1dd", "#2c2110"},
	{"bad", "#a8272f", "#ff9a96"},
	{"badback", "#fdeaea", "#331718"},
	{"danger", "#b3262e", "#cf3c43"},
	{"ondanger", "#ffffff", "#ffffff"},
	{"before", "#7f95ab", "#6f859b"}, // bars, in one hue
	{"after", "#0b5cad", "#6bb4f5"},
}

// pair is a colour of text on another, and the contrast that they must have.
type pair struct {
	text, on string
	least    float64
}

// Contrasts that are asked for (WCAG 2.2): of text, and of edges and marks.
const (
	textContrast = 4.5
	markContrast = 3
)

// pairs are all that the style sheet uses.
var pairs = []pair{
	{"ink", "paper", textContrast}, {"ink", "card", textContrast}, {"ink", "sunk", textContrast},
	{"faint", "paper", textContrast}, {"faint", "card", textContrast}, {"faint", "sunk", textContrast},
	{"accent", "paper", textContrast}, {"accent", "card", textContrast}, {"accent", "sunk", textContrast}, {"onaccent", "accent", textContrast},
	{"accent", "goodback", textContrast}, {"accent", "warnback", textContrast}, {"accent", "badback", textContrast},
	{"good", "goodback", textContrast}, {"good", "card", textContrast}, {"ink", "goodback", textContrast},
	{"warn", "warnback", textContrast}, {"warn", "card", textContrast}, {"ink", "warnback", textContrast},
	{"bad", "badback", textContrast}, {"bad", "card", textContrast}, {"ink", "badback", textContrast},
	{"ondanger", "danger", textContrast}, {"edge", "card", markContrast}, {"edge", "paper", markContrast}, {"before", "card", markContrast}, {"after", "card", markContrast},
}

// style is the style sheet with the colours before it.
func style() []byte {
	var b bytes.Buffer
	theme := func(value func(token) string) {
		for _, t := range tokens {
			fmt.Fprintf(&b, "--%s:%s;", t.name, value(t))
		}
	}
	b.WriteString(":root{color-scheme:light dark;")
	theme(func(t token) string { return t.light })
	b.WriteString("}\n@media (prefers-color-scheme:dark){:root{")
	theme(func(t token) string { return t.dark })
	b.WriteString("}}\n")
	rules, _ := assets.ReadFile("assets/console.css")
	b.Write(rules)
	return b.Bytes()
}
