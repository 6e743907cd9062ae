package svg

import (
	"fmt"
	"slices"
	"strings"
)

// Class says what something on a sheet looks like.
type Class string

// Theme is whose colours a file has.
type Theme string

// The themes. Auto follows the reader's own.
const (
	Auto  Theme = "auto"
	Light Theme = "light"
	Dark  Theme = "dark"
)

// Themes lists them.
var Themes = []Theme{Auto, Light, Dark}

// The classes of text.
const (
	Title    Class = "title"    // of the sheet
	Subtitle Class = "subtitle" // below it
	Heading  Class = "heading"  // of a list below the drawing
	Body     Class = "body"
	Strong   Class = "strong" // a word of Body
	Faint    Class = "faint"  // less than Body
	Name     Class = "name"   // of a box, on its head
	Row      Class = "row"    // in a box
	Key      Class = "key"    // underlined Row
	Type     Class = "type"   // beside Row
	Mark     Class = "mark"   // at the end of Row
	Label    Class = "label"  // of an edge
	End      Class = "end"    // at the end of an edge
	Tick     Class = "tick"   // of an axis
)

// The classes of shapes.
const (
	Paper     Class = "paper"
	Card      Class = "card"      // the body of a box
	Line      Class = "line"      // an edge
	Broken    Class = "broken"    // an edge that is less sure, or leads back
	Heavy     Class = "heavy"     // the edge that identifies a weak entity
	Tip       Class = "tip"       // filled end of an edge
	Ring      Class = "ring"      // open end of an edge
	Pill      Class = "pill"      // behind Label
	Rule      Class = "rule"      // between rows
	Grid      Class = "grid"      // of a chart
	Axis      Class = "axis"      // of a chart
	TableHead Class = "tablehead" // heads of boxes
	Entity    Class = "entity"
	UserType  Class = "usertype"
	Screen    Class = "screen"
	TableEdge Class = "tableedge" // borders of boxes
	EntEdge   Class = "entedge"
	TypeEdge  Class = "typeedge"
	ScreenRim Class = "screenrim"
	Kept      Class = "kept"    // a bar of a calendar
	Making    Class = "making"  // what is being made for it
	Dropped   Class = "dropped" // the end of a bar
	Change    Class = "change"  // a mark that something changes
	Same      Class = "same"    // or not
	First     Class = "s1"      // lines and marks of series
	Second    Class = "s2"
	Third     Class = "s3"
	Fourth    Class = "s4"
	Fifth     Class = "s5"
	Sixth     Class = "s6"
	Own       Class = "own"  // the line that a chart is about
	Area      Class = "area" // below a line
)

// colour has a value for each theme.
type colour struct{ light, dark string }

// colours are named for what they are used for. Text keeps 4.5:1 to what it stands on, which the tests check.
var colours = map[string]colour{
	"paper":  {"#ffffff", "#11161c"},
	"card":   {"#fbfcfd", "#1a222b"},
	"ink":    {"#1d2733", "#e4eaf0"},
	"faint":  {"#5a6675", "#9aa7b4"},
	"line":   {"#5d6b7a", "#8d9aa8"},
	"hair":   {"#dde3e9", "#2c3742"},
	"onhead": {"#ffffff", "#ffffff"},
	"blue":   {"#2a5a8c", "#2f6aa3"},
	"teal":   {"#1f6b5e", "#22776a"},
	"purple": {"#66478c", "#7a58a6"},
	"amber":  {"#80551a", "#8a5f22"},
	"mark":   {"#8a4b00", "#f0b45c"},
	"type":   {"#2f6478", "#86c5da"},
	"s1":     {"#0b69a8", "#58b0ec"},
	"s2":     {"#b55a00", "#f0a04b"},
	"s3":     {"#08775a", "#4fc7a1"},
	"s4":     {"#a8326f", "#ef8cba"},
	"s5":     {"#6a4fb3", "#b09af0"},
	"s6":     {"#5f6672", "#a9b3bf"},
	"kept":   {"#3f78ad", "#3f7fb9"},
	"making": {"#9cc0e0", "#2c4f70"},
}

// look is what a class looks like: a size for text, and declarations in which $name is a colour.
type look struct {
	size float64
	bold bool
	css  string
}

func text(size float64, colour string) look {
	return look{size: size, css: "fill:$" + colour}
}

func strong(size float64, colour string) look {
	return look{size: size, bold: true, css: "fill:$" + colour}
}

func stroke(colour string, width float64) look {
	return look{css: fmt.Sprintf("fill:none;stroke:$%s;stroke-width:%g;stroke-linejoin:round", colour, width)}
}

func fill(colour string) look { return look{css: "fill:$" + colour} }

var styles = map[Class]look{
	Title: strong(19, "ink"), Subtitle: text(12.5, "faint"), Heading: strong(12.5, "ink"), Body: text(12, "ink"), Strong: strong(12, "ink"),
	Faint: text(12, "faint"), Name: strong(13, "onhead"), Row: text(12.5, "ink"), Type: text(12, "type"), Mark: strong(11.5, "mark"),
	Key: {size: 12.5, bold: true, css: "fill:$ink;text-decoration:underline"}, Label: strong(11.5, "ink"), End: text(11.5, "ink"), Tick: text(11, "faint"),
	Paper: fill("paper"), Card: fill("card"), Line: stroke("line", 1.4), Heavy: stroke("line", 3),
	Broken: {css: "fill:none;stroke:$line;stroke-width:1.4;stroke-dasharray:5 4"}, Tip: fill("line"),
	Ring: {css: "fill:$paper;stroke:$line;stroke-width:1.4"}, Pill: {css: "fill:$paper;stroke:$line;stroke-width:1"}, Rule: stroke("hair", 1),
	Grid: stroke("hair", 1), Axis: stroke("line", 1), TableHead: fill("blue"), Entity: fill("teal"), UserType: fill("purple"), Screen: fill("amber"),
	TableEdge: stroke("blue", 1.4), EntEdge: stroke("teal", 1.4), TypeEdge: stroke("purple", 1.4), ScreenRim: stroke("amber", 1.4),
	Kept: fill("kept"), Making: fill("making"), Dropped: stroke("s4", 2), Change: fill("s2"), Same: fill("hair"),
	First: stroke("s1", 1.8), Second: stroke("s2", 1.8), Third: stroke("s3", 1.8), Fourth: stroke("s4", 1.8), Fifth: stroke("s5", 1.8), Sixth: stroke("s6", 1.8),
	Own:  stroke("s1", 3),
	Area: {css: "fill:$s1;fill-opacity:0.16"},
}

// Series are the classes of lines that are told apart by colour, in order.
var Series = []Class{First, Second, Third, Fourth, Fifth, Sixth}

// sheetCSS writes the rules of the classes that are used.
func sheetCSS(used map[Class]bool, theme Theme) string {
	var b strings.Builder
	b.WriteString("text{font-family:'Liberation Sans',Arial,Helvetica,sans-serif}")
	var names []Class
	for c := range used {
		names = append(names, c)
	}
	slices.Sort(names)
	for _, c := range names {
		s := styles[c]
		b.WriteString("." + string(c) + "{" + painted(s.css, theme == Dark))
		if s.size > 0 {
			fmt.Fprintf(&b, ";font-size:%gpx", s.size)
		}
		if s.bold {
			b.WriteString(";font-weight:bold")
		}
		b.WriteString("}")
	}
	if theme != Auto {
		return b.String()
	}
	b.WriteString("@media (prefers-color-scheme:dark){")
	for _, c := range names {
		if strings.Contains(styles[c].css, "$") {
			b.WriteString("." + string(c) + "{" + painted(styles[c].css, true) + "}")
		}
	}
	b.WriteString("}")
	return b.String()
}

// painted puts the values of a theme in the place of colours.
func painted(css string, dark bool) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(css, "$")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		end := strings.IndexByte(after, ';')
		if end < 0 {
			end = len(after)
		}
		if c := colours[after[:end]]; dark {
			b.WriteString(c.dark)
		} else {
			b.WriteString(c.light)
		}
		css = after[end:]
	}
}
