package capture

import (
	"hash/maphash"
	"sync"
)

// cache remembers the records of texts, and of their shapes, by a hash of 128 bits under keys of this process, so that no text is kept and nobody can
// make two texts meet. It is cut into shards; a shard keeps two generations, and forgets the old one when the young one
// is full.
type cache struct {
	a, b   maphash.Seed
	size   int // entries per generation and shard
	shards [cacheShards]shard
}

const cacheShards = 16

type cacheKey struct{ a, b uint64 }

type shard struct {
	mu         sync.RWMutex
	young, old map[cacheKey]*record
	_          [64]byte // keep neighbours off this cache line
}

func newCache(entries int) *cache {
	c := &cache{a: maphash.MakeSeed(), b: maphash.MakeSeed(), size: max(entries/cacheShards/2, 1)}
	for i := range c.shards {
		c.shards[i].young, c.shards[i].old = map[cacheKey]*record{}, map[cacheKey]*record{}
	}
	return c
}

func (c *cache) textKey(keyspace, text string) cacheKey {
	return cacheKey{
		maphash.String(c.a, keyspace)*31 + maphash.String(c.a, text),
		maphash.String(c.b, keyspace)*31 + maphash.String(c.b, text),
	}
}

// shapeKey is the key of what texts of one shape (cql.AppendShape) have in common. No text has it.
func (c *cache) shapeKey(keyspace string, shape []byte) cacheKey {
	return cacheKey{
		maphash.String(c.a, keyspace)*37 + maphash.Bytes(c.a, shape),
		maphash.String(c.b, keyspace)*37 + maphash.Bytes(c.b, shape),
	}
}

func (c *cache) batchKey(kind byte, children []*record) cacheKey {
	var k cacheKey
	for i, seed := range [...]maphash.Seed{c.a, c.b} {
		var h maphash.Hash
		h.SetSeed(seed)
		_, _ = h.WriteString("batch") // hash writers do not fail
		_ = h.WriteByte(kind)
		for _, x := range children {
			_, _ = h.Write(x.print[:])
		}
		if i == 0 {
			k.a = h.Sum64()
		} else {
			k.b = h.Sum64()
		}
	}
	return k
}

func (c *cache) get(k cacheKey) *record {
	s := &c.shards[k.a%cacheShards]
	s.mu.RLock()
	x := s.young[k]
	if x != nil {
		s.mu.RUnlock()
		return x
	}
	x = s.old[k]
	s.mu.RUnlock()
	if x != nil {
		c.put(k, x)
	}
	return x
}

func (c *cache) put(k cacheKey, x *record) {
	s := &c.shards[k.a%cacheShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.young) >= c.size {
		s.old, s.young = s.young, make(map[cacheKey]*record, c.size)
	}
	s.young[k] = x
}
