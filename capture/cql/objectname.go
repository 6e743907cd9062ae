package cql

import "strings"

// objectName reports whether text is the name of a Java management bean as javax.management.ObjectName reads it, and whether
// it is a pattern of names: domain:key=value,..., where the list may hold or be "*".
func objectName(text string) (valid, pattern bool) {
	if text == "" || text == "*:*" {
		return false, false
	}
	domain, properties, ok := strings.Cut(text, ":")
	if !ok || properties == "" || strings.ContainsAny(text, "\n") {
		return false, false
	}
	pattern = strings.ContainsAny(domain, "*?")
	seen := map[string]bool{}
	for more := true; more; {
		if properties == "*" || strings.HasPrefix(properties, "*,") {
			if seen["*"] {
				return false, false
			}
			seen["*"], pattern = true, true
			properties, more = strings.CutPrefix(properties[1:], ",")
			more = more && properties != "" // it lets one comma pass here
			continue
		}
		key, rest, ok := strings.Cut(properties, "=")
		if !ok || key == "" || seen[key] || strings.ContainsAny(key, ",:*?") {
			return false, false
		}
		seen[key] = true
		wild, after, ok := objectValue(rest)
		if !ok {
			return false, false
		}
		pattern = pattern || wild
		if more = after != ""; more {
			properties = after[1:] // a comma, or behind quotes anything: Java does not look
		}
		if more && properties == "" {
			return false, false
		}
	}
	return true, pattern
}

// objectValue passes over the value that text begins with, quoted, plain or empty; it returns what follows it.
func objectValue(text string) (wild bool, after string, ok bool) {
	if !strings.HasPrefix(text, `"`) {
		end := strings.IndexByte(text, ',')
		if end < 0 {
			end = len(text)
		}
		value := text[:end]
		return strings.ContainsAny(value, "*?"), text[end:], !strings.ContainsAny(value, `=:"`)
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			if i++; i >= len(text) || strings.IndexByte(`\"*?n`, text[i]) < 0 {
				return false, "", false
			}
		case '*', '?':
			wild = true
		case '"':
			return wild, text[i+1:], true
		}
	}
	return false, "", false
}
