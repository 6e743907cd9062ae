package model

import (
	"bytes"
	"strings"
	"testing"
)

// TestHierarchy reads hierarchies (D-49, D-50), writes them so that they read to the same, and refuses contradictions.
func TestHierarchy(t *testing.T) {
	const file = "entities:\n- {name: Video, count: 10, key: [id], attributes: [{name: id, type: uuid}, {name: season, type: int}, {name: kind, type: text}], hierarchy: {%s}}\n"
	read := func(text string) (*Graph, error) {
		var d Document
		if err := DecodeYAML("v.yaml", []byte(strings.Replace(file, "%s", text, 1)), &d); err != nil {
			return nil, err
		}
		return d.Graph("v.yaml")
	}
	g, err := read("type: kind, disjoint: true, subtypes: [{name: TVShow, attributes: [season]}, {name: Trailer}]")
	if err != nil {
		t.Fatal(err)
	}
	if h := g.Entities[0].Hierarchy; h.String() != "TVShow, Trailer; disjoint, not covering" || h.Of[g.Entities[0].Attribute("season")] != "TVShow" {
		t.Errorf("%s", h)
	}
	var first, second bytes.Buffer
	if err := Save(&first, g); err != nil {
		t.Fatal(err)
	}
	var d Document
	if err := DecodeYAML("v.yaml", first.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	again, err := d.Graph("v.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := Save(&second, again); err != nil || second.String() != first.String() {
		t.Errorf("%v\n%s\n%s", err, first.String(), second.String())
	}
	if g, err = read("type: kinds, covering: true, subtypes: [{name: TVShow}]"); err != nil || g.Entities[0].Attribute("kinds").Type != "set<text>" {
		t.Errorf("the type's column is added as a set: %v", err)
	}
	for text, want := range map[string]string{
		"type: kind, subtypes: [{name: TVShow}]":                                                                   "must be set<text>",
		"type: season, disjoint: true, subtypes: []":                                                               "no subtypes",
		"type: kind, disjoint: true, subtypes: [{name: A}, {name: A}]":                                             "twice",
		"type: kind, disjoint: true, subtypes: [{name: Video}]":                                                    "the entity itself",
		"type: kind, disjoint: true, subtypes: [{name: A, attributes: [saeson]}]":                                  `nearest is "season"`,
		"type: kind, disjoint: true, subtypes: [{name: A, attributes: [season]}, {name: B, attributes: [season]}]": "belongs to A and to B",
		"type: kind, disjoint: true, subtypes: [{name: A, attributes: [id]}]":                                      "tells instances of Video apart",
		"disjoint: true, subtypes: [{name: A}]":                                                                    "does not say which attribute",
	} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want ...%s...", text, err, want)
		}
	}
}
