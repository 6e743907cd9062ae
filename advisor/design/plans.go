package design

import (
	"fmt"
	"io"

	"github.com/goccy/go-yaml"

	"github.com/helenus-db/helenus/advisor/model"
	"github.com/helenus-db/helenus/advisor/plan"
	"github.com/helenus-db/helenus/advisor/workload"
)

// Plans as they stand in plans.yaml: all that a person needs to write the code, or an executor to run it. Names of columns
// are those of the tables' definitions.
type (
	plansYAML struct {
		Name       string          `yaml:"name"`
		Statements []statementYAML `yaml:"statements"`
	}
	statementYAML struct {
		ID     string        `yaml:"id"`
		Text   string        `yaml:"text"`
		Weight float64       `yaml:"weight"`
		Cost   float64       `yaml:"cost"`
		Steps  []stepYAML    `yaml:"steps,omitempty"`  // of a query
		Writes []maintenance `yaml:"writes,omitempty"` // of a write
	}
	maintenance struct {
		Table   string        `yaml:"table"`
		Support []supportYAML `yaml:"support,omitempty"`
		Steps   []stepYAML    `yaml:"steps"`
	}
	supportYAML struct {
		Query string     `yaml:"query"`
		Steps []stepYAML `yaml:"steps"`
	}
	stepYAML struct {
		Do         plan.Kind `yaml:"do"`
		Table      string    `yaml:"table,omitempty"`
		As         []string  `yaml:"as,flow,omitempty"` // entities of the table that the statement numbers otherwise
		Partition  []string  `yaml:"partition,flow,omitempty"`
		Clustering []string  `yaml:"clustering,flow,omitempty"`
		Where      []string  `yaml:"where,flow,omitempty"`
		Nests      []string  `yaml:"collections,flow,omitempty"` // that a read returns, that rows are made of, or that is written
		Bucket     []string  `yaml:"bucket,flow,omitempty"`      // what tells the buckets; of a table with buckets, else all
		Reverse    bool      `yaml:"reverse,omitempty"`
		Columns    []string  `yaml:"columns,flow,omitempty"`
		Order      []string  `yaml:"order,flow,omitempty"`
		Group      []string  `yaml:"group,flow,omitempty"`
		Aggregates []string  `yaml:"aggregates,flow,omitempty"`
		Grouped    bool      `yaml:"grouped,omitempty"` // by the server
		Limit      int       `yaml:"limit,omitempty"`
		Partitions int       `yaml:"per_partition_limit,omitempty"`
		Verify     bool      `yaml:"verify,omitempty"`
		Requests   float64   `yaml:"requests,omitempty"`
		Rows       float64   `yaml:"rows,omitempty"`
	}
)

// Plans writes the plan of each statement in YAML. The same design writes the same bytes.
func (d *Design) Plans(w io.Writer) error {
	name := d.tableNamer()
	out := plansYAML{Name: d.Name}
	for _, s := range d.Statements {
		y := statementYAML{ID: s.Statement.ID, Text: s.Statement.String(), Weight: s.Statement.Weight, Cost: s.Cost.Work}
		if s.Plan != nil {
			y.Steps = stepsYAML(s.Plan.Steps, name)
		}
		for _, write := range s.Writes {
			m := maintenance{Table: name(write.Table), Steps: stepsYAML(write.Steps, name)}
			for _, support := range write.Support {
				m.Support = append(m.Support, supportYAML{support.Query.String(), stepsYAML(support.Steps, name)})
			}
			y.Writes = append(y.Writes, m)
		}
		out.Statements = append(out.Statements, y)
	}
	data, err := yaml.Marshal(out)
	if err != nil {
		return fmt.Errorf("design: plans of %s: %w", d.Name, err)
	}
	_, err = w.Write(data)
	return err
}

func stepsYAML(steps []plan.Step, name func(*model.Table) string) []stepYAML {
	list := make([]stepYAML, len(steps))
	for i := range steps {
		s := &steps[i]
		y := stepYAML{Do: s.Kind, Limit: s.Limit, Partitions: s.PerPartition, Verify: s.Verify, Requests: s.Requests, Rows: s.Rows,
			Partition: bindingTexts(s, s.Partition), Clustering: bindingTexts(s, s.Clustering), Where: bindingTexts(s, s.Where),
			Bucket: bindingTexts(s, s.Bucket), Reverse: s.Reverse, Grouped: s.Grouped}
		for _, n := range s.Nests {
			y.Nests = append(y.Nests, s.Table.NestColumn(n.Key))
		}
		for table, query := range s.As.Pairs() {
			y.As = append(y.As, table.Name+" is "+query.Name)
		}
		for _, o := range s.Order {
			direction := ""
			if o.Desc {
				direction = " DESC"
			}
			y.Order = append(y.Order, o.Field.String()+direction)
		}
		for _, f := range s.Group {
			y.Group = append(y.Group, columnIn(s, f))
		}
		for _, a := range s.Aggregates {
			of := "*"
			if !a.Field.IsZero() {
				of = columnIn(s, a.Field)
			}
			y.Aggregates = append(y.Aggregates, a.Func+"("+of+")")
		}
		if s.Table != nil {
			y.Table = name(s.Table)
		}
		for _, f := range s.Fields {
			y.Columns = append(y.Columns, columnIn(s, f))
		}
		list[i] = y
	}
	return list
}

// bindingTexts writes bindings in terms of the table's columns; the value of one that an earlier step found is that field.
func bindingTexts(s *plan.Step, bindings []plan.Binding) []string {
	list := make([]string, len(bindings))
	for i, b := range bindings {
		value := b.Value
		if value == "" {
			value = b.Field.String()
		}
		op := b.Op
		if op == "" {
			op = workload.Equal
		}
		list[i] = fmt.Sprintf("%s %s %s", columnIn(s, b.Field), op, value)
	}
	return list
}

// columnIn names a field by its column, or, in a step that reads no table, as the model does.
func columnIn(s *plan.Step, f model.Field) string {
	if s.Table == nil {
		return f.String()
	}
	column := s.As.Column(f)
	if name := s.Table.NestColumn(column); name != "" {
		return name
	}
	return s.Table.ColumnName(column)
}
