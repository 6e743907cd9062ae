package infer

import (
	"maps"
	"slices"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/capture/schema"
)

// This file gives static columns to what they are about: there is one value for each partition, so that it says something of what the partition is of, the tour whose stops are listed, and not of the rows.

// give makes the static columns of a table attributes of the entity by whose key its partitions are found, if there is one: the attribute that the entity has already, or one of its own.
func (b *modeller) give(src *source) {
	by, h := src.partitionedBy()
	if h == nil {
		return
	}
	base := src.base
	for _, c := range src.schema.Columns {
		own := c.Name
		if src != base {
			own = src.copied.columns[c.Name]
		}
		if _, whose := base.lent[own]; c.Kind != schema.Static || own != "" && base.held[own] != nil || whose || src != base && own != "" {
			continue
		}
		column := b.repeated(src, c, by, h.to)
		if column == "" {
			column = src.id(c.Name)
			b.attribute(h.to, src, c)
		}
		if src.lent == nil {
			src.lent = map[string]loan{}
		}
		src.lent[c.Name] = loan{by, h.to, column}
		if src == base {
			gone := base.own[c.Name]
			delete(base.own, c.Name)
			base.entity.Attributes = slices.DeleteFunc(base.entity.Attributes, func(a *model.Attribute) bool { return a == gone.Attribute })
		}
	}
}

// partitionedBy is the relationship by whose key a table's partitions are found, all of it and nothing else, with the column of the base that holds it, or the last one; nil if there is none.
func (s *source) partitionedBy() (string, *held) {
	var partition []string
	for _, c := range s.schema.PartitionKey() {
		partition = append(partition, s.inBase(c.Name))
	}
	slices.Sort(partition)
	for _, column := range s.base.holding() {
		h := s.base.held[column]
		whole := []string{column}
		if h.part != nil {
			whole = slices.Sorted(maps.Values(h.columns))
		}
		if slices.Equal(partition, whole) {
			return column, h
		}
	}
	return "", nil
}

// repeated is the attribute of an entity that a static column says again, by rows, or else by its name; "" if none. Its key is not said again: that would be a relationship.
func (b *modeller) repeated(src *source, c schema.Column, by string, to *source) string {
	if x := src.schema.Column(by); src.base == src && x != nil && len(to.key) == 1 {
		if column, _ := b.same(src, *x, c, to); column != "" && to.own[column].Attribute != nil {
			return column
		}
		if b.seenTogether(src, by, to) {
			return ""
		}
	}
	if of := to.schema.Column(c.Name); of != nil && of.Type == c.Type && !to.keyed(c.Name) && to.own[c.Name].Attribute != nil {
		return c.Name
	}
	return ""
}
