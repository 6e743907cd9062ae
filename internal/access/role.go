package access

import "fmt"

// Role is what somebody may do; each from Viewer on may do all that the one before it may.
type Role string

// The roles.
const (
	Agent    Role = "agent"    // tells which rows were written (helenus cdc-agent), and may do nothing else; operators may, too
	Viewer   Role = "viewer"   // reads
	Operator Role = "operator" // approves, rejects, rolls back, resumes, verifies
	Admin    Role = "admin"    // tokens, drop, bypass, what is sampled, pprof
)

var ranks = map[Role]int{Viewer: 1, Operator: 2, Admin: 3}

// ParseRole reads a role.
func ParseRole(text string) (Role, error) {
	if r := Role(text); r == Agent || ranks[r] > 0 {
		return r, nil
	}
	return "", fmt.Errorf("role %q: it may be %s, %s, %s or %s", text, Agent, Viewer, Operator, Admin)
}

// Allows reports whether a role includes another.
func (r Role) Allows(needed Role) bool {
	if needed == Agent {
		return r == Agent || r.Allows(Operator)
	}
	return ranks[needed] > 0 && ranks[r] >= ranks[needed]
}

// Identity is who sent a request, and how that is known.
type Identity struct {
	Name string `json:"name"`
	Role Role   `json:"role"`
	Via  string `json:"via"`
	// From is the address of whoever sent it: behind a trusted proxy the one that this saw.
	From string `json:"from"`
	// Claims: it is whoever has the bootstrap token, and he says who he is.
	Claims bool `json:"-"`
	// Ambient: a browser sends along what says so, whoever made the page.
	Ambient bool `json:"-"`
}

// How it is known who sent a request.
const (
	ViaBootstrap = "bootstrap" // the token of the state directory, or of the setting admin-token
	ViaToken     = "token"
	ViaSession   = "session"
	ViaHeader    = "header"
	ViaOpenID    = "openid" // a session of somebody for whom a provider vouched
)
