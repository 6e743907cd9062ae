package picture

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/helenus-db/helenus/advisor/diagram/layered"
	"github.com/helenus-db/helenus/advisor/diagram/svg"
)

// Sizes, in pixels.
const (
	margin     = 28
	headHeight = 28
	rowHeight  = 21
	inset      = 11  // between a box's border and its text
	between    = 16  // columns of rows
	mostName   = 250 // width of a name, cut beyond
	mostType   = 250
	mostMark   = 110
	radius     = 6
	pillHeight = 20
	dot        = 9 // a junction
	double     = 4 // between the borders of a weak entity
	bend       = 7 // radius of the corners of links
	leastWidth = 560
	listWidth  = 760  // that lists may make a narrow drawing wider to
	mostWidth  = 1100 // of lists
)

// face is what a shape looks like.
type face struct{ head, edge svg.Class }

var faces = map[Shape]face{
	Table: {svg.TableHead, svg.TableEdge}, Entity: {svg.Entity, svg.EntEdge}, Weak: {svg.Entity, svg.EntEdge},
	UserType: {svg.UserType, svg.TypeEdge}, Screen: {svg.Screen, svg.ScreenRim},
}

// sized is a box with the widths of its columns.
type sized struct {
	*Box
	name, typ, mark float64
	width, height   float64
}

// SVG draws the picture.
func (p *Picture) SVG(w io.Writer, theme svg.Theme) error {
	description := p.description()
	p = p.bundled()
	boxes := make([]sized, len(p.Boxes))
	nodes := make([]layered.Node, len(p.Boxes))
	for i := range p.Boxes {
		boxes[i] = measured(&p.Boxes[i])
		nodes[i] = layered.Node{Width: boxes[i].width, Height: boxes[i].height, Small: p.Boxes[i].Shape == Entry || p.Boxes[i].Shape == junction}
	}
	edges := make([]layered.Edge, len(p.Links))
	for i, l := range p.Links {
		edges[i] = layered.Edge{From: l.From, To: l.To}
		if l.Label != "" {
			edges[i].Width, edges[i].Height = svg.Width(label(l.Label), svg.Label)+18, pillHeight
		}
	}
	o := layered.Options{PortGap: 20, NodeGap: 40}
	if p.Kind == ER { // with cardinalities at the ends
		o.PortGap, o.EndRoom, o.LayerGap = 40, 30, 64
	}
	p.widen(nodes, o.PortGap)
	layout := layered.Place(nodes, edges, o)

	s := &svg.Sheet{}
	width := max(layout.Width, leastWidth)
	for _, l := range p.Lists {
		width = max(width, min(l.width(), listWidth))
	}
	s.Text(margin, margin+16, svg.Start, p.Title, svg.Title)
	width = max(width, min(svg.Width(p.Title, svg.Title), mostWidth))
	y := float64(margin) + 30
	if p.Subtitle != "" {
		for _, line := range svg.Wrap(p.Subtitle, svg.Subtitle, width) {
			s.Text(margin, y+8, svg.Start, line, svg.Subtitle)
			y += 18
		}
	}
	y += 16
	left := margin + (width-layout.Width)/2
	for i := range p.Links {
		p.Links[i].draw(s, &layout.Routes[i], left, y)
	}
	for i := range p.Boxes {
		r := layout.Nodes[i]
		boxes[i].width, boxes[i].height = r.Width, r.Height
		boxes[i].draw(s, left+r.X, y+r.Y)
	}
	for i := range p.Links { // over everything
		if l := p.Links[i]; l.Label != "" {
			r := layout.Routes[i].Label
			pill(s, left+r.X, y+r.Y, r.Width, label(l.Label), l.Detail)
		}
	}
	y += layout.Height + 26
	for i := range p.Lists {
		y = p.Lists[i].draw(s, y, min(width, mostWidth))
	}
	return s.Write(w, width+2*margin, y+margin-24, p.Title, description, theme)
}

// widen makes boxes wide enough for all links that leave or enter them.
func (p *Picture) widen(nodes []layered.Node, gap float64) {
	out, in := make([]int, len(nodes)), make([]int, len(nodes))
	for _, l := range p.Links {
		if l.From != l.To {
			out[l.From]++
			in[l.To]++
		}
	}
	for i := range nodes {
		if nodes[i].Small {
			continue
		}
		nodes[i].Width = max(nodes[i].Width, float64(max(out[i], in[i])-1)*gap+2*16)
	}
}

// description tells the picture in a sentence or two.
func (p *Picture) description() string {
	var names []string
	for _, b := range p.Boxes {
		if b.Shape != Entry {
			names = append(names, b.Name)
		}
	}
	text := fmt.Sprintf("%d boxes (%s) and %d links.", len(names), strings.Join(names, ", "), len(p.Links))
	if p.Subtitle != "" {
		text = p.Subtitle + ". " + text
	}
	return text
}

// label is a link's label as it is drawn.
func label(text string) string {
	fitted, _ := svg.Fit(text, svg.Label, mostName)
	return fitted
}

func measured(b *Box) sized {
	z := sized{Box: b}
	if b.Shape == junction {
		z.width, z.height = dot, dot
		return z
	}
	if b.Shape == Entry {
		z.width, z.height = svg.Width(label(b.Name), svg.Label)+20, pillHeight
		return z
	}
	for _, r := range b.Rows {
		c := svg.Row
		if r.Key {
			c = svg.Key
		}
		z.name = max(z.name, min(svg.Width(r.Name, c), mostName))
		z.typ = max(z.typ, min(svg.Width(r.Type, svg.Type), mostType))
		z.mark = max(z.mark, min(svg.Width(r.Mark, svg.Mark), mostMark))
	}
	z.width = z.name
	if z.typ > 0 {
		z.width += between + z.typ
	}
	if z.mark > 0 {
		z.width += between + z.mark
	}
	z.width = math.Ceil(max(z.width, min(svg.Width(b.Name, svg.Name), mostName+mostType/2), 60) + 2*inset)
	z.height = headHeight + float64(len(b.Rows))*rowHeight
	if len(b.Rows) > 0 {
		z.height += 7
	}
	if b.Shape == Weak {
		z.width, z.height = z.width+2*double, z.height+2*double
	}
	return z
}

func (z *sized) draw(s *svg.Sheet, x, y float64) {
	if z.Shape == junction {
		s.Circle(x+z.width/2, y+z.height/2, dot/2, svg.Tip)
		return
	}
	if z.Shape == Entry {
		pill(s, x, y, z.width, label(z.Name), z.Name)
		return
	}
	f := faces[z.Shape]
	title, cut := svg.Fit(z.Name, svg.Name, z.width-2*inset)
	whole := ""
	if cut {
		whole = z.Name
	}
	s.Group("box "+strings.ReplaceAll(string(z.Shape), " ", "-"), whole, func() {
		if z.Shape == Weak { // a border around the border
			s.Rect(x, y, z.width, z.height, radius+3, svg.Paper)
			s.Rect(x, y, z.width, z.height, radius+3, f.edge)
			inner := *z
			inner.width, inner.height = z.width-2*double, z.height-2*double
			z, x, y = &inner, x+double, y+double
		}
		s.Rect(x, y, z.width, z.height, radius, svg.Card)
		head := (&svg.Path{}).Move(x, y+headHeight).Line(x, y+radius).Curve(x, y, x+radius, y).Line(x+z.width-radius, y).
			Curve(x+z.width, y, x+z.width, y+radius).Line(x+z.width, y+headHeight).Close()
		if z.height <= headHeight {
			s.Rect(x, y, z.width, z.height, radius, f.head)
		} else {
			s.Path(head, f.head)
		}
		s.Rect(x, y, z.width, z.height, radius, f.edge)
		s.Text(x+z.width/2, y+headHeight/2+4.5, svg.Middle, title, svg.Name)
		for i, r := range z.Rows {
			z.row(s, r, x, y+headHeight+4+float64(i)*rowHeight)
		}
	})
}

var oneLine = strings.NewReplacer("\n", " ", "\r", " ")

func (z *sized) row(s *svg.Sheet, r Row, x, y float64) {
	class := svg.Row
	if r.Key {
		class = svg.Key
	}
	name, cut := svg.Fit(r.Name, class, max(z.name, 1))
	typ, cutType := svg.Fit(r.Type, svg.Type, max(z.typ, 1))
	mark, cutMark := svg.Fit(r.Mark, svg.Mark, max(z.mark, 1))
	whole := ""
	if cut || cutType || cutMark {
		whole = oneLine.Replace(r.Name) + "\n" + r.Type + "\n" + r.Mark
	}
	s.Group("row", whole, func() {
		if r.Split {
			s.Path((&svg.Path{}).Move(x+1, y+0.5).Line(x+z.width-1, y+0.5), svg.Rule)
		}
		base := y + rowHeight/2 + 4.5
		s.Text(x+inset, base, svg.Start, name, class)
		right := x + z.width - inset
		s.Text(right, base, svg.Finish, mark, svg.Mark)
		if z.typ > 0 {
			at := x + inset + z.name + between
			s.Text(at, base, svg.Start, typ, svg.Type)
		}
	})
}

// pill draws a label.
func pill(s *svg.Sheet, x, y, width float64, text, detail string) {
	if detail == text {
		detail = ""
	}
	s.Group("label", detail, func() {
		s.Rect(x, y, width, pillHeight, pillHeight/2, svg.Pill)
		s.Text(x+width/2, y+pillHeight/2+4, svg.Middle, text, svg.Label)
	})
}

// columns are the widths of a list's signs and names, with what stands between.
func (l *List) columns() (sign, name float64) {
	for _, i := range l.Items {
		sign, name = max(sign, svg.Width(i.Sign, svg.Strong)), max(name, min(svg.Width(i.Name, svg.Body), mostName))
	}
	if sign > 0 {
		sign += 12
	}
	if name > 0 {
		name += 14
	}
	return sign, name
}

// width is what a list would take if no line were broken.
func (l *List) width() float64 {
	sign, name := l.columns()
	most := 0.0
	for _, i := range l.Items {
		most = max(most, svg.Width(i.Text, svg.Faint))
	}
	return sign + name + most
}

// draw writes a list and returns where the next one begins.
func (l *List) draw(s *svg.Sheet, y, width float64) float64 {
	if len(l.Items) == 0 {
		return y
	}
	s.Text(margin, y, svg.Start, l.Heading, svg.Heading)
	y += 20
	sign, name := l.columns()
	for _, i := range l.Items {
		s.Text(margin, y, svg.Start, i.Sign, svg.Strong)
		fitted, _ := svg.Fit(i.Name, svg.Body, max(name-14, 1))
		s.Text(margin+sign, y, svg.Start, fitted, svg.Body)
		lines := svg.Wrap(i.Text, svg.Faint, width-sign-name)
		if i.Text == "" {
			lines = []string{""}
		}
		for _, line := range lines {
			s.Text(margin+sign+name, y, svg.Start, line, svg.Faint)
			y += 17
		}
	}
	return y + 14
}
