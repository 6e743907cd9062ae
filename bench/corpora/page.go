package main

// step is one thing that a page does: it reads an entity by its key or an attribute, follows a relationship to one, lists
// those of a relationship to many, or writes.
type step struct {
	kind  stepKind
	name  string // entity, role, or attribute that is updated
	by    string // of a read by an attribute
	cols  []string
	limit int
	mode  mode
	share float64 // of rows or requests for which it is done: the others are in a cache; 0: all
	first int     // so many rows of an answer are followed; 0: all
	with  []string
	steps []step
}

type stepKind int

const (
	readOne stepKind = iota
	followOne
	listMany
	insertOne
	updateOne
	deleteOne
)

// mode is how what is done for each row of an answer is done.
type mode int

const (
	oneByOne mode = iota
	atOnce
	inList
	inBatch // of writes
)

// page is a request of the application, with its share of all.
type page struct {
	weight float64
	does   []step
}

func get(entity string) step           { return step{kind: readOne, name: entity} }
func by(entity, attribute string) step { return step{kind: readOne, name: entity, by: attribute} }
func follow(role string) step          { return step{kind: followOne, name: role} }
func list(role string) step            { return step{kind: listMany, name: role} }
func insert(entity string) step        { return step{kind: insertOne, name: entity} }
func update(entity, attribute string) step {
	return step{kind: updateOne, name: entity, by: attribute}
}

func (s step) pick(attributes ...string) step { s.cols = attributes; return s }
func (s step) then(steps ...step) step        { s.steps = steps; return s }
func (s step) top(n int) step                 { s.limit = n; return s }
func (s step) async() step                    { s.mode = atOnce; return s }
func (s step) in() step                       { s.mode = inList; return s }
func (s step) batch() step                    { s.mode = inBatch; return s }
func (s step) of(roles ...string) step        { s.with = roles; return s }
