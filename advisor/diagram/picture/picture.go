package picture

// Kind is what a diagram shows.
type Kind string

// The kinds of diagrams.
const (
	ER       Kind = "er"       // entities and relationships
	Logical  Kind = "logical"  // tables without types, and how they are come by
	Physical Kind = "physical" // tables with types
	Workflow Kind = "workflow" // what an application asks, and what of that leads to what
)

// Kinds lists them.
var Kinds = []Kind{ER, Logical, Physical, Workflow}

// Shape is what a box stands for.
type Shape string

// The shapes.
const (
	Table    Shape = "table"
	Entity   Shape = "entity"
	Weak     Shape = "weak entity"
	UserType Shape = "type"
	Screen   Shape = "screen"
	Entry    Shape = "entry" // a label from which a link begins
)

// Picture is a diagram. Its JSON form is what `helenus diagram --format json` prints.
type Picture struct {
	Kind     Kind   `json:"kind"`
	Title    string `json:"title"`
	Subtitle string `json:"subtitle,omitempty"`
	Boxes    []Box  `json:"boxes"`
	Links    []Link `json:"links"`
	Lists    []List `json:"lists,omitempty"`
}

// Box has a head and rows. Of an Entry there is the name alone.
type Box struct {
	Shape Shape  `json:"shape"`
	Name  string `json:"name"`
	Rows  []Row  `json:"rows,omitempty"`
}

// Row is a line in a box: what it is called, of which type, and its signs.
type Row struct {
	Name  string `json:"name"`
	Type  string `json:"type,omitempty"`
	Mark  string `json:"mark,omitempty"`
	Key   bool   `json:"key,omitempty"` // underlined
	Split bool   `json:"-"`             // a line is drawn above
}

// End is what is drawn at an end of a link.
type End string

// The ends: those after Arrow are cardinalities, drawn as crow's feet.
const (
	Plain      End = ""
	Arrow      End = "arrow"
	One        End = "1"
	ZeroOrOne  End = "0..1"
	Many       End = "1..n"
	ZeroOrMany End = "n"
)

// Link leads from one box to another, by their numbers from 0.
type Link struct {
	From   int    `json:"from"`
	To     int    `json:"to"`
	Label  string `json:"label,omitempty"`
	Start  End    `json:"start,omitempty"`
	Finish End    `json:"finish,omitempty"`
	Broken bool   `json:"broken,omitempty"` // a broken line
	Double bool   `json:"heavy,omitempty"`  // a heavy one, which identifies a weak entity
	Detail string `json:"detail,omitempty"` // what a viewer shows when pointed at
}

// List is a list of remarks below the boxes.
type List struct {
	Heading string `json:"heading"`
	Items   []Item `json:"items"`
}

// Item is one remark: a sign or a number, a name, and what is said of it. Any of them may be empty.
type Item struct {
	Sign string `json:"sign,omitempty"`
	Name string `json:"name,omitempty"`
	Text string `json:"text,omitempty"`
}

// Add appends a list, if there is anything in it.
func (p *Picture) Add(l List) {
	if len(l.Items) > 0 {
		p.Lists = append(p.Lists, l)
	}
}
