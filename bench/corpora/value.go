package main

import (
	"github.com/helenus-db/helenus/capture/literal"
	"github.com/helenus-db/helenus/capture/value"
	"github.com/helenus-db/helenus/proxy"
)

// bound is a value that is bound, and where it came from.
type bound struct {
	datum
	from  origin
	parts []origin // of a text that is joined here: where its parts come from
}

// mix is splitmix64.
func mix(x uint64) uint64 {
	x += 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// hash is what capture/value makes of a value: equal integers are equal whatever they number, all else is of its attribute.
func (s *site) hash(d datum) value.Value {
	kind := literal.TypeOf(d.at.cqlType)
	v := value.Value{Class: value.ClassOf(&kind), Bytes: uint32(sizeOf(d.at.cqlType))}
	of := uint64(0)
	if d.form != "" {
		v = value.Value{Class: value.Text, Bytes: 18}
	}
	if v.Class != value.Integer {
		for _, r := range d.of.name + "." + d.at.name + d.form {
			of = mix(of ^ uint64(r)) // #nosec G115
		}
	}
	n := uint64(d.n) + 1 // #nosec G115 -- instances are numbered from 0
	v.Hash = mix(mix(of+uint64(v.Class)) ^ n)
	if v.Class == value.Integer || v.Class == value.Timestamp {
		v.Numeric, v.Number = true, int64(d.n)+1
	}
	return v
}

// made are the identifiers that a value is made of, the last of so many of an execution.
func (s *site) made(d datum, of int) (out []value.Made) {
	if d.form == "" || !keeps(d.form) {
		return nil
	}
	if d.form == whole {
		for n, part := range d.of.keys() {
			one, _ := d.of.value(d.n, part)
			v := s.hash(one)
			out = append(out, value.Made{Hash: v.Hash, Of: uint32(of - 1), Piece: uint8(n), Class: v.Class}) // #nosec G115 -- few
		}
		return out
	}
	piece := uint8(0)
	if d.form != "text" {
		piece = 1
	}
	d.form = ""
	if v := s.hash(d); v.Class == value.Integer || v.Class == value.UUID {
		out = append(out, value.Made{Hash: v.Hash, Of: uint32(of - 1), Piece: piece, Class: v.Class}) // #nosec G115 -- few
	}
	return out
}

func (s *site) describe(t *table, c column) proxy.Column {
	return proxy.Column{Keyspace: s.keyspace, Table: t.name, Name: c.name, Type: literal.TypeOf(s.w.typeOf(t, c))}
}
