package admin

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// TokenFile is where a token that nobody chose is kept, in the state directory.
const TokenFile = "admin.token"

// Token returns the token that the API asks for: the one given, else the one kept in dir, else a new one, kept there for
// the next start and for the command line, readable by its owner only. With an error comes a new one that nobody knows, so that the
// process may go on without anybody who may give it orders.
func Token(given, dir string) (string, error) {
	if given != "" {
		return given, nil
	}
	var random [24]byte
	_, _ = rand.Read(random[:]) // never fails
	token := hex.EncodeToString(random[:])
	if kept, err := ReadToken(dir); err == nil {
		return kept, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return token, err
	}
	if err := os.WriteFile(filepath.Join(dir, TokenFile), []byte(token+"\n"), 0o600); err != nil {
		return token, fmt.Errorf("admin token: %w", err)
	}
	return token, nil
}

// ReadToken returns the token kept in a state directory.
func ReadToken(dir string) (string, error) {
	text, err := os.ReadFile(filepath.Join(dir, TokenFile)) //nolint:gosec // the operator names the folder
	if err != nil {
		return "", fmt.Errorf("admin token: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if token == "" {
		return "", fmt.Errorf("admin token: %s is empty; remove it and start helenus run again", filepath.Join(dir, TokenFile))
	}
	return token, nil
}

// AddressFile is where a process leaves the address of its API, in the state directory, for the command line. It stays behind when
// the process ends: the next one, which may already serve then, writes its own.
const AddressFile = "admin.address"

// KeepAddress leaves the address of the API in a state directory.
func KeepAddress(address, dir string) error {
	if err := os.WriteFile(filepath.Join(dir, AddressFile), []byte(address+"\n"), 0o600); err != nil {
		return fmt.Errorf("admin address: %w", err)
	}
	return nil
}

// ReadAddress returns the address left in a state directory, "" if there is none.
func ReadAddress(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, AddressFile)) //nolint:gosec // the operator names the folder
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// door lets requests with the token through, counts the others, and logs who comes with a wrong one.
type door struct {
	token          string
	log            *slog.Logger
	now            func() time.Time
	missing, wrong atomic.Int64

	mu     sync.Mutex
	next   time.Time // when a line may be logged again
	silent int       // requests since that were not logged
}

// wrongTokenEvery is the time between lines about wrong tokens: whoever tries them does not fill the log.
const wrongTokenEvery = 10 * time.Second

func (d *door) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given, ok := bearer(r.Header.Get("Authorization"))
		switch {
		case !ok:
			d.missing.Add(1)
		case subtle.ConstantTimeCompare([]byte(given), []byte(d.token)) == 1: // as long wherever the difference is
			next.ServeHTTP(w, r)
			return
		default:
			d.wrong.Add(1)
			d.report(r)
		}
		w.Header().Set("WWW-Authenticate", `Bearer realm="helenus"`)
		writeError(w, &Error{Status: http.StatusUnauthorized, Code: "unauthorised", Message: "this needs the admin token as `Authorization: Bearer TOKEN`; it is in " + TokenFile + " in the state directory"})
	})
}

// bearer takes the token out of an Authorization header; the scheme's name may be in any case (RFC 9110, 11.1).
func bearer(header string) (token string, ok bool) {
	scheme, token, _ := strings.Cut(strings.TrimSpace(header), " ")
	return strings.TrimSpace(token), strings.EqualFold(scheme, "bearer")
}

func (d *door) report(r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	if now.Before(d.next) {
		d.silent++
		return
	}
	d.log.Warn("a request to the API came with a wrong token", "remote", r.RemoteAddr, "method", r.Method, "path", r.URL.Path, "unlogged_before", d.silent)
	d.next, d.silent = now.Add(wrongTokenEvery), 0
}
