package picture

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/helenus-db/helenus/advisor/diagram/svg"
)

// random draws a picture of up to so many boxes.
func random(t *rapid.T, most int) *Picture {
	p := &Picture{Kind: rapid.SampledFrom(Kinds).Draw(t, "kind"), Title: rapid.String().Draw(t, "title")}
	shapes := []Shape{Table, Entity, Weak, UserType, Screen, Entry}
	n := rapid.IntRange(1, most).Draw(t, "boxes")
	for range n {
		b := Box{Shape: rapid.SampledFrom(shapes).Draw(t, "shape"), Name: rapid.String().Draw(t, "name")}
		for range rapid.IntRange(0, 9).Draw(t, "rows") {
			b.Rows = append(b.Rows, Row{Name: rapid.String().Draw(t, "row"), Type: rapid.SampledFrom([]string{"", "int", strings.Repeat("frozen<list<", 20)}).Draw(t, "type"), Mark: rapid.SampledFrom([]string{"", "K", "C↑ IDX"}).Draw(t, "mark")})
		}
		p.Boxes = append(p.Boxes, b)
	}
	for range rapid.IntRange(0, 3*n).Draw(t, "links") {
		p.Links = append(p.Links, Link{From: rapid.IntRange(0, n-1).Draw(t, "from"), To: rapid.IntRange(0, n-1).Draw(t, "to"), Label: rapid.SampledFrom([]string{"", "Q1", "Q2", "Q3, Q4"}).Draw(t, "label"),
			Start: rapid.SampledFrom([]End{Plain, One, Many}).Draw(t, "start"), Finish: rapid.SampledFrom([]End{Arrow, ZeroOrOne, ZeroOrMany}).Draw(t, "finish")})
	}
	return p
}

type rect struct {
	X      float64 `xml:"x,attr"`
	Y      float64 `xml:"y,attr"`
	Width  float64 `xml:"width,attr"`
	Height float64 `xml:"height,attr"`
}

type group struct {
	Class string  `xml:"class,attr"`
	Rects []rect  `xml:"rect"`
	Rows  []group `xml:"g"`
}

// TestDrawn: with thirty boxes and whatever names, none lies over another, nor does a label, all are on the sheet, and the same picture
// gives the same bytes.
func TestDrawn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := random(t, 30)
		var a, b bytes.Buffer
		if err := p.SVG(&a, svg.Auto); err != nil {
			t.Fatal(err)
		}
		if err := p.SVG(&b, svg.Auto); err != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Fatalf("two drawings differ (%v)", err)
		}
		var file struct {
			Width  float64 `xml:"width,attr"`
			Height float64 `xml:"height,attr"`
			Groups []group `xml:"g"`
		}
		if err := xml.Unmarshal(a.Bytes(), &file); err != nil {
			t.Fatal(err)
		}
		var places []rect
		count := 0
		for _, g := range file.Groups {
			isBox := strings.HasPrefix(g.Class, "box ")
			if !isBox && g.Class != "label" || len(g.Rects) == 0 {
				continue
			}
			if isBox {
				count++
			}
			r := g.Rects[0]
			if r.X < 0 || r.Y < 0 || r.X+r.Width > file.Width || r.Y+r.Height > file.Height {
				t.Fatalf("%s %v is not on the sheet of %g x %g", g.Class, r, file.Width, file.Height)
			}
			for _, o := range places {
				if r.X < o.X+o.Width && o.X < r.X+r.Width && r.Y < o.Y+o.Height && o.Y < r.Y+r.Height {
					t.Fatalf("%s %v lies over %v", g.Class, r, o)
				}
			}
			places = append(places, r)
		}
		if want := len(slices.DeleteFunc(slices.Clone(p.Boxes), func(b Box) bool { return b.Shape == Entry })); count != want {
			t.Fatalf("%d boxes, want %d", count, want)
		}
	})
}

// TestBundled: over junctions and shared labels, boxes lead to the same boxes by the same labels as before.
func TestBundled(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := random(t, 10)
		p.Kind = Workflow
		if got, want := ways(p.bundled(), len(p.Boxes)), ways(p, len(p.Boxes)); !slices.Equal(got, want) {
			t.Fatalf("got  %v\nwant %v", got, want)
		}
	})
}

// ways lists from where to where one comes, and by which label; boxes from number n on were added.
func ways(p *Picture, n int) []string {
	var list []string
	var follow func(from, at int, label string)
	follow = func(from, at int, label string) {
		if at < n {
			if w := fmt.Sprintf("%d %s %d", from, label, at); !slices.Contains(list, w) {
				list = append(list, w)
			}
			return
		}
		if p.Boxes[at].Shape == Entry {
			label = p.Boxes[at].Name
		}
		for _, l := range p.Links {
			if l.From == at {
				follow(from, l.To, label)
			}
		}
	}
	for _, l := range p.Links {
		if l.From < n {
			follow(l.From, l.To, l.Label)
		}
	}
	slices.Sort(list)
	return list
}

// TestBundledSaves: five sources of four labels meet in one junction.
func TestBundledSaves(t *testing.T) {
	p := &Picture{Kind: Logical}
	for range 9 {
		p.Boxes = append(p.Boxes, Box{Shape: Table})
	}
	for from := range 5 {
		for to := 5; to < 9; to++ {
			p.Links = append(p.Links, Link{From: from, To: to, Label: fmt.Sprint("Q", to), Finish: Arrow})
		}
	}
	b := p.bundled()
	if len(b.Links) != 5+4+4 || len(b.Boxes) != 9+4+1 {
		t.Errorf("%d links, %d boxes", len(b.Links), len(b.Boxes))
	}
	p.Kind = ER
	if b := p.bundled(); len(b.Links) != 20 {
		t.Errorf("%d relationships of 20", len(b.Links))
	}
}
