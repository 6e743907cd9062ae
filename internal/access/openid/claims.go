package openid

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/helenus-db/helenus/internal/access"
)

// Rule gives a role to those of whom the provider says a value; `*` is everybody whom it lets in.
type Rule struct {
	Value string
	Role  access.Role
}

// ParseRules reads rules such as sre=admin; the last = of each counts, as values may hold some (LDAP).
func ParseRules(texts []string) (rules []Rule, err error) {
	for _, text := range texts {
		at := strings.LastIndexByte(text, '=')
		if at <= 0 {
			return nil, fmt.Errorf("%q is no VALUE=ROLE, such as sre=admin or *=viewer", text)
		}
		role, err := access.ParseRole(text[at+1:])
		if err != nil {
			return nil, fmt.Errorf("%q: %w", text, err)
		}
		rules = append(rules, Rule{text[:at], role})
	}
	return rules, nil
}

// identify reads who somebody is, and his role: the highest that a rule gives.
func (p *Provider) identify(claims map[string]any, subject string) (access.Identity, error) {
	who := access.Identity{Name: subject, Via: access.ViaOpenID, Ambient: true}
	if name, ok := claim(claims, p.o.Name).(string); ok && name != "" && !unverified(claims, p.o.Name) {
		who.Name = name
	}
	if who.Name == "" || !access.Printable(who.Name) || access.Reserved(who.Name) {
		return access.Identity{}, fmt.Errorf("%w: its name for you can not be shown, or is one of Helenus's own", ErrRefused)
	}
	said := values(claim(claims, p.o.Claim))
	for _, rule := range p.o.Roles {
		if (rule.Value == "*" || said[rule.Value]) && !who.Role.Allows(rule.Role) {
			who.Role = rule.Role
		}
	}
	if who.Role == "" {
		return access.Identity{}, fmt.Errorf("%w (%s)", ErrNoRole, who.Name)
	}
	return who, nil
}

// unverified: an address of mail that its holder could have made up is nobody's name. Some providers write the boolean as a text; one that says nothing
// of it is believed.
func unverified(claims map[string]any, name string) bool {
	said, ok := claims["email_verified"]
	return name == "email" && ok && said != true && said != "true"
}

// claim finds a claim by its name; if there is none of this name, a dot leads into an object.
func claim(claims map[string]any, name string) any {
	if v, ok := claims[name]; ok {
		return v
	}
	outer, inner, ok := strings.Cut(name, ".")
	if within, is := claims[outer].(map[string]any); ok && is {
		return claim(within, inner)
	}
	return nil
}

// values are the texts of a claim: one, or a list of them.
func values(of any) map[string]bool {
	out := map[string]bool{}
	switch v := of.(type) {
	case string:
		out[v] = true
	case []any:
		for _, one := range v {
			if text, ok := one.(string); ok {
				out[text] = true
			}
		}
	}
	return out
}

// maxSaid bounds what is shown of a provider's words, which come in the address that a browser was led to.
const maxSaid = 200

// printable is what may be shown and logged of such words.
func printable(text string) string {
	text = strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(text, ""))
	if runes := []rune(text); len(runes) > maxSaid {
		text = string(runes[:maxSaid])
	}
	return strings.Trim(text, ": ")
}
