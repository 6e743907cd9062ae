package fleet

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// SettingError says that this process may not be a member, because one that is has another value of a setting that has to be the same.
type SettingError struct {
	Setting, Own, Other string
	Member, Address     string
}

// Error implements error.
func (e *SettingError) Error() string {
	return fmt.Sprintf("setting %s is %s here, and %s at member %s at %s, which is there already: it has to be the same at each. To change it, stop all members first; one that is gone is off the register in some seconds, or by `helenus members remove %s`", e.Setting, e.Own, e.Other, e.Member, e.Address, e.Member)
}

// disagrees is a SettingError, if there is reason for one. Of two that join at a time, the one that is registered later finds the other.
func (m *Member) disagrees() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(m.register)) {
		e := m.register[id]
		for _, name := range m.o.Must {
			if other, said := e.Settings[name]; said && other != m.o.Settings[name] {
				return &SettingError{name, m.o.Settings[name], other, id, e.Address}
			}
		}
	}
	return nil
}

// Differences says of members whose settings are not those of the leader, or of who answers where none leads, what differs. A setting that only one of the two knows is of another version.
func (f *Fleet) Differences() (lines []string) {
	at := slices.IndexFunc(f.Members, func(v View) bool { return v.Leads })
	if at < 0 {
		at = slices.IndexFunc(f.Members, func(v View) bool { return v.Self })
	}
	if at < 0 {
		return nil
	}
	model := &f.Members[at]
	for i := range f.Members {
		v := &f.Members[i]
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(v.Settings)) {
			if is := model.Settings[name]; model.Settings != nil && is != v.Settings[name] {
				parts = append(parts, fmt.Sprintf("%s is %s, not %s", name, v.Settings[name], is))
			}
		}
		if parts != nil {
			lines = append(lines, fmt.Sprintf("member %s at %s has other settings than %s at %s: %s", v.ID, v.Address, model.ID, model.Address, strings.Join(parts, "; ")))
		}
	}
	return lines
}
