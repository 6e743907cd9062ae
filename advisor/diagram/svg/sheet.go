package svg

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/helenus-db/helenus/internal/words"
)

// Anchor is which point of a text stands at its x.
type Anchor string

// The anchors.
const (
	Start  Anchor = "start"
	Middle Anchor = "middle"
	Finish Anchor = "end"
)

// Sheet is a drawing. The zero Sheet is empty.
type Sheet struct {
	body    bytes.Buffer
	used    map[Class]bool
	hatched bool
}

func (s *Sheet) class(c Class) string {
	if s.used == nil {
		s.used = map[Class]bool{}
	}
	s.used[c] = true
	return ` class="` + string(c) + `"`
}

// number writes a coordinate with two digits at most.
func number(x float64) string {
	x = math.Round(x*100) / 100
	if x == 0 {
		x = 0 // no minus
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(words.Printable(text))) // a builder takes all
	return b.String()
}

// Rect draws a rectangle with rounded corners.
func (s *Sheet) Rect(x, y, width, height, radius float64, c Class) {
	fmt.Fprintf(&s.body, `<rect x="%s" y="%s" width="%s" height="%s"`, number(x), number(y), number(max(0, width)), number(max(0, height)))
	if radius > 0 {
		fmt.Fprintf(&s.body, ` rx="%s"`, number(radius))
	}
	s.body.WriteString(s.class(c) + "/>\n")
}

// Hatched draws a rectangle filled with slanted lines over its class.
func (s *Sheet) Hatched(x, y, width, height float64, c Class) {
	s.Rect(x, y, width, height, 0, c)
	s.hatched = true
	fmt.Fprintf(&s.body, `<rect x="%s" y="%s" width="%s" height="%s" fill="url(#hatch)"/>`+"\n", number(x), number(y), number(max(0, width)), number(max(0, height)))
	s.class(Axis)
}

// Circle draws a circle.
func (s *Sheet) Circle(x, y, radius float64, c Class) {
	fmt.Fprintf(&s.body, `<circle cx="%s" cy="%s" r="%s"%s/>`+"\n", number(x), number(y), number(radius), s.class(c))
}

// Path draws a path.
func (s *Sheet) Path(p *Path, c Class) {
	fmt.Fprintf(&s.body, `<path d="%s"%s/>`+"\n", p.b.String(), s.class(c))
}

// Text writes a text with its base line at y.
func (s *Sheet) Text(x, y float64, a Anchor, text string, c Class) {
	if strings.TrimSpace(text) == "" {
		return
	}
	fmt.Fprintf(&s.body, `<text x="%s" y="%s"`, number(x), number(y))
	if a != Start {
		fmt.Fprintf(&s.body, ` text-anchor="%s"`, a)
	}
	if len(text) > 2 {
		fmt.Fprintf(&s.body, ` textLength="%s" lengthAdjust="spacingAndGlyphs"`, number(Width(text, c)))
	}
	fmt.Fprintf(&s.body, `%s>%s</text>`+"\n", s.class(c), escaped(text))
}

// Group draws what belongs together, with a title that viewers show when pointed at, which may have several lines, and a
// class for readers of the file, which looks like nothing.
func (s *Sheet) Group(class, title string, draw func()) {
	fmt.Fprintf(&s.body, `<g class="%s">`, class)
	if title != "" {
		lines := strings.Split(title, "\n")
		for i := range lines {
			lines[i] = escaped(lines[i])
		}
		fmt.Fprintf(&s.body, "<title>%s</title>", strings.Join(lines, "\n"))
	}
	s.body.WriteByte('\n')
	draw()
	s.body.WriteString("</g>\n")
}

// Write writes the sheet as a file of that size, with a title and a description for those who can not see it.
func (s *Sheet) Write(w io.Writer, width, height float64, title, description string, theme Theme) error {
	s.class(Paper)
	var b bytes.Buffer
	width, height = math.Ceil(width), math.Ceil(height)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s" role="img" aria-labelledby="title desc">`+"\n",
		number(width), number(height), number(width), number(height))
	fmt.Fprintf(&b, "<title id=\"title\">%s</title>\n<desc id=\"desc\">%s</desc>\n<style>%s</style>\n", escaped(title), escaped(description), sheetCSS(s.used, theme))
	if s.hatched {
		b.WriteString(`<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0 0V6" class="axis"/></pattern></defs>` + "\n")
	}
	fmt.Fprintf(&b, `<rect width="%s" height="%s" class="paper"/>`+"\n", number(width), number(height))
	b.Write(s.body.Bytes())
	b.WriteString("</svg>\n")
	_, err := w.Write(b.Bytes())
	return err
}

// Path is a way of a pen.
type Path struct{ b strings.Builder }

func (p *Path) add(command byte, coordinates ...float64) *Path {
	p.b.WriteByte(command)
	for i, c := range coordinates {
		if i > 0 {
			p.b.WriteByte(' ')
		}
		p.b.WriteString(number(c))
	}
	return p
}

// Move begins anew somewhere else.
func (p *Path) Move(x, y float64) *Path { return p.add('M', x, y) }

// Line goes straight.
func (p *Path) Line(x, y float64) *Path { return p.add('L', x, y) }

// Curve goes round a point.
func (p *Path) Curve(roundX, roundY, x, y float64) *Path { return p.add('Q', roundX, roundY, x, y) }

// Close goes back to where it began.
func (p *Path) Close() *Path { return p.add('Z') }
