package correction

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/helenus-db/helenus/advisor/model"
)

// Bounds of a list.
const (
	most    = 1000 // lines
	longest = 1000 // bytes of a name or a reason
)

// Document is a Correction as it stands in a file.
type Document struct {
	Same         []model.Placed `yaml:"same"`
	Different    []model.Placed `yaml:"different"`
	Entity       model.Placed   `yaml:"entity"`
	Relationship model.Placed   `yaml:"relationship"`
	Copy         model.Placed   `yaml:"copy"`
	Join         model.Placed   `yaml:"join"`
	Rename       model.Placed   `yaml:"rename"`
	Weight       model.Placed   `yaml:"weight"`
	Pin          model.Placed   `yaml:"pin"`
	Name         model.Placed   `yaml:"name"`
	Key          []model.Placed `yaml:"key"`
	Of           model.Placed   `yaml:"of"`
	From         model.Placed   `yaml:"from"`
	To           model.Placed   `yaml:"to"`
	PerSecond    *model.Number  `yaml:"per_second"`
	Times        *model.Number  `yaml:"times"`
	Because      model.Placed   `yaml:"because"`
	Question     model.Placed   `yaml:"question"`

	is Correction `yaml:"-"` // of one that is written
}

// MarshalYAML writes what NewDocuments was given.
func (d Document) MarshalYAML() (any, error) { return d.is, nil }

// NewDocuments makes documents to be written.
func NewDocuments(l List) (out []Document) {
	for i := range l {
		out = append(out, Document{is: l[i]})
	}
	return out
}

// form is what a line of one kind is made of.
type form struct {
	kind       string
	head       func(*Document) []model.Placed // what names the kind
	own, needs []string                       // keys that it may have, and of them those that it must
}

// one lists a text, if there is one.
func one(p model.Placed) []model.Placed {
	if p.Line == 0 && p.Text == "" {
		return nil
	}
	return []model.Placed{p}
}

var forms = []form{
	{kind: "same", head: func(d *Document) []model.Placed { return d.Same }},
	{kind: "different", head: func(d *Document) []model.Placed { return d.Different }},
	{kind: "entity", head: func(d *Document) []model.Placed { return one(d.Entity) }, own: []string{"name", "key"}},
	{kind: "relationship", head: func(d *Document) []model.Placed { return one(d.Relationship) }, own: []string{"to"}, needs: []string{"to"}},
	{kind: "copy", head: func(d *Document) []model.Placed { return one(d.Copy) }, own: []string{"of"}, needs: []string{"of"}},
	{kind: "join", head: func(d *Document) []model.Placed { return one(d.Join) }, own: []string{"from", "to"}, needs: []string{"from", "to"}},
	{kind: "rename", head: func(d *Document) []model.Placed { return one(d.Rename) }, own: []string{"to"}, needs: []string{"to"}},
	{kind: "weight", head: func(d *Document) []model.Placed { return one(d.Weight) }, own: []string{"per_second", "times"}},
	{kind: "pin", head: func(d *Document) []model.Placed { return one(d.Pin) }},
}

// further are the keys that only some kinds have, with where they stand.
func (d *Document) further() map[string]model.Placed {
	out := map[string]model.Placed{}
	add := func(key string, p model.Placed) {
		if p.Line > 0 || p.Text != "" {
			out[key] = p
		}
	}
	add("name", d.Name)
	add("of", d.Of)
	add("from", d.From)
	add("to", d.To)
	if len(d.Key) > 0 {
		out["key"] = d.Key[0]
	}
	if d.PerSecond != nil {
		out["per_second"] = d.PerSecond.Placed
	}
	if d.Times != nil {
		out["times"] = d.Times.Placed
	}
	return out
}

// Read makes a list of what stands in a file, and checks it. Errors are *model.FileError with the place.
func Read(file string, documents []Document) (List, error) {
	if len(documents) > most {
		return nil, &model.FileError{File: file, Reason: fmt.Sprintf("%d corrections are more than %d", len(documents), most)}
	}
	var out List
	var places []model.Placed
	for i := range documents {
		c, at, err := documents[i].read(file, i)
		if err != nil {
			return nil, err
		}
		out, places = append(out, c), append(places, at)
	}
	if i, why := out.Contradiction(); i >= 0 {
		return nil, places[i].Wrong(file, "%s", why)
	}
	return out, nil
}

// Parse reads a list of corrections that stands by itself: a YAML list, or nothing.
func Parse(file string, data []byte) (List, error) {
	if len(strings.TrimSpace(string(data))) == 0 {
		return nil, nil
	}
	var documents []Document
	if err := model.DecodeYAML(file, data, &documents); err != nil {
		return nil, model.Show(err, data)
	}
	list, err := Read(file, documents)
	return list, model.Show(err, data)
}

func (d *Document) read(file string, i int) (c Correction, at model.Placed, err error) {
	var is *form
	for n := range forms {
		head := forms[n].head(d)
		if len(head) == 0 {
			continue
		}
		if is != nil {
			return c, at, head[0].Wrong(file, "a correction is of one kind, this is %s and %s: write two", is.kind, forms[n].kind)
		}
		is, at = &forms[n], head[0]
	}
	further := d.further()
	if is == nil {
		for _, p := range further {
			at = p
		}
		kinds := make([]string, len(forms))
		for n := range forms {
			kinds[n] = forms[n].kind
		}
		return c, at, at.Wrong(file, "correction %d says nothing: it needs one of %s", i+1, strings.Join(kinds, ", "))
	}
	for _, key := range []string{"name", "key", "of", "from", "to", "per_second", "times"} {
		p, there := further[key]
		switch {
		case there && !slices.Contains(is.own, key):
			return c, at, p.Wrong(file, "%s is nothing that a correction of kind %s has", key, is.kind)
		case !there && slices.Contains(is.needs, key):
			return c, at, at.Wrong(file, "a correction of kind %s needs %s", is.kind, key)
		}
	}
	c = Correction{
		Same: texts(d.Same), Different: texts(d.Different), Entity: d.Entity.Text, Relationship: d.Relationship.Text, Copy: d.Copy.Text, Join: d.Join.Text,
		Rename: d.Rename.Text, Weight: d.Weight.Text, Pin: d.Pin.Text, Name: d.Name.Text, Key: texts(d.Key), Of: d.Of.Text, From: d.From.Text, To: d.To.Text,
		Because: d.Because.Text, Question: d.Question.Text,
	}
	if d.PerSecond != nil {
		c.PerSecond = &d.PerSecond.Value
	}
	if d.Times != nil {
		c.Times = &d.Times.Value
	}
	if key, why := c.Check(); why != "" {
		place := at
		if p, there := further[key]; there {
			place = p
		}
		if key == "because" {
			place = d.Because
		}
		return c, at, place.Wrong(file, "%s", why)
	}
	return c, at, nil
}

func texts(list []model.Placed) (out []string) {
	for _, p := range list {
		out = append(out, p.Text)
	}
	return out
}

// Check says what is wrong with a line by itself, "" if nothing is; key is the one that it is wrong with, "" for that of its kind.
func (c *Correction) Check() (key, why string) {
	table := func(name string) string { return isName(name, 2, "table, keyspace.table") }
	column := func(name string) string { return isName(name, 3, "column, keyspace.table.column") }
	either := func(name string) string { return isName(name, min(3, 1+strings.Count(name, ".")), "table or column") }
	end := func(name string) string {
		_, bare := Split(name)
		return column(bare)
	}
	for _, text := range append([]string{c.Because, c.Question, c.Name, c.To, c.Weight}, c.Key...) {
		if why := printable(text); why != "" {
			return "because", why
		}
	}
	switch {
	case len(c.Same) > 0:
		return "", alike(c.Same, "same", either)
	case len(c.Different) > 0:
		return "", alike(c.Different, "different", either)
	case c.Entity != "":
		if why := table(c.Entity); why != "" {
			return "", why
		}
		if c.Name == "" && len(c.Key) == 0 {
			return "", "what of the entity of " + c.Entity + "? Give it a name or a key"
		}
		if c.Name != "" && !word(c.Name) {
			return "name", fmt.Sprintf("%q is no name: letters, digits and _, a letter first", c.Name)
		}
		for i, k := range c.Key {
			if k == "" || slices.Contains(c.Key[:i], k) {
				return "key", "the key names columns of the table, each once"
			}
		}
	case c.Relationship != "":
		if why := column(c.Relationship); why != "" {
			return "", why
		}
		if c.To != None {
			return "to", table(c.To)
		}
	case c.Copy != "":
		if why := table(c.Copy); why != "" {
			return "", why
		}
		if c.Of == c.Copy {
			return "of", c.Copy + " can not be a copy of itself"
		}
		if c.Of != None {
			return "of", table(c.Of)
		}
	case c.Join != "":
		if c.Join != Accept && c.Join != Reject {
			return "", fmt.Sprintf("a join is accepted or rejected, not %q", c.Join)
		}
		if why := end(c.From); why != "" {
			return "from", why
		}
		return "to", end(c.To)
	case c.Rename != "":
		if !word(c.To) {
			return "to", fmt.Sprintf("%q is no name: letters, digits and _, a letter first", c.To)
		}
		return "", either(c.Rename)
	case c.Weight != "":
		return c.checkWeight()
	case c.Pin != "":
		return "", either(c.Pin)
	default:
		return "", "it says nothing"
	}
	return "", ""
}

func (c *Correction) checkWeight() (key, why string) {
	bare := strings.TrimPrefix(strings.TrimPrefix(c.Weight, "q-"), "w-")
	if len(bare) < 6 || strings.Trim(bare, "0123456789abcdef") != "" {
		return "", fmt.Sprintf("%q is no statement: give its fingerprint, or the first six digits of it or more (`helenus statements` lists them)", c.Weight)
	}
	if (c.PerSecond == nil) == (c.Times == nil) {
		return "", "a weight is per_second or times, one of them"
	}
	for k, v := range map[string]*float64{"per_second": c.PerSecond, "times": c.Times} {
		if v != nil && (!(*v >= 0) || *v > 1e9 || math.IsInf(*v, 0)) {
			return k, fmt.Sprintf("%s %g is not a number from 0 to a thousand million", k, *v)
		}
	}
	return "", ""
}

// alike checks a list of tables, or of columns.
func alike(names []string, kind string, either func(string) string) string {
	if len(names) < 2 {
		return kind + " needs two tables, or two columns, or more"
	}
	for i, n := range names {
		switch {
		case either(n) != "":
			return either(n)
		case IsColumn(n) != IsColumn(names[0]):
			return fmt.Sprintf("%s and %s are not both tables, or both columns", names[0], n)
		case slices.Contains(names[:i], n):
			return n + " is named twice"
		}
	}
	return ""
}

func isName(name string, parts int, what string) string {
	if why := printable(name); why != "" {
		return why
	}
	keyspace, table, column := Parts(name)
	if parts < 2 || keyspace == "" || table == "" || (column == "") != (parts == 2) {
		return fmt.Sprintf("%q is no %s", name, what)
	}
	return ""
}

func printable(text string) string {
	if len(text) > longest {
		return fmt.Sprintf("a text of %d bytes is longer than %d", len(text), longest)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Sprintf("%q has characters that can not be shown: keep it on one line", text)
	}
	return ""
}

func word(name string) bool {
	for i, r := range name {
		inside := i > 0 && (r == '_' || unicode.IsDigit(r))
		if r > unicode.MaxASCII || !inside && !unicode.IsLetter(r) {
			return false
		}
	}
	return name != ""
}

// YAML writes a list as Parse reads it.
func (l List) YAML() ([]byte, error) {
	if len(l) == 0 {
		return nil, nil
	}
	return model.MarshalYAML(l)
}

// Place is where a line of a file stands that was read before; nowhere if it can not be found.
func Place(file string, data []byte, line int) model.Placed {
	var d struct {
		Corrections []Document `yaml:"corrections"`
	}
	body, err := model.ParseYAML(file, data)
	if err != nil || model.DecodeNode(file, body, &d) != nil || line >= len(d.Corrections) {
		return model.Placed{}
	}
	for n := range forms {
		if head := forms[n].head(&d.Corrections[line]); len(head) > 0 {
			return head[0]
		}
	}
	return model.Placed{}
}
