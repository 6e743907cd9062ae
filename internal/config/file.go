package config

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// readFile reads a YAML file of settings over s. Errors name file, line and column; all that is wrong is in one, and what is right is taken.
func (s *Settings) readFile(path string) error {
	text, err := os.ReadFile(path) //nolint:gosec // the operator names the file
	if err != nil {
		return fmt.Errorf("configuration file: %w", err)
	}
	return s.read(path, text)
}

func (s *Settings) read(path string, text []byte) error {
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return unreadable(path, err)
	}
	known := map[string]Setting{}
	for _, one := range All() {
		known[one.Name] = one
	}
	seen := map[string]bool{}
	var wrong []error
	for _, doc := range file.Docs {
		entries, err := mapping(path, doc.Body)
		if err != nil {
			wrong = append(wrong, err)
		}
		for _, entry := range entries {
			key := entry.Key.String()
			at := entry.Key.GetToken().Position
			where := fmt.Sprintf("%s:%d:%d", path, at.Line, at.Column)
			one, ok := known[key]
			switch {
			case !ok:
				wrong = append(wrong, fmt.Errorf("%s: unknown key %q%s", where, key, hint(key)))
				continue
			case seen[key]:
				wrong = append(wrong, fmt.Errorf("%s: key %q stands twice", where, key))
				continue
			}
			seen[key] = true
			text, err := scalar(entry.Value)
			if err == nil {
				err = s.value(one).Set(text)
			}
			if err != nil {
				wrong = append(wrong, fmt.Errorf("%s: %s: %w", where, key, err))
			}
		}
	}
	return errors.Join(wrong...)
}

// unreadable says where a file is no YAML, but not what stands there: it may hold a password, and more people read the log than the file.
func unreadable(path string, err error) error {
	var placed yaml.Error
	if !errors.As(err, &placed) || placed.GetToken() == nil {
		return fmt.Errorf("%s: %s", path, strings.TrimSpace(yaml.FormatError(err, false, false)))
	}
	at := placed.GetToken().Position
	return fmt.Errorf("%s:%d:%d: %s", path, at.Line, at.Column, placed.GetMessage())
}

func mapping(path string, body ast.Node) ([]*ast.MappingValueNode, error) {
	switch n := body.(type) {
	case nil, *ast.NullNode, *ast.CommentGroupNode:
		return nil, nil
	case *ast.MappingNode:
		return n.Values, nil
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, nil
	default:
		at := n.GetToken().Position
		return nil, fmt.Errorf("%s:%d:%d: expected `key: value` lines, found %s", path, at.Line, at.Column, n.Type())
	}
}

// scalar is the text of a value; a sequence becomes a comma separated list, as a flag would give it.
func scalar(n ast.Node) (string, error) {
	switch v := n.(type) {
	case *ast.NullNode:
		return "", nil
	case *ast.StringNode:
		return v.Value, nil
	case *ast.SequenceNode:
		var all []string
		for _, item := range v.Values {
			one, err := scalar(item)
			if err != nil {
				return "", err
			}
			all = append(all, one)
		}
		return strings.Join(all, ","), nil
	case ast.ScalarNode:
		return v.GetToken().Value, nil
	default:
		return "", fmt.Errorf("expected a value or a list of values, found %s", n.Type())
	}
}

// hint names the known key that takes the fewest edits to reach, if that is less than writing half of it anew.
func hint(key string) string {
	best, least := "", len(key)/2+1
	for _, one := range All() {
		if d := distance(key, one.Name); d < least {
			best, least = one.Name, d
		}
	}
	if best == "" {
		return "; `helenus run --help` names all"
	}
	return fmt.Sprintf("; the nearest known key is %q", best)
}

// distance is the Levenshtein distance.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
