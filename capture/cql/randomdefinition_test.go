package cql

import "pgregory.net/rapid"

func (g trees) pick(label string, words ...string) string {
	return rapid.SampledFrom(words).Draw(g.t, label)
}

func (g trees) property() Property {
	o := Property{Name: g.name()}
	switch g.number("property", 0, 3) {
	case 0:
		m := &Map{}
		for i := range g.number("entries", 0, 3) {
			m.Entries = append(m.Entries, MapEntry{&Literal{LiteralString, string(rune('a' + i))}, g.constant()})
		}
		o.Value = m
	case 1:
		o.Value = &Word{g.pick("word", "json", "all", "int", "key", "values")}
	default:
		o.Value = g.constant()
	}
	return o
}

// constant draws a literal that is not null.
func (g trees) constant() Term {
	for {
		if l := *g.literal().(*Literal); l.Kind != LiteralNull {
			return &l
		}
	}
}

func (g trees) properties(low int) (properties []Property) {
	seen := map[string]bool{}
	for range g.number("properties", low, 3) {
		if o := g.property(); !seen[o.Name] {
			seen[o.Name] = true
			properties = append(properties, o)
		}
	}
	return properties
}

// names draws different names.
func (g trees) names(low, high int) []string {
	return rapid.SliceOfNDistinct(rapid.SampledFrom(randomNames), low, high, rapid.ID[string]).Draw(g.t, "names")
}

func (g trees) mask() *Mask {
	switch g.number("mask", 0, 2) {
	case 0:
		return &Mask{}
	case 1:
		return &Mask{Name: g.pick("mask", "mask_inner", "mask_null", "default"), Args: g.terms(1, false, 0)}
	}
	return &Mask{Keyspace: g.name(), Name: g.function(), Args: g.terms(1, false, 0)}
}

func (g trees) definitions(low int) (columns []ColumnDefinition) {
	for _, n := range g.names(low, 4) {
		c := ColumnDefinition{Name: n, Type: g.typ(2), Static: g.number("static", 0, 4) == 0}
		if g.number("masked", 0, 4) == 0 {
			c.Mask = g.mask()
		}
		columns = append(columns, c)
	}
	return columns
}

func (g trees) fields(low int) (fields []ColumnDefinition) {
	for _, n := range g.names(low, 4) {
		fields = append(fields, ColumnDefinition{Name: n, Type: g.typ(2)})
	}
	return fields
}

func (g trees) layout(table bool) Layout {
	l := Layout{CompactStorage: table && g.number("compact", 0, 4) == 0, Properties: g.properties(0)}
	if g.flag("order") {
		for _, n := range g.names(1, 3) {
			l.ClusteringOrder = append(l.ClusteringOrder, Ordering{Column: n, Descending: g.flag("descending")})
		}
	}
	return l
}

func (g trees) types(low int) (types []Type) {
	for range g.number("types", low, 3) {
		types = append(types, g.typ(2))
	}
	return types
}

func (g trees) userType() TableRef {
	return g.table()
}

func (g trees) maybe(s string) string {
	if g.flag("maybe") {
		return s
	}
	return ""
}

func (g trees) renames() (renames []Rename) {
	for range g.number("renames", 1, 2) {
		renames = append(renames, Rename{g.name(), g.name()})
	}
	return renames
}

// definition draws a statement on the schema.
func (g trees) definition() Statement {
	is := g.flag("if")
	switch g.number("definition", 0, 13) {
	case 0:
		return &CreateKeyspace{Keyspace: g.name(), IfNotExists: is, Properties: g.properties(1)}
	case 1:
		return &AlterKeyspace{Keyspace: g.name(), IfExists: is, Properties: g.properties(1)}
	case 2, 3:
		s := &CreateTable{Table: g.table(), IfNotExists: is, Columns: g.definitions(1), Layout: g.layout(true)}
		if g.number("key", 0, 9) > 0 {
			s.PartitionKey, s.ClusteringKey = g.names(1, 3), g.names(0, 2)
		}
		return s
	case 4, 5:
		return g.alterTable()
	case 6:
		return &CreateType{Type: g.userType(), IfNotExists: is, Fields: g.fields(1)}
	case 7:
		s := &AlterType{Type: g.userType(), IfExists: is}
		switch g.number("alteration", 0, 2) {
		case 0:
			s.Does, s.IfField, s.Field = AlterAdd, g.flag("if field"), ColumnDefinition{Name: g.name(), Type: g.typ(2)}
		case 1:
			s.Does, s.IfField, s.Renames = AlterRename, g.flag("if field"), g.renames()
		case 2:
			s.Does, s.Field = AlterRetype, ColumnDefinition{Name: g.name(), Type: g.typ(2)}
		}
		return s
	case 8:
		s := &CreateIndex{Name: g.maybe("i"), Custom: g.flag("custom"), IfNotExists: is, Table: g.table(), Class: g.maybe("sai"), Properties: g.properties(0)}
		for range g.number("targets", 0, 2) {
			s.Targets = append(s.Targets, IndexTarget{g.column(), g.pick("of", "", "values", "keys", "entries", "full")})
		}
		return s
	case 9:
		s := &CreateView{View: g.table(), IfNotExists: is, From: g.table(), PartitionKey: g.names(1, 3), ClusteringKey: g.names(0, 2), Layout: g.layout(false)}
		for range g.number("selectors", 0, 2) {
			s.Columns = append(s.Columns, Selector{Expr: g.term(1, true)})
		}
		if g.flag("where") {
			s.Where = g.where()
		}
		return s
	case 10:
		return &AlterView{View: g.table(), IfExists: is, Properties: g.properties(1)}
	case 11:
		return &CreateFunction{Keyspace: g.maybe("ks"), Name: g.function(), Replace: g.flag("replace"), IfNotExists: is, Arguments: g.fields(0),
			CalledOnNull: g.flag("called"), Returns: g.typ(2), Language: "java", Body: "return 'x';"}
	case 12:
		s := &CreateAggregate{Keyspace: g.maybe("ks"), Name: g.function(), Replace: g.flag("replace"), IfNotExists: is, Arguments: g.types(0),
			State: g.function(), StateType: g.typ(2), Final: g.maybe("f")}
		if g.flag("initial") {
			s.Initial = g.term(1, false)
		}
		return s
	}
	if g.flag("trigger") {
		return &CreateTrigger{Name: g.name(), IfNotExists: is, Table: g.table(), Class: "org.x.Trigger"}
	}
	return g.drop()
}

func (g trees) alterTable() Statement {
	s := &AlterTable{Table: g.table(), IfExists: g.flag("if"), Does: Alteration(g.number("alteration", int(AlterAdd), int(AlterProperties)))}
	switch s.Does {
	case AlterAdd:
		s.IfColumn, s.Columns = g.flag("if column"), g.definitions(1)
	case AlterDrop:
		s.IfColumn, s.Timestamp = g.flag("if column"), g.maybe("12345")
		for _, n := range g.names(1, 3) {
			s.Columns = append(s.Columns, ColumnDefinition{Name: n})
		}
	case AlterRename:
		s.IfColumn, s.Renames = g.flag("if column"), g.renames()
	case AlterRetype:
		s.Columns = []ColumnDefinition{{Name: g.column(), Type: g.typ(2)}}
	case AlterMask:
		s.IfColumn, s.Columns = g.flag("if column"), []ColumnDefinition{{Name: g.column()}}
		if g.flag("mask") {
			s.Columns[0].Mask = g.mask()
		}
	case AlterProperties:
		s.Properties = g.properties(1)
	}
	return s
}

func (g trees) drop() Statement {
	s := &Drop{Object: Object(g.number("object", int(ObjectKeyspace), int(ObjectIdentity))), IfExists: g.flag("if")}
	switch s.Object {
	case ObjectKeyspace:
		s.Name.Keyspace = g.name()
	case ObjectTrigger:
		s.Name.Table, s.On = g.name(), g.table()
	case ObjectRole:
		s.Name.Table = g.role()
	case ObjectUser, ObjectIdentity:
		s.Name.Table = g.pick("user", "alice", "Bob", "spiffe://x/y", "", "select", "it's")
	case ObjectFunction, ObjectAggregate:
		s.Name = TableRef{g.maybe("ks"), g.function()}
		if g.flag("arguments") {
			s.Arguments = g.types(1)
		}
	default:
		s.Name = g.table()
	}
	return s
}

func (g trees) role() string { return g.pick("role", append(randomNames, "")...) }

// administration draws a statement on roles and permissions.
func (g trees) administration() Statement {
	revoke := g.flag("revoke")
	switch g.number("administration", 0, 6) {
	case 0, 1:
		return g.roleStatement()
	case 2:
		return &Grant{Revoke: revoke, Permissions: nil, On: g.resource(), Role: g.role()}
	case 3:
		return &Grant{Revoke: revoke, Permissions: []string{"AUTHORIZE", g.pick("permission", "SELECT", "MODIFY", "EXECUTE", "UNMASK")}, On: g.resource(), Role: g.role()}
	case 4:
		return &GrantRole{revoke, g.role(), g.role()}
	case 5:
		return &AddIdentity{g.flag("if"), g.pick("identity", "alice", "spiffe://x/y"), g.pick("role", "r", "R", "a b")}
	}
	s := &ListStatement{Lists: Listing(g.number("lists", int(ListRoles), int(ListPermissions)))}
	if s.Lists == ListUsers {
		return s
	}
	if s.Lists == ListPermissions && g.flag("on") {
		r := g.resource()
		s.On = &r
	}
	if s.Lists == ListPermissions && g.flag("some") {
		s.Permissions = []string{"SELECT", "MODIFY"}
	}
	if g.flag("of") {
		of := g.role()
		s.Of = &of
	}
	s.NoRecursive = g.flag("norecursive")
	return s
}

func (g trees) roleStatement() Statement {
	s := &Role{Alter: g.flag("alter"), User: g.flag("user"), If: g.flag("if")}
	password := RoleOption{Kind: RolePassword, Text: "it's"}
	if g.flag("hashed") {
		password.Kind = RoleHashedPassword
	}
	if g.flag("password") {
		s.Options = append(s.Options, password)
	}
	if g.flag("superuser") {
		s.Options = append(s.Options, RoleOption{Kind: RoleSuperuser, Is: g.flag("is")})
	}
	if s.User {
		s.Name = g.pick("user", "alice", "Bob", "a b", "select")
		return s
	}
	s.Name = g.role()
	if g.flag("login") {
		s.Options = append(s.Options, RoleOption{Kind: RoleLogin, Is: g.flag("is")})
	}
	if g.flag("options") {
		s.Options = append(s.Options, RoleOption{Kind: RoleOptions, Map: &Map{[]MapEntry{{&Literal{LiteralString, "a"}, g.constant()}}}})
	}
	for _, kind := range []RoleOptionKind{RoleDatacenters, RoleCIDRs} {
		if g.flag("access") {
			o := RoleOption{Kind: kind}
			if g.flag("some") {
				o.Names = []string{"dc1", "dc2"}
			}
			s.Options = append(s.Options, o)
		}
	}
	return s
}

func (g trees) resource() Resource {
	r := Resource{Kind: ResourceKind(g.number("resource", int(ResourceKeyspaces), int(ResourceMBeanPattern)))}
	switch r.Kind {
	case ResourceKeyspace, ResourceTables, ResourceFunctionsOfKeyspace:
		r.Name.Keyspace = g.name()
	case ResourceTable:
		r.Name = g.table()
	case ResourceRole:
		r.Name.Table = g.role()
	case ResourceFunction:
		r.Name, r.Arguments = TableRef{"ks", g.function()}, []Type{g.native()}
	case ResourceMBean:
		r.Name.Table = "org.x:type=A,name=B"
	case ResourceMBeanPattern:
		r.Name.Table = "org.x:type=*"
	}
	return r
}

func (g trees) describe() Statement {
	s := &Describe{Internals: g.flag("internals"), What: g.pick("what", "", "CLUSTER", "SCHEMA", "KEYSPACES", "KEYSPACE", "TABLES", "TABLE", "INDEX",
		"MATERIALIZED VIEW", "TYPES", "TYPE", "FUNCTIONS", "FUNCTION", "AGGREGATES", "AGGREGATE")}
	switch s.What {
	case "SCHEMA":
		s.Full = g.flag("full")
	case "KEYSPACE":
		s.Only, s.Name.Keyspace = g.flag("only"), g.maybe("ks")
	case "", "TABLE", "INDEX", "MATERIALIZED VIEW", "TYPE":
		s.Name = g.table()
	case "FUNCTION", "AGGREGATE":
		s.Name = TableRef{g.maybe("ks"), g.function()}
	}
	return s
}
