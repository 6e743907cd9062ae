package cql

import "strings"

// Kind returns KindDDL, or KindRole for a role, user or identity.
func (s *Drop) Kind() Kind {
	if s.Object >= ObjectRole {
		return KindRole
	}
	return KindDDL
}

// String prints the statement.
func (s *Drop) String() string { return render(s) }

// Kind returns KindDDL.
func (*CreateKeyspace) Kind() Kind { return KindDDL }

// String prints the statement.
func (s *CreateKeyspace) String() string { return render(s) }

// Kind returns KindDDL.
func (*AlterKeyspace) Kind() Kind { return KindDDL }

// String prints the statement.
func (s *AlterKeyspace) String() string { return render(s) }

// Kind returns KindDDL.
func (*CreateTable) Kind() Kind { return KindDDL }

// String prints the statement.
func (s *CreateTable) String() string { return render(s) }

// Kind returns KindDDL.
func (*AlterTable) Kind() Kind { return KindDDL }

// String prints the statement.
func (s *AlterTable) String() string { return render(s) }

// Kind returns KindDDL.
func (*CreateType) Kind() Kind { return KindDDL }

// String prints the statement.
func (s *CreateType) String() string { return render(s) }

// Kind returns KindDDL.
func (*AlterType) Kind() Kind { return KindDDL }

// String prints the statement.
func (s *AlterType) String() string { return render(s) }

// Kind returns KindDDL.
func (*CreateIndex) Kind() Kind { return KindDDL }

// String prints the statement.
func (s *CreateIndex) String() string { return render(s) }

// Kind returns KindDDL.
func (*CreateView) Kind() Kind { return KindDDL }

// String prints the statement.
func (s *CreateView) String() string { return render(s) }

// Kind returns KindDDL.
func (*AlterView) Kind() Kind { return KindDDL }

// String prints the statement.
func (s *AlterView) String() string { return render(s) }

// Kind returns KindDDL.
func (*CreateFunction) Kind() Kind { return KindDDL }

// String prints the statement.
func (s *CreateFunction) String() string { return render(s) }

// Kind returns KindDDL.
func (*CreateAggregate) Kind() Kind { return KindDDL }

// String prints the statement.
func (s *CreateAggregate) String() string { return render(s) }

// Kind returns KindDDL.
func (*CreateTrigger) Kind() Kind { return KindDDL }

// String prints the statement.
func (s *CreateTrigger) String() string { return render(s) }

// Kind returns KindRole.
func (*Role) Kind() Kind { return KindRole }

// String prints the statement.
func (s *Role) String() string { return render(s) }

// Kind returns KindRole.
func (*Grant) Kind() Kind { return KindRole }

// String prints the statement.
func (s *Grant) String() string { return render(s) }

// Kind returns KindRole.
func (*GrantRole) Kind() Kind { return KindRole }

// String prints the statement.
func (s *GrantRole) String() string { return render(s) }

// Kind returns KindRole.
func (*AddIdentity) Kind() Kind { return KindRole }

// String prints the statement.
func (s *AddIdentity) String() string { return render(s) }

// Kind returns KindRole.
func (*ListStatement) Kind() Kind { return KindRole }

// String prints the statement.
func (s *ListStatement) String() string { return render(s) }

// Kind returns KindOther.
func (*Describe) Kind() Kind { return KindOther }

// String prints the statement.
func (s *Describe) String() string { return render(s) }

// String prints the keyword.
func (w *Word) String() string { return render(w) }

// String prints the resource.
func (r *Resource) String() string { return render(r) }

// Verb says in upper case what a statement does, for example "CREATE TABLE".
func Verb(st Statement) string {
	switch s := st.(type) {
	case *Drop:
		return "DROP " + s.Object.String()
	case *Role:
		return [...]string{"CREATE ", "ALTER "}[index(s.Alter)] + [...]string{"ROLE", "USER"}[index(s.User)]
	case *Grant:
		return [...]string{"GRANT", "REVOKE"}[index(s.Revoke)]
	case *GrantRole:
		return [...]string{"GRANT", "REVOKE"}[index(s.Revoke)]
	case *CreateKeyspace:
		return "CREATE KEYSPACE"
	case *CreateTable:
		return "CREATE TABLE"
	case *CreateType:
		return "CREATE TYPE"
	case *CreateIndex:
		return "CREATE INDEX"
	case *CreateView:
		return "CREATE MATERIALIZED VIEW"
	case *CreateFunction:
		return "CREATE FUNCTION"
	case *CreateAggregate:
		return "CREATE AGGREGATE"
	case *CreateTrigger:
		return "CREATE TRIGGER"
	case *AlterKeyspace:
		return "ALTER KEYSPACE"
	case *AlterTable:
		return "ALTER TABLE"
	case *AlterType:
		return "ALTER TYPE"
	case *AlterView:
		return "ALTER MATERIALIZED VIEW"
	case *AddIdentity:
		return "ADD IDENTITY"
	case *ListStatement:
		return "LIST"
	case *Describe:
		return "DESCRIBE"
	}
	return strings.ToUpper(st.Kind().String())
}
