package correction

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Contradiction finds the first line that can not be true together with one before it, and says why; -1 if there is none.
func (l List) Contradiction() (line int, why string) {
	said := map[string]int{} // what a line settles -> the line
	settle := func(i int, what, as string) string {
		key := what + "\x00"
		for k, n := range said {
			if was, mine := strings.CutPrefix(k, key); mine && was != as {
				return fmt.Sprintf("%s contradicts correction %d (%s)", quoted(&l[i]), n+1, quoted(&l[n]))
			}
		}
		if _, known := said[key+as]; !known {
			said[key+as] = i
		}
		return ""
	}
	for i := range l {
		c := &l[i]
		var whys []string
		switch {
		case c.Entity != "":
			if c.Name != "" {
				whys = append(whys, settle(i, "name "+c.Entity, c.Name))
			}
			if len(c.Key) > 0 {
				whys = append(whys, settle(i, "key "+c.Entity, strings.Join(c.Key, " ")))
			}
		case c.Relationship != "":
			whys = append(whys, settle(i, "relationship "+c.Relationship, c.To))
		case c.Copy != "":
			whys = append(whys, settle(i, "copy "+c.Copy, c.Of))
		case c.Join != "":
			whys = append(whys, settle(i, "join "+c.From+" "+c.To, c.Join))
		case c.Rename != "":
			whys = append(whys, settle(i, "name "+c.Rename, c.To))
		case c.Weight != "":
			whys = append(whys, settle(i, "weight "+c.Weight, c.String()))
		}
		for _, why := range whys {
			if why != "" {
				return i, why
			}
		}
	}
	return l.apart()
}

func quoted(c *Correction) string { return "\"" + c.String() + "\"" }

// apart finds what is said to be different though other lines, taken together, say that it is the same.
func (l List) apart() (line int, why string) {
	group := map[string]string{} // union-find
	var root func(string) string
	root = func(x string) string {
		if group[x] == "" || group[x] == x {
			return x
		}
		group[x] = root(group[x])
		return group[x]
	}
	last := map[[2]string]int{} // which line joined them
	unite := func(i int, names ...string) {
		for _, n := range names[1:] {
			a, b := root(names[0]), root(n)
			if a != b {
				group[max(a, b)] = min(a, b)
			}
			last[pairOf(names[0], n)] = i
		}
	}
	for i := range l {
		c := &l[i]
		switch {
		case len(c.Same) > 0:
			unite(i, c.Same...)
		case c.Copy != "" && c.Of != None:
			unite(i, c.Copy, c.Of)
		}
	}
	for i := range l {
		names := l[i].Different
		for n, a := range names {
			for _, b := range names[n+1:] {
				if root(a) != root(b) {
					continue
				}
				culprit := "other corrections, taken together, say that they are the same"
				if by, direct := last[pairOf(a, b)]; direct {
					culprit = fmt.Sprintf("correction %d says that they are the same", by+1)
				}
				return i, fmt.Sprintf("%s and %s are said to be different, but %s", a, b, culprit)
			}
		}
	}
	return -1, ""
}

func pairOf(a, b string) [2]string {
	pair := []string{a, b}
	slices.SortFunc(pair, cmp.Compare)
	return [2]string{pair[0], pair[1]}
}
