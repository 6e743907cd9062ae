// Package mermaid writes pictures as Mermaid text: erDiagram for entities, flowchart for everything else.
//
// Whatever a name holds, the text stays one that Mermaid reads: boxes are numbered, their names stand in quotes, and of these
// all but letters, digits, blanks and plain signs is written as a character's number (#34;), which Mermaid draws as the
// character. Where erDiagram takes plain words only (attributes and their types), other signs become an underscore, and the name itself
// stands beside it as a comment.
//
// Mermaid lays the diagram out by itself, and knows neither crow's feet on flowcharts nor lists; lists are comments (%%) in the
// text. It imports package picture.
package mermaid

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/helenus-db/helenus/advisor/diagram/picture"
)

// Write writes a picture. The error is the writer's.
func Write(w io.Writer, p *picture.Picture) error {
	var b strings.Builder
	if p.Kind == picture.ER {
		entities(&b, p)
	} else {
		flowchart(&b, p)
	}
	for _, l := range p.Lists {
		fmt.Fprintf(&b, "%%%% %s\n", line(l.Heading))
		for _, i := range l.Items {
			fmt.Fprintf(&b, "%%%%   %s\n", line(strings.TrimSpace(i.Sign+" "+i.Name+" "+i.Text)))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// line is a text as a comment holds it: on one line, without what Mermaid takes for a directive or a statement's end.
func line(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '{', r == '[':
			return '('
		case r == '}', r == ']':
			return ')'
		case !unicode.IsPrint(r):
			return ' '
		}
		return r
	}, text)
}

// quoted is a text within quotes.
func quoted(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case !unicode.IsPrint(r):
			b.WriteByte(' ')
		case r == ' ', r == '_', r == '-', r == '.', r == ',', r == ':', r == '?', r == '(', r == ')', r > unicode.MaxASCII, unicode.IsLetter(r), unicode.IsDigit(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "#%d;", r)
		}
	}
	return `"` + b.String() + `"`
}

// feet are the ends of relationships: on the left and on the right of the line.
var feet = map[picture.End][2]string{
	picture.One: {"||", "||"}, picture.ZeroOrOne: {"|o", "o|"}, picture.Many: {"}|", "|{"}, picture.ZeroOrMany: {"}o", "o{"}, picture.Plain: {"||", "||"}, picture.Arrow: {"||", "||"},
}

func entities(b *strings.Builder, p *picture.Picture) {
	fmt.Fprintf(b, "---\ntitle: %s\n---\nerDiagram\n", quoted(p.Title))
	for i, box := range p.Boxes {
		fmt.Fprintf(b, "  e%d[%s] {\n", i, quoted(box.Name))
		for _, r := range box.Rows {
			typ := "attribute"
			if r.Type != "" {
				typ = word(r.Type)
			}
			fmt.Fprintf(b, "    %s %s", typ, word(r.Name))
			switch {
			case r.Key && strings.HasPrefix(r.Mark, "="):
				b.WriteString(" PK,FK")
			case r.Key:
				b.WriteString(" PK")
			case r.Mark == "AK":
				b.WriteString(" UK")
			}
			comment := r.Mark
			if word(r.Name) != r.Name {
				comment = strings.TrimSpace(r.Name + " " + comment)
			}
			if comment != "" && comment != "AK" {
				fmt.Fprintf(b, ` "%s"`, strings.ReplaceAll(line(comment), `"`, "'")) // comments know no numbers
			}
			b.WriteByte('\n')
		}
		b.WriteString("  }\n")
	}
	for _, l := range p.Links {
		join := ".."
		if l.Double {
			join = "--" // identifying
		}
		fmt.Fprintf(b, "  e%d %s%s%s e%d : %s\n", l.From, feet[l.Start][0], join, feet[l.Finish][1], l.To, quoted(l.Label))
	}
}

// word is a name as an attribute of erDiagram may have it.
func word(name string) string {
	w := strings.Map(func(r rune) rune {
		if r == '_' || r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '_'
	}, name)
	if w == "" || w[0] == '_' || unicode.IsDigit(rune(w[0])) {
		w = "a" + w
	}
	return w
}

func flowchart(b *strings.Builder, p *picture.Picture) {
	fmt.Fprintf(b, "---\ntitle: %s\n---\nflowchart TB\n", quoted(p.Title))
	used := map[picture.Shape]bool{}
	for i, box := range p.Boxes {
		if used[box.Shape] = true; box.Shape == picture.Entry {
			fmt.Fprintf(b, "  b%d([%s]):::entry\n", i, quoted(box.Name))
			continue
		}
		text := strings.Trim(quoted(box.Name), `"`)
		text = "<b>" + text + "</b>"
		for _, r := range box.Rows {
			row := strings.Trim(quoted(r.Name), `"`)
			for _, more := range []string{r.Type, r.Mark} {
				if more != "" {
					row += " · " + strings.Trim(quoted(more), `"`)
				}
			}
			text += "<br/>" + row
		}
		fmt.Fprintf(b, "  b%d[\"%s\"]:::%s\n", i, text, class(box.Shape))
	}
	for _, l := range p.Links {
		arrow := "-->"
		if l.Broken {
			arrow = "-.->"
		}
		if l.Label != "" {
			arrow += "|" + quoted(l.Label) + "|"
		}
		fmt.Fprintf(b, "  b%d %s b%d\n", l.From, arrow, l.To)
	}
	for _, s := range []picture.Shape{picture.Table, picture.UserType, picture.Screen, picture.Entry} {
		if used[s] {
			fmt.Fprintf(b, "  classDef %s %s\n", class(s), looks[s])
		}
	}
}

// class is the name of a shape's style; "type" is no word for one.
func class(s picture.Shape) string {
	if s == picture.UserType {
		return "udt"
	}
	return strings.ReplaceAll(string(s), " ", "")
}

// looks are legible on light and dark pages: both colours are given.
var looks = map[picture.Shape]string{
	picture.Table:    "fill:#fbfcfd,stroke:#2a5a8c,color:#1d2733,text-align:left",
	picture.UserType: "fill:#fbfcfd,stroke:#66478c,color:#1d2733,text-align:left",
	picture.Screen:   "fill:#fbfcfd,stroke:#80551a,color:#1d2733,text-align:left",
	picture.Entry:    "fill:#ffffff,stroke:#5d6b7a,color:#1d2733",
}
