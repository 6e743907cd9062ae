package access

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/helenus-db/helenus/capture/store"
)

// KindToken is the kind of document of a token in the store.
const KindToken = "token"

// Prefix begins every token, so that whoever finds one in a file, or a scanner of repositories, knows what it is.
const Prefix = "hel_"

// Token is what is known of a token: not its text.
type Token struct {
	Name    string    `json:"name"`
	Role    Role      `json:"role"`
	Created time.Time `json:"created"`
	Creator string    `json:"creator"`
	Expires time.Time `json:"expires,omitzero"` // zero: never
	Hash    string    `json:"hash,omitempty"`   // SHA-256 of the text, hexadecimal
}

// Store keeps tokens; *store.Store is one.
type Store interface {
	List(ctx context.Context, kind string) ([]store.Document, error)
	Commit(ctx context.Context, c store.Change) error
}

// Errors of orders about tokens.
var (
	ErrNoToken = errors.New("no such token")
	ErrTaken   = errors.New("there is a token of this name")
	ErrInvalid = errors.New("not a token")
)

// Tokens are the tokens of persons and programs. They are safe for concurrent use.
type Tokens struct {
	store Store
	now   func() time.Time

	mu  sync.RWMutex
	all map[string]Token
}

// LoadTokens reads the tokens of a store.
func LoadTokens(ctx context.Context, s Store, now func() time.Time) (*Tokens, error) {
	t := &Tokens{store: s, now: now, all: map[string]Token{}}
	return t, t.Reload(ctx)
}

// Reload reads them anew: another process may have made or revoked some.
func (t *Tokens) Reload(ctx context.Context) error {
	documents, err := t.store.List(ctx, KindToken)
	if err != nil {
		return fmt.Errorf("read the tokens: %w", err)
	}
	all := make(map[string]Token, len(documents))
	var unread []error
	for _, d := range documents {
		var one Token
		if err := json.Unmarshal(d.Raw, &one); err != nil {
			unread = append(unread, fmt.Errorf("token %s in the store can not be read: %w", d.ID, err))
			continue
		}
		all[d.ID] = one
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = all
	return errors.Join(unread...)
}

var (
	namePattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$`)
	reserved    = []string{store.Self, store.Guard, ViaBootstrap, "api"}
)

// Reserved reports whether a name is one by which the audit trail calls Helenus itself, or the bootstrap token: nobody else is called so, whoever says it.
func Reserved(name string) bool { return slices.Contains(reserved, strings.ToLower(name)) }

// Create makes a token and returns its text, which is kept nowhere.
func (t *Tokens) Create(ctx context.Context, name string, role Role, expires time.Time, actor string) (text string, made Token, err error) {
	switch {
	case !namePattern.MatchString(name):
		return "", made, fmt.Errorf("%w: name %q: up to 64 letters, digits and . _ @ + -", ErrInvalid, name)
	case Reserved(name):
		return "", made, fmt.Errorf("%w: nobody but Helenus is called %s in the audit trail", ErrInvalid, name)
	case !expires.IsZero() && !expires.After(t.now()):
		return "", made, fmt.Errorf("%w: it would have expired at %s already", ErrInvalid, expires.Format(time.RFC3339))
	}
	if _, err := ParseRole(string(role)); err != nil {
		return "", made, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	text = Prefix + secret()
	sum := digest(text)
	made = Token{Name: name, Role: role, Created: t.now().UTC(), Creator: actor, Expires: expires, Hash: hex.EncodeToString(sum[:])}
	until := "never expires"
	if !expires.IsZero() {
		until = "until " + expires.UTC().Format(time.RFC3339)
	}
	entry := store.Entry{Action: "token.create", Target: name, Reason: until, After: string(role)}.By(ctx, actor)
	d, err := store.NewDocument(KindToken, name, made)
	if err != nil {
		return "", made, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, taken := t.all[name]; taken {
		return "", made, fmt.Errorf("%w: %s; revoke it first", ErrTaken, name)
	}
	free := map[store.Key]int64{{Kind: KindToken, ID: name}: 0}
	switch err := t.store.Commit(ctx, store.Change{If: free, Save: []store.Document{d}, Audit: []store.Entry{entry}}); {
	case errors.Is(err, store.ErrConflict):
		return "", made, fmt.Errorf("%w: %s; revoke it first", ErrTaken, name)
	case err != nil:
		return "", made, fmt.Errorf("keep token %s: %w", name, err)
	}
	t.all[name] = made
	return text, made.public(), nil
}

// Revoke ends a token at once, and the sessions that were begun with it.
func (t *Tokens) Revoke(ctx context.Context, name, actor string) (Token, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	gone, ok := t.all[name]
	if !ok {
		return gone, fmt.Errorf("%w: %s; `helenus token list` lists them", ErrNoToken, name)
	}
	delete(t.all, name) // whether this can be stored or not: it is not to be used any more
	entry := store.Entry{Action: "token.revoke", Target: name, Before: string(gone.Role)}.By(ctx, actor)
	if err := t.store.Commit(ctx, store.Change{Delete: []store.Key{{Kind: KindToken, ID: name}}, Audit: []store.Entry{entry}}); err != nil {
		t.all[name] = Token{Name: name, Role: gone.Role, Created: gone.Created, Creator: gone.Creator, Expires: t.now()} // so that it can be revoked again
		return gone.public(), fmt.Errorf("token %s is not valid any more, but would be again after a restart: revoke it again; %w", name, err)
	}
	return gone.public(), nil
}

// List are all tokens, by name, without their hashes.
func (t *Tokens) List() []Token {
	t.mu.RLock()
	defer t.mu.RUnlock()
	out := make([]Token, 0, len(t.all))
	for _, one := range t.all {
		out = append(out, one.public())
	}
	slices.SortFunc(out, func(a, b Token) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func (t Token) public() Token {
	t.Hash = ""
	return t
}

// find returns the token of a text, if it is valid. How long it takes tells nothing of the texts of others: hashes are compared,
// all of them, each as long wherever the difference is.
func (t *Tokens) find(text string) (found Token, ok bool) {
	sum := digest(text)
	hash := []byte(hex.EncodeToString(sum[:]))
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, one := range t.all {
		if subtle.ConstantTimeCompare([]byte(one.Hash), hash) == 1 {
			found, ok = one, true
		}
	}
	return found, ok && found.valid(t.now())
}

// still reports whether a token is as it was, and valid.
func (t *Tokens) still(name, hash string) (Role, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	one, ok := t.all[name]
	return one.Role, ok && one.Hash == hash && one.valid(t.now())
}

func (t Token) valid(now time.Time) bool { return t.Expires.IsZero() || now.Before(t.Expires) }

// secret is 256 random bits as text.
func secret() string {
	var random [32]byte
	_, _ = rand.Read(random[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(random[:])
}

func digest(text string) [sha256.Size]byte { return sha256.Sum256([]byte(text)) }
