package cql

import "github.com/helenus-db/helenus/capture/cql/lexer"

// CreateFunction is CREATE FUNCTION.
type CreateFunction struct {
	Keyspace, Name string
	Replace        bool
	IfNotExists    bool
	Arguments      []ColumnDefinition // Name and Type only
	CalledOnNull   bool               // otherwise it RETURNS NULL ON NULL INPUT
	Returns        Type
	Language       string
	Body           string
}

func (p *parser) createFunction(replace bool) Statement {
	s := &CreateFunction{Replace: replace, IfNotExists: p.ifNotExists()}
	s.Keyspace, s.Name = p.functionName()
	p.expect('(')
	for more := !p.is(')'); more; more = p.accept(',') {
		s.Arguments = append(s.Arguments, ColumnDefinition{Name: p.name("argument"), Type: p.typ()})
	}
	p.expect(')')
	if s.CalledOnNull = p.acceptWords("CALLED"); !s.CalledOnNull {
		p.expectWords("RETURNS", "NULL")
	}
	p.expectWords("ON", "NULL", "INPUT", "RETURNS")
	s.Returns = p.typ()
	p.expectWords("LANGUAGE")
	if p.tok.Kind != lexer.Word || p.tok.Keyword != 0 {
		p.fail("language")
	}
	s.Language = p.name("language")
	p.expectWords("AS")
	s.Body = p.stringLiteral()
	return s
}

func (s *CreateFunction) print(p *printer) {
	p.words("CREATE ", orReplace(s.Replace), "FUNCTION ", ifNotExists(s.IfNotExists))
	p.qualifiedFunction(TableRef{s.Keyspace, s.Name}.In(p.keyspace))
	p.write(" (")
	for i := range s.Arguments {
		p.comma(i)
		s.Arguments[i].print(p)
	}
	if p.writeByte(')'); s.CalledOnNull {
		p.write(" CALLED")
	} else {
		p.write(" RETURNS NULL")
	}
	p.write(" ON NULL INPUT RETURNS ")
	s.Returns.print(p)
	p.words(" LANGUAGE ", s.Language, " AS ")
	p.text(s.Body)
}

func orReplace(is bool) string {
	if is {
		return "OR REPLACE "
	}
	return ""
}

// CreateAggregate is CREATE AGGREGATE.
type CreateAggregate struct {
	Keyspace, Name string
	Replace        bool
	IfNotExists    bool
	Arguments      []Type
	State          string // the state function
	StateType      Type
	Final          string // the final function, "" if there is none
	Initial        Term   // of the state, nil if not said
}

func (p *parser) createAggregate(replace bool) Statement {
	s := &CreateAggregate{Replace: replace, IfNotExists: p.ifNotExists()}
	s.Keyspace, s.Name = p.functionName()
	s.Arguments = p.typeList()
	p.expectWords("SFUNC")
	s.State = p.localFunction()
	p.expectWords("STYPE")
	s.StateType = p.typ()
	if p.acceptWords("FINALFUNC") {
		s.Final = p.localFunction()
	}
	if p.acceptWords("INITCOND") {
		s.Initial = p.expression(false)
	}
	return s
}

func (s *CreateAggregate) print(p *printer) {
	p.words("CREATE ", orReplace(s.Replace), "AGGREGATE ", ifNotExists(s.IfNotExists))
	p.qualifiedFunction(TableRef{s.Keyspace, s.Name}.In(p.keyspace))
	p.writeByte(' ')
	p.typeList(s.Arguments)
	p.write(" SFUNC ")
	p.function(s.State)
	p.write(" STYPE ")
	s.StateType.print(p)
	if s.Final != "" {
		p.write(" FINALFUNC ")
		p.function(s.Final)
	}
	p.after(" INITCOND ", s.Initial)
}

func (p *printer) typeList(types []Type) {
	p.writeByte('(')
	for i := range types {
		p.comma(i)
		types[i].print(p)
	}
	p.writeByte(')')
}

// qualifiedFunction writes the name of a function with its keyspace, if it has one.
func (p *printer) qualifiedFunction(f TableRef) {
	if f.Keyspace != "" {
		p.name(f.Keyspace)
		p.writeByte('.')
	}
	p.function(f.Table)
}

// userType writes the name of the user-defined type that a statement is about.
func (p *printer) userType(t TableRef) {
	t = t.In(p.keyspace)
	(&Type{Keyspace: t.Keyspace, Name: t.Table, UDT: true}).print(p)
}
