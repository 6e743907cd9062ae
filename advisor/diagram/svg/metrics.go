package svg

import (
	"strings"
	"sync"
	"unicode"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"

	"github.com/helenus-db/helenus/internal/words"
)

// measure is a font with what has been asked of it.
type measure struct {
	mu     sync.Mutex
	font   *sfnt.Font
	buffer sfnt.Buffer
	widths map[rune]float64 // in ems
}

// units is the size at which letters are measured: large, as sizes are whole there.
const units = 1000

var regular, bold = sync.OnceValue(func() *measure { return parse(liberationsansregular.TTF) }), sync.OnceValue(func() *measure { return parse(liberationsansbold.TTF) })

func parse(data []byte) *measure {
	f, err := sfnt.Parse(data)
	if err != nil {
		panic("svg: the built-in font: " + err.Error()) // it is part of the program
	}
	return &measure{font: f, widths: map[rune]float64{}}
}

func (m *measure) em(r rune) float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if w, ok := m.widths[r]; ok {
		return w
	}
	w := 1.0
	if unicode.Is(unicode.Mn, r) {
		w = 0
	}
	if glyph, err := m.font.GlyphIndex(&m.buffer, r); err == nil && glyph != 0 {
		if advance, err := m.font.GlyphAdvance(&m.buffer, glyph, fixed.I(units), font.HintingNone); err == nil {
			w = float64(advance) / 64 / units
		}
	}
	if len(m.widths) < 1<<12 {
		m.widths[r] = w
	}
	return w
}

// Width is how wide a text is when it is written in a class.
func Width(text string, c Class) float64 {
	m := regular()
	if styles[c].bold {
		m = bold()
	}
	w := 0.0
	for _, r := range words.Printable(text) {
		w += m.em(r)
	}
	return w * styles[c].size
}

// Fit returns the text, or so much of its beginning and "…" that it is no wider than most.
func Fit(text string, c Class, most float64) (fitted string, cut bool) {
	if Width(text, c) <= most {
		return text, false
	}
	runes := []rune(text)
	low, high := 0, len(runes)
	for low < high { // the longest beginning that fits
		n := (low + high + 1) / 2
		if Width(string(runes[:n])+"…", c) <= most {
			low = n
		} else {
			high = n - 1
		}
	}
	return string(runes[:low]) + "…", true
}

// Wrap breaks a text between words so that no line is wider than most; a word that is wider is broken.
func Wrap(text string, c Class, most float64) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && Width(line+" "+word, c) <= most {
			line += " " + word
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		for Width(word, c) > most {
			part, _ := Fit(word, c, most)
			n := max(1, len([]rune(part))-1)
			lines = append(lines, string([]rune(word)[:n]))
			word = string([]rune(word)[n:])
		}
		line = word
	}
	if line != "" || len(lines) == 0 {
		lines = append(lines, line)
	}
	return lines
}
