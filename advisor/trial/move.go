package trial

import (
	"fmt"
	"slices"

	"github.com/helenus-db/helenus/capture/cql"
	"github.com/helenus-db/helenus/capture/schema"
)

// Move says what a write of the base is where the copy takes the base's place: the same statement on the copy, with the bucket that the row is
// in, or for each bucket where it is about several rows. The error says why there is no such statement.
func (c *Copy) Move(write cql.Statement) (*Upkeep, error) {
	u, scope, err := c.begin(write)
	if err != nil {
		return nil, err
	}
	to := cql.TableRef{Keyspace: c.In.Keyspace, Table: c.In.Name}
	moved, way := u.named(), instead
	bucket := cql.Relation{Op: cql.OpEQ}
	if c.Bucket != nil {
		bucket.Columns, bucket.Value = []string{c.Bucket.Column}, &cql.Marker{Name: c.Bucket.Column}
		for _, by := range c.Bucket.By {
			if !slices.ContainsFunc(scope, func(w cql.Relation) bool { return w.Op == cql.OpEQ && len(w.Columns) == 1 && w.Columns[0] == by }) {
				way = buckets
			}
		}
	}
	switch x := moved.(type) {
	case *cql.Insert:
		if x.Table = to; c.Bucket != nil {
			x.Columns, x.Values = append(x.Columns, c.Bucket.Column), append(x.Values, bucket.Value)
		}
	case *cql.Update:
		if x.Table = to; c.Bucket != nil {
			x.Where = append(x.Where, bucket)
		}
	case *cql.Delete:
		if x.Table = to; c.Bucket != nil {
			x.Where = append(x.Where, bucket)
		}
	default:
		return nil, fmt.Errorf("%s is no write of rows", cql.Verb(write))
	}
	if c.Bucket != nil && slices.ContainsFunc(c.Of.Columns, func(x schema.Column) bool { return x.Kind == schema.Static }) {
		return nil, fmt.Errorf("%s has static columns, and each bucket would have its own", c.Of.Name)
	}
	step := Step{When: "instead", CQL: moved.String(), kind: way}
	if way == buckets {
		step.When = "instead, for each " + c.Bucket.Column
	}
	u.Steps = []Step{step}
	return u, nil
}
