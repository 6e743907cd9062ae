package cql

import (
	"github.com/helenus-db/helenus/capture/cql/lexer"
)

// RoleOptionKind is what an option of a role sets.
type RoleOptionKind uint8

// The options of a role.
const (
	RolePassword       RoleOptionKind = iota + 1 // Text
	RoleHashedPassword                           // Text
	RoleOptions                                  // Map
	RoleSuperuser                                // Is
	RoleLogin                                    // Is
	RoleDatacenters                              // Names, or all if empty
	RoleCIDRs                                    // Names, or all if empty
)

// RoleOption is one option of a role.
type RoleOption struct {
	Kind  RoleOptionKind
	Is    bool
	Text  string // a password or its hash: never for a log
	Map   *Map
	Names []string
}

// Role is CREATE and ALTER ROLE, and the older CREATE and ALTER USER, whose options are a password and RoleSuperuser only.
type Role struct {
	Alter, User bool
	If          bool // CREATE IF NOT EXISTS, ALTER IF EXISTS
	Name        string
	Options     []RoleOption
}

func (p *parser) role(alter, user bool) Statement {
	s := &Role{Alter: alter, User: user}
	if alter {
		s.If = p.ifExists()
	} else {
		s.If = p.ifNotExists()
	}
	if user {
		s.Name = p.wordOrString("user")
		p.userOptions(s)
		return s
	}
	s.Name = p.roleName()
	if p.acceptWords("WITH") {
		var seen [RoleCIDRs + 1]*RoleOption // the last of each kind
		for more := true; more; more = p.acceptWords("AND") {
			at := p.tok
			o := p.roleOption()
			if p.err == nil && o.clashes(seen[o.Kind], seen[RolePassword], seen[RoleHashedPassword]) {
				p.tok = at
				p.fail("each option once")
			}
			seen[o.Kind] = &o
			s.Options = append(s.Options, o)
		}
	}
	return s
}

// clashes reports whether a role can not have the option after the one of the same kind and the passwords, which may be nil.
// Only what a role has access to may be said twice, and then not ALL and names.
func (o *RoleOption) clashes(same, password, hashed *RoleOption) bool {
	switch o.Kind {
	case RolePassword, RoleHashedPassword:
		return password != nil || hashed != nil
	case RoleDatacenters, RoleCIDRs:
		return same != nil && len(same.Names) > 0 != (len(o.Names) > 0)
	}
	return same != nil
}

func (p *parser) userOptions(s *Role) {
	if p.acceptWords("WITH") {
		o := RoleOption{Kind: RolePassword}
		if p.acceptWords("HASHED") {
			o.Kind = RoleHashedPassword
		}
		p.expectWords("PASSWORD")
		o.Text = p.stringLiteral()
		s.Options = append(s.Options, o)
	}
	if p.acceptWords("SUPERUSER") {
		s.Options = append(s.Options, RoleOption{Kind: RoleSuperuser, Is: true})
	} else if p.acceptWords("NOSUPERUSER") {
		s.Options = append(s.Options, RoleOption{Kind: RoleSuperuser})
	}
}

func (p *parser) roleOption() (o RoleOption) {
	switch {
	case p.acceptWords("PASSWORD"):
		o.Kind = RolePassword
		p.expect('=')
		o.Text = p.stringLiteral()
	case p.acceptWords("HASHED"):
		o.Kind = RoleHashedPassword
		p.expectWords("PASSWORD")
		p.expect('=')
		o.Text = p.stringLiteral()
	case p.acceptWords("OPTIONS"):
		o.Kind = RoleOptions
		p.expect('=')
		o.Map, _ = p.propertyMap().(*Map)
	case p.acceptWords("SUPERUSER"):
		o.Kind, o.Is = RoleSuperuser, p.boolean()
	case p.acceptWords("LOGIN"):
		o.Kind, o.Is = RoleLogin, p.boolean()
	case p.acceptWords("ACCESS"):
		p.access(&o)
	default:
		p.fail("option of a role")
	}
	return o
}

// access reads TO or FROM what a role has access.
func (p *parser) access(o *RoleOption) {
	names := "DATACENTERS"
	if o.Kind = RoleDatacenters; p.version != V41 && p.acceptWords("FROM") {
		o.Kind, names = RoleCIDRs, "CIDRS"
	} else {
		p.expectWords("TO")
	}
	if p.acceptWords("ALL") {
		p.expectWords(names)
		return
	}
	p.expectWords(names)
	p.expect('{')
	for more := true; more; more = p.accept(',') {
		o.Names = append(o.Names, p.stringLiteral())
	}
	p.expect('}')
}

// boolean reads = and a boolean.
func (p *parser) boolean() bool {
	p.expect('=')
	if p.tok.Kind != lexer.Boolean {
		p.fail("true or false")
		return false
	}
	l, _ := p.literal().(*Literal)
	return l.Text == "true"
}

// roleName reads the name of a role: as a word, in quotes of either kind.
func (p *parser) roleName() string {
	if p.tok.Kind == lexer.String {
		return p.stringLiteral()
	}
	return p.name("role")
}

// roleName writes the name of a role. Only a string may be empty.
func (p *printer) roleName(name string) {
	if name == "" {
		p.write("''")
		return
	}
	p.name(name)
}

// wordOrString writes a name that may be a word, whose case is kept, or a string, which a fingerprint does not tell.
func (p *printer) wordOrString(name string) {
	if lexer.IsWord(name) && !p.normal {
		p.write(name)
		return
	}
	p.text(name)
}

func (s *Role) print(p *printer) {
	p.write([...]string{"CREATE ", "ALTER "}[index(s.Alter)])
	p.write([...]string{"ROLE ", "USER "}[index(s.User)])
	if s.If {
		p.write([...]string{"IF NOT EXISTS ", "IF EXISTS "}[index(s.Alter)])
	}
	if s.User {
		p.wordOrString(s.Name)
	} else {
		p.roleName(s.Name)
	}
	for i := range s.Options {
		o := &s.Options[i]
		if s.User && o.Kind == RoleSuperuser {
			p.write([...]string{" NOSUPERUSER", " SUPERUSER"}[index(o.Is)])
			continue
		}
		p.and(i, " WITH ")
		p.roleOption(o, [...]string{" = ", " "}[index(s.User)])
	}
}

func (p *printer) roleOption(o *RoleOption, equals string) {
	switch o.Kind {
	case RolePassword:
		p.words("PASSWORD", equals)
		p.text(o.Text)
	case RoleHashedPassword:
		p.words("HASHED PASSWORD", equals)
		p.text(o.Text)
	case RoleOptions:
		p.words("OPTIONS = ")
		(&Property{Value: o.Map}).print(p)
	case RoleSuperuser, RoleLogin:
		p.words([...]string{"LOGIN", "SUPERUSER"}[index(o.Kind == RoleSuperuser)], " = ", [...]string{"false", "true"}[index(o.Is)])
	case RoleDatacenters, RoleCIDRs:
		p.write([...]string{"ACCESS FROM ", "ACCESS TO "}[index(o.Kind == RoleDatacenters)])
		if len(o.Names) == 0 {
			p.write("ALL ")
		}
		p.write([...]string{"CIDRS", "DATACENTERS"}[index(o.Kind == RoleDatacenters)])
		if len(o.Names) > 0 {
			p.names2(o.Names)
		}
	}
}

// names2 writes {'name', ...}; all as one in a fingerprint.
func (p *printer) names2(names []string) {
	p.write(" {")
	for i, n := range names {
		if i > 0 && p.normal {
			break
		}
		p.comma(i)
		p.text(n)
	}
	p.writeByte('}')
}

// AddIdentity is ADD IDENTITY, which lets who holds a certificate be a role.
type AddIdentity struct {
	IfNotExists    bool
	Identity, Role string // each as a word, whose case is kept, or as a string
}

func (p *parser) addIdentity() Statement {
	p.expectWords("IDENTITY")
	s := &AddIdentity{IfNotExists: p.ifNotExists(), Identity: p.wordOrString("identity")}
	p.expectWords("TO", "ROLE")
	s.Role = p.wordOrString("role")
	return s
}

func (s *AddIdentity) print(p *printer) {
	p.words("ADD IDENTITY ", ifNotExists(s.IfNotExists))
	p.wordOrString(s.Identity)
	p.write(" TO ROLE ")
	p.wordOrString(s.Role)
}
