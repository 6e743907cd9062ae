package commitlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"testing"
)

// keptMutations are those of the kept segments.
func keptMutations(t testing.TB) (all [][]byte) {
	for _, name := range keptSegments(t) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Open(bytes.NewReader(text), int64(len(text)))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.Read(s.Start, s.size, func(m []byte) error { all = append(all, bytes.Clone(m)); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// FuzzDecode: whatever a mutation says, decoding ends, and gives keys that are of the table.
func FuzzDecode(f *testing.F) {
	known := keptTables(f)
	for _, m := range keptMutations(f) {
		if len(m) < 4096 {
			f.Add(m)
		}
	}
	f.Fuzz(func(t *testing.T, m []byte) {
		_ = Decode(m, func(id ID) *Table { return known[id] }, func(c *Change) {
			if c.Kind == Row && len(c.Key) != len(c.Table.clustering) {
				t.Errorf("a row of %s has key %x", c.Table.Name, c.Key)
			}
			_, _ = c.Table.SplitKey(c.Partition)
		})
	})
}

// FuzzSegment: whatever a file holds, reading ends.
func FuzzSegment(f *testing.F) {
	for _, name := range keptSegments(f) {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add(made(version50, `{"compressionClass":"ZstdCompressor"}`, []byte("abc")))
	f.Fuzz(func(t *testing.T, file []byte) {
		s, err := Open(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			return
		}
		next, _, err := s.Read(s.Start, int64(len(file)), func([]byte) error { return nil })
		if err != nil || next > int64(len(file)) {
			t.Errorf("to %d: %v", next, err)
		}
	})
}

// made is a segment with one section.
func made(version uint32, parameters string, section []byte) []byte {
	const id = 0x1_0000_0007
	b := binary.BigEndian.AppendUint32(nil, version)
	b = binary.BigEndian.AppendUint64(b, id)
	b = binary.BigEndian.AppendUint16(b, uint16(len(parameters)))
	b = append(b, parameters...)
	b = binary.BigEndian.AppendUint32(b, crc32.Update(checksum(0, version, 7, 1, uint32(len(parameters))), crc32.IEEETable, []byte(parameters)))
	at := len(b)
	b = binary.BigEndian.AppendUint32(b, uint32(at+markerSize+len(section)))
	b = binary.BigEndian.AppendUint32(b, checksum(0, 7, 1, uint32(at)))
	return append(b, section...)
}

// entry is a mutation as it stands in a section.
func entry(mutation []byte) []byte {
	size := uint32(len(mutation))
	b := binary.BigEndian.AppendUint32(nil, size)
	b = binary.BigEndian.AppendUint32(b, checksum(0, size))
	b = append(b, mutation...)
	return binary.BigEndian.AppendUint32(b, crc32.Update(checksum(0, size), crc32.IEEETable, mutation))
}

func TestOpenRefuses(t *testing.T) {
	broken := made(version50, "", nil)
	broken[5]++
	for name, c := range map[string]struct {
		file []byte
		want error
	}{
		"encrypted":           {made(version40, `{"encCipher":"AES/CBC/PKCS5Padding","encKeyAlias":"k"}`, nil), ErrEncrypted},
		"of another version":  {made(6, "", nil), ErrVersion},
		"of a later version":  {made(9, "", nil), ErrVersion},
		"unknown compression": {made(version50, `{"compressionClass":"BrotliCompressor"}`, nil), ErrBroken},
		"no JSON":             {made(version50, `{`, nil), ErrBroken},
		"a wrong CRC":         {broken, ErrBroken},
		"cut":                 {made(version50, `{}`, nil)[:15], ErrBroken},
		"empty":               {nil, ErrBroken},
	} {
		if _, err := Open(bytes.NewReader(c.file), int64(len(c.file))); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// TestDamage: what is damaged is counted and passed, and what comes after is read.
func TestDamage(t *testing.T) {
	one, two, three := entry([]byte("one")), entry([]byte("two")), entry([]byte("three"))
	wrongMutation, wrongSize := bytes.Clone(two), bytes.Clone(two)
	wrongMutation[9]++
	wrongSize[5]++
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	for name, c := range map[string]struct {
		section []byte
		want    string
		damage  Damage
	}{
		"whole":            {join(one, two, three), "one two three ", Damage{}},
		"zeros at the end": {join(one, make([]byte, 40)), "one ", Damage{}},
		"a wrong mutation": {join(one, wrongMutation, three), "one three ", Damage{Entries: 1}},
		"a wrong size":     {join(one, wrongSize, three), "one ", Damage{Sections: 1}},
		"cut":              {join(one, two[:13]), "one ", Damage{Sections: 1}},
	} {
		file := made(version50, "{}", c.section)
		s, err := Open(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		next, damage, err := s.Read(s.Start, int64(len(file)), func(m []byte) error { got += string(m) + " "; return nil })
		if got != c.want || damage != c.damage || next != int64(len(file)) || err != nil {
			t.Errorf("%s: %q, %+v, next %d of %d, %v", name, got, damage, next, len(file), err)
		}
	}
}

// TestReadStopsAtWhatIsDurable: a section that is not durable as a whole is not looked at, and is read when it is.
func TestReadStopsAtWhatIsDurable(t *testing.T) {
	file := made(version50, "{}", entry([]byte("one")))
	s, err := Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	each := func([]byte) error { n++; return nil }
	if next, _, err := s.Read(s.Start, int64(len(file))-1, each); next != s.Start || n != 0 || err != nil {
		t.Errorf("read %d mutations, next %d, %v", n, next, err)
	}
	failed := errors.New("not told")
	if next, _, err := s.Read(s.Start, int64(len(file)), func([]byte) error { return failed }); next != s.Start || !errors.Is(err, failed) {
		t.Errorf("next %d, %v", next, err)
	}
	if next, _, err := s.Read(s.Start, int64(len(file)), each); next != int64(len(file)) || n != 1 || err != nil {
		t.Errorf("read %d mutations, next %d, %v", n, next, err)
	}
}

func TestParseIndex(t *testing.T) {
	for text, want := range map[string]struct {
		durable   int64
		completed bool
		wrong     bool
	}{
		"0":                  {0, false, false},
		"1048576\nCOMPLETED": {1048576, true, false},
		"77\nCOMPLETED\n":    {77, true, false},
		"77\nCOMP":           {77, false, false}, // it is being written
		"":                   {0, false, true},
		"-3":                 {0, false, true},
		"99999999999":        {0, false, true},
		"COMPLETED":          {0, false, true},
	} {
		durable, completed, err := ParseIndex([]byte(text))
		if durable != want.durable || completed != want.completed || (err != nil) != want.wrong {
			t.Errorf("%q: %d, %v, %v", text, durable, completed, err)
		}
	}
}

func TestForm(t *testing.T) {
	for cqlType, want := range map[string]struct {
		length   int
		multiple bool
	}{
		"int": {4, false}, "timestamp": {8, false}, "smallint": {written, false}, "text": {written, false}, "counter": {written, false},
		"list<int>": {written, true}, "frozen<list<int>>": {written, false}, "map<text, frozen<place>>": {written, true},
		"place": {written, true}, "frozen<place>": {written, false}, "tuple<int, text>": {written, false}, "frozen<tuple<int, text>>": {written, false},
		"vector<float, 3>": {12, false}, "vector<vector<int, 2>, 5>": {40, false}, "vector<text, 3>": {written, false}, "vector<smallint, 3>": {written, false},
		"'org.example.Type'": {unknown, false},
	} {
		if length, multiple := form(cqlType); length != want.length || multiple != want.multiple {
			t.Errorf("%s: %d, %v", cqlType, length, multiple)
		}
	}
}

// TestUnread: of a table with a column that is not known the partition is told all the same, and of a mutation with a table that is not
// known what comes before it.
func TestUnread(t *testing.T) {
	known := keptTables(t)
	for id, table := range known {
		if table.Name == "plain" {
			known[id] = NewTable("k", "plain", []Column{{"k", "partition_key", "text"}, {"v", "regular", "text"}}) // n is dropped
		}
	}
	unread, rows := 0, 0
	for _, m := range keptMutations(t) {
		err := Decode(m, func(id ID) *Table { return known[id] }, func(c *Change) {
			switch {
			case c.Kind == Unread && c.Table.Name == "plain" && len(c.Partition) > 0:
				unread++
			case c.Kind == Row && c.Table.Name == "plain":
				rows++
			case c.Kind == Unread:
				t.Errorf("%s is not read", c.Table.Name)
			}
		})
		var table *ErrUnknownTable
		if err != nil && !errors.Is(err, errColumn) && !errors.As(err, &table) {
			t.Error(err)
		}
	}
	if unread != 3 || rows != 5 {
		t.Errorf("%d partitions of plain are unread, %d rows are read", unread, rows)
	}
}

// TestBrokenMutations is FuzzDecode for where nobody fuzzes: real mutations, cut and with bytes changed.
func TestBrokenMutations(t *testing.T) {
	known := keptTables(t)
	random := rand.New(rand.NewPCG(1, 2))
	for _, m := range keptMutations(t) {
		if len(m) > 4096 {
			continue
		}
		for range 300 {
			broken := bytes.Clone(m[:random.IntN(len(m)+1)])
			for range random.IntN(4) {
				if len(broken) > 16 {
					broken[random.IntN(len(broken))] = byte(random.IntN(256))
				}
			}
			_ = Decode(broken, func(id ID) *Table { return known[id] }, func(c *Change) {
				if c.Kind == Row && len(c.Key) != len(c.Table.clustering) {
					t.Errorf("a row of %s has key %x", c.Table.Name, c.Key)
				}
				_, _ = c.Table.SplitKey(c.Partition)
			})
		}
	}
}
