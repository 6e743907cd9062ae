package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// guardrail is a setting of Cassandra that may forbid something that Helenus does. (Superusers are past guardrails.)
type guardrail struct {
	setting string // in system_views.settings
	broken  func(f *Facts, value string) bool
	level   Level
	says    string
	do      string
}

func is(wrong string) func(*Facts, string) bool {
	return func(_ *Facts, value string) bool { return strings.EqualFold(value, wrong) }
}

// below is broken by a limit that is set, and not above what is needed.
func below(need func(*Facts) int) func(*Facts, string) bool {
	return func(f *Facts, value string) bool {
		n, err := strconv.Atoi(strings.TrimSpace(value))
		return err == nil && n >= 0 && n < need(f)
	}
}

// names is broken by a list that has one of the words.
func names(words ...string) func(*Facts, string) bool {
	return func(_ *Facts, value string) bool {
		list := strings.FieldsFunc(strings.ToLower(value), func(r rune) bool { return strings.ContainsRune("[]{}, \t'\"", r) })
		return slices.ContainsFunc(list, func(s string) bool { return slices.Contains(words, s) })
	}
}

func set(_ *Facts, value string) bool {
	value = strings.ToLower(strings.TrimSpace(value))
	return value != "" && value != "null"
}

// tables is how many tables there are, and two more of a look-up.
func tables(f *Facts) (n int) {
	for _, k := range f.Keyspaces {
		n += k.Tables
	}
	return n + 2
}

var rails = []guardrail{
	{"allow_filtering_enabled", is("false"), Blocks, "statements with ALLOW FILTERING are refused, also those by which rows of the base are read for a look-up", "allow_filtering_enabled: true"},
	{"user_timestamps_enabled", is("false"), Blocks, "USING TIMESTAMP is refused, by which entries of look-ups are put and removed", "user_timestamps_enabled: true"},
	{"ddl_enabled", is("false"), Blocks, "no table can be made", "ddl_enabled: true while a change is approved"},
	{"alter_table_enabled", is("false"), Warns, "the comment of a look-up table, by which it is known whose it is, can not be changed when it is taken up again", "alter_table_enabled: true"},
	{"drop_truncate_table_enabled", is("false"), Warns, "helenus drop can not remove a look-up table, nor can one be filled anew after a TRUNCATE", "drop_truncate_table_enabled: true when it is to go"},
	{"tables_fail_threshold", below(tables), Blocks, "two more tables are too many", "raise tables_fail_threshold"},
	{"tables_warn_threshold", below(tables), Warns, "with two more tables Cassandra warns", "raise tables_warn_threshold"},
	{"partition_keys_in_select_fail_threshold", below(func(*Facts) int { return 16 }), Warns, "rows of a look-up read are fetched one by one, not 16 at a time", "partition_keys_in_select_fail_threshold: 16 or more"},
	{"in_select_cartesian_product_fail_threshold", below(func(*Facts) int { return 16 }), Warns, "rows of a look-up read are fetched one by one, not 16 at a time", "in_select_cartesian_product_fail_threshold: 16 or more"},
	{"page_size_fail_threshold", below(func(f *Facts) int { return f.Wants.Entries + 2 }), Blocks, "entries are read in one page, which may not be so long", "max-entries of Helenus below it, or a higher page_size_fail_threshold"},
	{"read_consistency_levels_disallowed", names("one", "all", "quorum", "local_quorum"), Blocks, "Helenus compares and verifies at some of these levels", "take ONE, ALL, QUORUM and LOCAL_QUORUM off the list"},
	{"write_consistency_levels_disallowed", names("all", "quorum", "local_quorum", "each_quorum"), Blocks, "look-ups are filled at ALL, and kept at a quorum", "take ALL and the quorums off the list"},
	{"table_properties_disallowed", names("comment", "gc_grace_seconds", "compaction", "compression", "default_time_to_live", "caching", "speculative_retry"), Blocks, "look-up tables are made with some of these properties", "take them off the list"},
	{"table_properties_ignored", names("comment", "gc_grace_seconds"), Blocks, "a look-up table is known by its comment, and its tombstones must go after six hours", "take comment and gc_grace_seconds off the list"},
	{"minimum_timestamp_fail_threshold", set, Blocks, "the timestamps 1 and 2, at which entries of writes without timestamps are put and removed, are refused", "leave minimum_timestamp_fail_threshold unset"},
	{"minimum_timestamp_warn_threshold", set, Warns, "Cassandra warns of the timestamps 1 and 2, at which entries of writes without timestamps are put and removed", "leave minimum_timestamp_warn_threshold unset"},
}

func guardrails(f *Facts) (out []Finding) {
	seen := false
	for _, g := range rails {
		var where []string
		value := ""
		for _, n := range f.asked() {
			if n.Settings == nil {
				continue
			}
			seen = true
			if v, ok := n.Settings[g.setting]; ok && g.broken(f, v) {
				where, value = append(where, n.Address), v
			}
		}
		if len(where) > 0 {
			out = append(out, Finding{"guardrails", g.level, fmt.Sprintf("%s is %s (%s): %s", g.setting, value, strings.Join(where, ", "), g.says), g.do})
		}
	}
	switch {
	case !seen:
		return nil // system tables say why
	case out == nil:
		return fine("guardrails", "none of those that are set is in the way")
	}
	return out
}

// cdc looks for nodes on which a CDC agent that is behind, or gone, would stop the application's writes.
func cdc(f *Facts) []Finding {
	var where []string
	for _, n := range f.asked() {
		if strings.EqualFold(n.Settings["cdc_enabled"], "true") && strings.EqualFold(n.Settings["cdc_block_writes"], "true") {
			where = append(where, n.Address)
		}
	}
	if len(where) == 0 {
		return nil
	}
	return []Finding{{"cdc", Warns, fmt.Sprintf("cdc_block_writes is true (%s): once cdc_raw is full, because nobody reads and removes its segments, Cassandra refuses writes to tables with cdc = true", strings.Join(where, ", ")),
		"cdc_block_writes: false, with which the oldest segments go instead; what an agent misses so, the next sweep finds"}}
}

// validity compares how long Cassandra remembers permissions with how long Helenus thinks it does.
func validity(f *Facts) []Finding {
	if f.Rights.Unchecked {
		return nil
	}
	for _, n := range f.asked() {
		text, ok := n.Settings["permissions_validity"]
		if !ok {
			text, ok = n.Settings["permissions_validity_in_ms"]
			text += "ms"
		}
		have, err := time.ParseDuration(strings.ReplaceAll(text, " ", ""))
		if !ok || err != nil {
			continue
		}
		if f.Wants.Permissions > have {
			return []Finding{{"permissions validity", Warns, fmt.Sprintf("Cassandra remembers a role's permissions for %v (permissions_validity of %s), Helenus takes its word for %v: entries may be read for a role that long after a REVOKE, though nothing of them is told",
				have, n.Address, f.Wants.Permissions), fmt.Sprintf("permissions-validity: %v", have)}}
		}
		return fine("permissions validity", "Cassandra remembers a role's permissions for %v, Helenus relies on its word for %v", have, f.Wants.Permissions)
	}
	return nil
}
