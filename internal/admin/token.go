package admin

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// TokenFile is where a token that nobody chose is kept, in the state directory.
const TokenFile = "admin.token"

// Token returns the bootstrap token, which is there before there are others: the one given, else the one kept in dir, else a new one, kept there for
// the next start and for the command line, readable by its owner only. With an error comes a new one that nobody knows, so that the
// process may go on without anybody who may give it orders.
func Token(given, dir string) (string, error) {
	if given != "" {
		return given, nil
	}
	var random [32]byte
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
