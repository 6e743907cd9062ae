package chart

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/helenus-db/helenus/internal/words"
)

// Everything that is a matter of taste: sizes in points.
const (
	width, height = 560, 330 // of a chart whose frame does not say
	margin        = 8        // around each chart of a sheet
	family        = "Liberation Sans"
	fallbacks     = family + ",Arial,Helvetica,sans-serif"
	titleSize     = 12
	textSize      = 10
	smallSize     = 7    // values above bars
	valuedBars    = 30   // so many bars at most have their values above them
	barShare      = 0.8  // of a group's width that its bars take
	tilt          = 0.55 // of names of groups that have no room side by side, radians
	markRadius    = 2.5
	widened       = 1.15 // room for names in a viewer's own letters
)

// colours are told apart by people who are colour-blind, too (Okabe and Ito).
var colours = []color.Color{
	color.NRGBA{0x00, 0x72, 0xB2, 0xFF}, color.NRGBA{0xE6, 0x9F, 0x00, 0xFF}, color.NRGBA{0x00, 0x9E, 0x73, 0xFF},
	color.NRGBA{0xD5, 0x5E, 0x00, 0xFF}, color.NRGBA{0xCC, 0x79, 0xA7, 0xFF}, color.NRGBA{0x56, 0xB4, 0xE9, 0xFF},
	color.NRGBA{0x66, 0x66, 0x66, 0xFF},
}

// marks go with the colours; there are fewer, so that the eighth series looks like no other.
var marks = []draw.GlyphDrawer{
	draw.CircleGlyph{}, draw.BoxGlyph{}, draw.TriangleGlyph{}, draw.RingGlyph{}, draw.CrossGlyph{},
}

var (
	faint = color.NRGBA{0xE2, 0xE2, 0xE2, 0xFF} // the grid
	guide = color.NRGBA{0x88, 0x88, 0x88, 0xFF}
	paper = color.White
)

func sans(size float64) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(size)}
}

// styled is an empty plot in our style.
func styled(f Frame) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = words.Printable(f.Title), words.Printable(f.X), words.Printable(f.Y)
	p.Title.TextStyle.Font = sans(titleSize)
	p.Title.Padding = vg.Points(4)
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Label.TextStyle.Font = sans(textSize)
		axis.Tick.Label.Font = sans(textSize - 1)
		axis.LineStyle.Width = vg.Points(0.6)
		axis.Tick.LineStyle.Width = vg.Points(0.6)
	}
	return p
}

func line(series int) draw.LineStyle {
	return draw.LineStyle{Color: colours[series%len(colours)], Width: vg.Points(1.5)}
}

func glyph(series int) draw.GlyphStyle {
	return draw.GlyphStyle{Color: colours[series%len(colours)], Radius: vg.Points(markRadius), Shape: marks[series%len(marks)]}
}

func guideLine() draw.LineStyle {
	return draw.LineStyle{Color: guide, Width: vg.Points(1), Dashes: []vg.Length{vg.Points(4), vg.Points(3)}}
}
