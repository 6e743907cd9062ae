package neutral

import (
	"github.com/goccy/go-yaml/ast"

	"github.com/helenus-db/helenus/advisor/model"
)

// document is a file in the neutral form, as far as we read it.
type document struct {
	Name       model.Placed        `yaml:"name"`
	Sources    []string            `yaml:"sources"`
	Notes      []string            `yaml:"notes"`
	Model      graphDocument       `yaml:"model"`
	DefaultMix string              `yaml:"default_mix"`
	Mixes      []string            `yaml:"mixes"`
	Statements []statementDocument `yaml:"statements"`
	Schemas    map[string]schema   `yaml:"schemas"`
	Settings   struct {
		Steps    model.Number `yaml:"TimeSteps"`
		Interval model.Number `yaml:"Interval"` // of each time step, seconds
	} `yaml:"settings"`
}

type graphDocument struct {
	Entities      []entityDocument       `yaml:"entities"`
	Relationships []relationshipDocument `yaml:"relationships"`
}

type entityDocument struct {
	Name   model.Placed    `yaml:"name"`
	Count  float64         `yaml:"count"`
	Link   bool            `yaml:"link"`
	Fields []fieldDocument `yaml:"fields"`
}

type fieldDocument struct {
	Name      model.Placed `yaml:"name"`
	Type      model.Placed `yaml:"type"`
	Size      float64      `yaml:"size"`
	ID        bool         `yaml:"id"`
	Declared  float64      `yaml:"declared_cardinality"`
	Effective float64      `yaml:"effective_cardinality"`
	Options   struct {
		Composite []string `yaml:"composite"` // further parts of the key
	} `yaml:"options"`
}

type relationshipDocument struct {
	From    model.Placed `yaml:"from"`
	To      model.Placed `yaml:"to"`
	Kind    model.Placed `yaml:"kind"`
	Forward string       `yaml:"fk"`
	Back    string       `yaml:"reverse_fk"`
	Via     model.Placed `yaml:"via"`
}

type statementDocument struct {
	ID      string         `yaml:"id"`
	Group   string         `yaml:"group"`
	Text    model.Placed   `yaml:"text"`
	Weight  any            `yaml:"weight"`
	Weights map[string]any `yaml:"weights"` // numbers, or lists of one for each time step
}

type schema struct {
	Families []familyDocument `yaml:"column_families"`
}

type familyDocument struct {
	Name       model.Placed   `yaml:"name"`
	Partition  []model.Placed `yaml:"partition"`
	Clustering []model.Placed `yaml:"clustering"`
	Values     []model.Placed `yaml:"values"`
	Path       model.Placed   `yaml:"path"`
}

// maxAliases bounds how often a file may refer to something it wrote before: the form does so for lists of weights.
const maxAliases = 10000

// decode reads the YAML. Aliases are followed, but what they stand for holds no further ones, so that a small file can not
// fill the memory.
func decode(name string, data []byte, into any) error {
	body, err := model.ParseYAML(name, data)
	if err != nil {
		return err
	}
	found := &aliases{}
	if ast.Walk(found, body); found.nested || found.count > maxAliases {
		return &model.FileError{File: name, Reason: "has aliases within anchors, or too many of them: write the values out"}
	}
	return model.DecodeNode(name, body, into)
}

// aliases counts references, and finds those within what others refer to and anchors of more than scalars and lists.
type aliases struct {
	count  int
	within bool
	nested bool
}

func (v *aliases) Visit(node ast.Node) ast.Visitor {
	switch node.Type() {
	case ast.AliasType:
		v.count++
		v.nested = v.nested || v.within
	case ast.MergeKeyType:
		v.nested = true
	case ast.AnchorType:
		inner := &aliases{within: true}
		if anchor, ok := node.(*ast.AnchorNode); ok {
			ast.Walk(inner, anchor.Value)
		}
		v.count += inner.count
		v.nested = v.nested || inner.nested || inner.count > 0
		return nil
	case ast.MappingType:
		v.nested = v.nested || v.within
	}
	return v
}
