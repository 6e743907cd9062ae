package model_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/helenus-db/helenus/advisor/model"
)

const university = `
entities:
- {name: Campus, count: 5, key: [code], alternate: [[name]], attributes: [{name: code, type: text}, {name: name, type: text, absent: 0.4}]}
- {name: Building, count: 50, owner: campus, key: [number], attributes: [{name: number, type: int, distinct: 10}]}
- {name: Room, count: 1000, owner: building, key: [number], attributes: [{name: number, type: int, distinct: 40}, {name: seats, type: int}]}
- {name: Student, count: 8000, key: [id], attributes: [{name: id, type: uuid}, {name: name, type: text}]}
- {name: Course, count: 300, key: [id], attributes: [{name: id, type: uuid}, {name: title, type: text}]}
relationships:
- {name: stands_on, from: Building, to: Campus, kind: "n:1", forward: campus, backward: buildings}
- {name: is_in, from: Room, to: Building, kind: "n:1", forward: building, backward: rooms}
- {name: takes, from: Student, to: Course, kind: "m:n", forward: courses, backward: students, degree: 6, most: 12, attributes: [{name: grade, type: int, distinct: 5}]}
- {name: met_in, from: Course, to: Room, kind: "n:1", forward: room, backward: courses, attributes: [{name: hour, type: int}]}
- {name: helps, from: Student, to: Student, kind: "m:n", forward: pupils, backward: tutors, degree: 0.1, attributes: [{name: since, type: date}]}
`

func read(t testing.TB, text string) *model.Graph {
	t.Helper()
	var d model.Document
	if err := model.DecodeYAML("u.yaml", []byte(text), &d); err != nil {
		t.Fatal(err)
	}
	g, err := d.Graph("u.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Validate(); err != nil {
		t.Fatal(err)
	}
	return g
}

// TestSugar reads weak entities and attributes of relationships (N-1), and what they were made of once more from YAML.
func TestSugar(t *testing.T) {
	g := read(t, university)
	var saved strings.Builder
	if err := model.Save(&saved, g); err != nil {
		t.Fatal(err)
	}
	for name, g := range map[string]*model.Graph{"as written": g, "saved and read": read(t, saved.String())} {
		t.Run(name, func(t *testing.T) {
			keys := map[string]string{}
			for _, e := range g.Entities {
				var key []string
				for _, k := range e.Key {
					key = append(key, k.Name)
				}
				keys[e.Name] = strings.Join(key, " ")
			}
			want := map[string]string{"Campus": "code", "Building": "code number", "Room": "code building_number number", "Student": "id", "Course": "id", "takes": "id Course_id", "helps": "id pupils_id"}
			if diff := cmp.Diff(want, keys); diff != "" {
				t.Error(diff)
			}
			if takes := g.Entity("takes"); takes.Count != 48000 || takes.Attribute("grade") == nil || g.Relationship("takes") != nil {
				t.Errorf("takes: %+v", takes)
			}
			if g.Entity("Course").Attribute("hour") == nil {
				t.Error("the many side of a relationship has its attributes")
			}
			for _, c := range []struct{ paths, partition, clustering, want string }{
				{"Room.building.campus", "Campus.code", "Building.number Room.number", ""},
				{"Room.building.campus", "Campus.name", "Building.number Room.number", ""}, // by an alternate key
				{"Room.building.campus", "Campus.code", "Room.number", "rows can share a primary key"},
				{"Student.takes.Course", "Student.id", "Course.id", ""},
				{"Student.pupils.pupils AS Student#2", "Student.id", "Student#2.id", ""},
			} {
				d := model.TableDocument{Name: model.Placed{Text: "t"}, Paths: []model.Placed{{Text: c.paths}}}
				for _, f := range strings.Fields(c.partition) {
					d.Partition = append(d.Partition, model.Placed{Text: f})
				}
				for _, f := range strings.Fields(c.clustering) {
					d.Clustering = append(d.Clustering, model.Placed{Text: f})
				}
				_, err := d.Candidate("u.yaml", g)
				if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
					t.Errorf("%+v: %v", c, err)
				}
			}
		})
	}
}

func TestColumnsOfOccurrences(t *testing.T) {
	g := read(t, `
entities:
- {name: Comment, count: 100, key: [id], attributes: [{name: id, type: uuid}, {name: at, type: timestamp}]}
- {name: User, count: 10, key: [id], attributes: [{name: id, type: uuid}, {name: nickname, type: text}, {name: level, type: int}]}
relationships:
- {name: author, from: Comment, to: User, kind: "n:1", forward: from_user, backward: sent}
- {name: receiver, from: Comment, to: User, kind: "n:1", forward: to_user, backward: received}
`)
	var d model.TableDocument
	err := model.DecodeYAML("t.yaml", []byte(`
name: comments
paths: [Comment.from_user, Comment.to_user AS User#2]
partition: [User#2.id]
clustering: [Comment.at, Comment.id]
values: [to_user.nickname, from_user.nickname, from_user.level]
desc: [Comment.at]
`[1:]), &d)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Candidate("t.yaml", g); err == nil || !strings.Contains(err.Error(), "to_user") {
		t.Errorf("an alias stands instead of the role: %v", err)
	}
	d.Values[0].Text = "User#2.nickname"
	table, err := d.Candidate("t.yaml", g)
	if err != nil {
		t.Fatal(err)
	}
	table.Static = []model.Field{table.Values[0]}
	if err := table.Validate(); err != nil {
		t.Fatal(err)
	}
	want := `CREATE TABLE comments (
  to_user_id uuid,
  at timestamp,
  comment_id uuid,
  to_user_nickname text STATIC,
  from_user_nickname text,
  level int,
  PRIMARY KEY ((to_user_id), at, comment_id)
) WITH CLUSTERING ORDER BY (at DESC, comment_id ASC)`
	if diff := cmp.Diff(want, table.CQL("", "comments")); diff != "" {
		t.Error(diff)
	}
	table.Partition, table.Clustering = nil, append([]model.Field{table.Partition[0]}, table.Clustering...)
	table.Static, table.Bucket = nil, &model.Bucket{Of: table.Clustering[2], Count: 8}
	if err := table.Validate(); err != nil {
		t.Fatal(err)
	}
	if got := table.CQL("", "t"); !strings.Contains(got, "PRIMARY KEY ((bucket), to_user_id, at, comment_id)") || table.Partitions() > 8 || table.Partitions() < 7 {
		t.Errorf("%s, %g partitions", got, table.Partitions())
	}
	plain := *table
	plain.Bucket = nil
	if plain.ID() == table.ID() || plain.Validate() == nil {
		t.Error("a bucket is a part of the partition key")
	}
}
