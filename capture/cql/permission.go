package cql

import "github.com/helenus-db/helenus/capture/cql/lexer"

// ResourceKind is a kind of thing that permissions are on.
type ResourceKind uint8

// The kinds of resource.
const (
	ResourceKeyspaces           ResourceKind = iota + 1 // all
	ResourceKeyspace                                    // Name.Keyspace
	ResourceTable                                       // Name
	ResourceTables                                      // all of Name.Keyspace
	ResourceRoles                                       // all
	ResourceRole                                        // Name.Table
	ResourceFunctions                                   // all
	ResourceFunctionsOfKeyspace                         // of Name.Keyspace
	ResourceFunction                                    // Name and Arguments
	ResourceMBeans                                      // all
	ResourceMBean                                       // Name.Table
	ResourceMBeanPattern                                // Name.Table
)

// Resource is what permissions are on.
type Resource struct {
	Kind      ResourceKind
	Name      TableRef
	Arguments []Type
}

// permissions lists the permissions there are, with the kinds of resource that know each.
var permissions = []struct {
	name  string
	kinds string // of applicable, below
}{
	{"CREATE", "dDrf"}, {"ALTER", "dtDrRfF"}, {"DROP", "dtDrRfF"}, {"SELECT", "dtDj"}, {"MODIFY", "dtDj"}, {"AUTHORIZE", "dtDrRfFj"},
	{"DESCRIBE", "rRj"}, {"EXECUTE", "fFj"}, {"UNMASK", "dtD"}, {"SELECT_MASKED", "dtD"},
}

// applicable gives each kind of resource the letter under which permissions lists it.
var applicable = [...]byte{
	ResourceKeyspaces: 'd', ResourceKeyspace: 'd', ResourceTable: 't', ResourceTables: 'D', ResourceRoles: 'r', ResourceRole: 'R',
	ResourceFunctions: 'f', ResourceFunctionsOfKeyspace: 'f', ResourceFunction: 'F', ResourceMBeans: 'j', ResourceMBean: 'j', ResourceMBeanPattern: 'j',
}

// Grant is GRANT and REVOKE of permissions.
type Grant struct {
	Revoke      bool
	Permissions []string // in upper case; empty means ALL
	On          Resource
	Role        string
}

// GrantRole is GRANT and REVOKE of a role.
type GrantRole struct {
	Revoke     bool
	Role, From string // From is who gets or loses it
}

func (p *parser) grant() Statement {
	revoke := p.isWord("REVOKE")
	p.next()
	to := [...]string{"TO", "FROM"}[index(revoke)]
	if !p.isPermission() || wordAt(p.peek(), to) {
		s := &GrantRole{Revoke: revoke, Role: p.roleName()}
		p.expectWords(to)
		s.From = p.roleName()
		return s
	}
	s := &Grant{Revoke: revoke, Permissions: p.permissions()}
	p.expectWords("ON")
	at := p.tok
	s.On = p.resource()
	if !s.On.knows(s.Permissions) && p.err == nil {
		p.tok = at
		p.fail("a resource with such permissions")
	}
	p.expectWords(to)
	s.Role = p.roleName()
	return s
}

// knows reports whether one of the permissions makes sense on the resource.
func (r *Resource) knows(names []string) bool {
	for _, n := range names {
		for _, permission := range permissions {
			if permission.name == n {
				for i := range permission.kinds {
					if permission.kinds[i] == applicable[r.Kind] {
						return true
					}
				}
			}
		}
	}
	return len(names) == 0
}

func (p *parser) isPermission() bool { return p.isWord("ALL") || p.permission() != "" }

// permission returns the permission that comes next, "" if none does.
func (p *parser) permission() string {
	for _, permission := range permissions {
		if p.isWord(permission.name) {
			return permission.name
		}
	}
	return ""
}

// permissions reads ALL or a list of permissions.
func (p *parser) permissions() (names []string) {
	if p.acceptWords("ALL") {
		p.acceptWords("PERMISSIONS")
		return nil
	}
	for more := true; more; more = p.accept(',') {
		n := p.permission()
		if n == "" {
			p.fail("permission")
			return nil
		}
		p.next()
		p.acceptWords("PERMISSION")
		names = append(names, n)
	}
	return names
}

// resource reads what permissions are on. Most of its words may also be the name of a table.
func (p *parser) resource() (r Resource) {
	after := p.peek()
	switch {
	case p.isWord("ALL") && after.Kind == lexer.Word && (after.Keyword.Class()&lexer.Reserved == 0):
		p.next()
		return p.all()
	case p.acceptWords("KEYSPACE"):
		r.Kind, r.Name.Keyspace = ResourceKeyspace, p.name("keyspace")
	case p.acceptWords("TABLE"), p.acceptWords("COLUMNFAMILY"):
		r.Kind, r.Name = ResourceTable, p.table()
	case p.isWord("ROLE") && (isName(after) || after.Kind == lexer.String):
		p.next()
		r.Kind, r.Name.Table = ResourceRole, p.roleName()
	case p.isWord("FUNCTION") && (isName(after) || wordAt(after, "TOKEN")):
		p.next()
		r.Kind = ResourceFunction
		if r.Name.Keyspace, r.Name.Table = p.functionName(); r.Name.Keyspace == "" {
			p.fail("'.' and the name of a function")
		}
		r.Arguments = p.typeList()
	case p.isWord("MBEAN") && after.Kind == lexer.String:
		p.next()
		r.Kind, r.Name.Table = ResourceMBean, p.mbean(false)
	case p.isWord("MBEANS") && after.Kind == lexer.String:
		p.next()
		r.Kind, r.Name.Table = ResourceMBeanPattern, p.mbean(true)
	default:
		r.Kind, r.Name = ResourceTable, p.table()
	}
	return r
}

// all reads the kind of resource after ALL.
func (p *parser) all() (r Resource) {
	in := func() {
		p.expectWords("IN", "KEYSPACE")
		r.Name.Keyspace = p.name("keyspace")
	}
	switch {
	case p.acceptWords("KEYSPACES"):
		r.Kind = ResourceKeyspaces
	case p.acceptWords("TABLES"), p.acceptWords("COLUMNFAMILIES"):
		r.Kind = ResourceTables
		in()
	case p.acceptWords("ROLES"):
		r.Kind = ResourceRoles
	case p.acceptWords("FUNCTIONS"):
		if r.Kind = ResourceFunctions; p.isWord("IN") {
			r.Kind = ResourceFunctionsOfKeyspace
			in()
		}
	case p.acceptWords("MBEANS"):
		r.Kind = ResourceMBeans
	default:
		p.fail("KEYSPACES, TABLES, ROLES, FUNCTIONS or MBEANS")
	}
	return r
}

// mbean reads the name, or the pattern of names, of Java management beans.
func (p *parser) mbean(pattern bool) string {
	at := p.tok
	name := p.stringLiteral()
	if valid, wild := objectName(name); (!valid || pattern && !wild) && p.err == nil {
		p.tok = at
		p.fail("JMX object name")
	}
	return name
}

func (s *Grant) print(p *printer) {
	p.write([...]string{"GRANT ", "REVOKE "}[index(s.Revoke)])
	p.permissions(s.Permissions)
	p.write(" ON ")
	s.On.print(p)
	p.write([...]string{" TO ", " FROM "}[index(s.Revoke)])
	p.roleName(s.Role)
}

func (p *printer) permissions(names []string) {
	if len(names) == 0 {
		p.write("ALL PERMISSIONS")
	}
	for i, n := range names {
		p.comma(i)
		p.write(n)
	}
}

func (r *Resource) print(p *printer) {
	switch r.Kind {
	case ResourceKeyspaces:
		p.write("ALL KEYSPACES")
	case ResourceKeyspace:
		p.write("KEYSPACE ")
		p.name(r.Name.Keyspace)
	case ResourceTable:
		p.write("TABLE ")
		p.table(r.Name)
	case ResourceTables:
		p.write("ALL TABLES IN KEYSPACE ")
		p.name(r.Name.Keyspace)
	case ResourceRoles:
		p.write("ALL ROLES")
	case ResourceRole:
		p.write("ROLE ")
		p.roleName(r.Name.Table)
	case ResourceFunctions:
		p.write("ALL FUNCTIONS")
	case ResourceFunctionsOfKeyspace:
		p.write("ALL FUNCTIONS IN KEYSPACE ")
		p.name(r.Name.Keyspace)
	case ResourceFunction:
		p.write("FUNCTION ")
		p.qualifiedFunction(r.Name.In(p.keyspace))
		p.typeList(r.Arguments)
	case ResourceMBeans:
		p.write("ALL MBEANS")
	case ResourceMBean:
		p.write("MBEAN ")
		p.text(r.Name.Table)
	case ResourceMBeanPattern:
		p.write("MBEANS ")
		p.text(r.Name.Table)
	}
}

func (s *GrantRole) print(p *printer) {
	p.write([...]string{"GRANT ", "REVOKE "}[index(s.Revoke)])
	p.roleName(s.Role)
	p.write([...]string{" TO ", " FROM "}[index(s.Revoke)])
	p.roleName(s.From)
}

// Listing is what a LIST lists.
type Listing uint8

// The listings.
const (
	ListRoles Listing = iota + 1
	ListUsers
	ListPermissions
)

// ListStatement is LIST ROLES, LIST USERS and LIST PERMISSIONS.
type ListStatement struct {
	Lists       Listing
	Permissions []string  // of ListPermissions; empty means ALL
	On          *Resource // nil if not said
	Of          *string   // the role; nil if not said
	NoRecursive bool
}

func (p *parser) list() Statement {
	s := &ListStatement{}
	switch {
	case p.acceptWords("USERS"):
		s.Lists = ListUsers
		return s
	case p.acceptWords("ROLES"):
		s.Lists = ListRoles
	case p.isPermission():
		s.Lists, s.Permissions = ListPermissions, p.permissions()
		if p.acceptWords("ON") {
			r := p.resource()
			s.On = &r
		}
	default:
		p.fail("ROLES, USERS or permissions")
	}
	if p.acceptWords("OF") {
		of := p.roleName()
		s.Of = &of
	}
	s.NoRecursive = p.acceptWords("NORECURSIVE")
	return s
}

func (s *ListStatement) print(p *printer) {
	p.write("LIST ")
	switch s.Lists {
	case ListUsers:
		p.write("USERS")
	case ListRoles:
		p.write("ROLES")
	default:
		p.permissions(s.Permissions)
	}
	if s.On != nil {
		p.write(" ON ")
		s.On.print(p)
	}
	if s.Of != nil {
		p.write(" OF ")
		p.roleName(*s.Of)
	}
	if s.NoRecursive {
		p.write(" NORECURSIVE")
	}
}
