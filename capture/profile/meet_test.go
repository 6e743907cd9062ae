package profile

import (
	"testing"

	"github.com/helenus-db/helenus/capture/trace"
	"github.com/helenus-db/helenus/capture/value"
	"github.com/helenus-db/helenus/proxy"
)

// TestMeetings: writes to one partition that overlap are counted, those of one batch, one after the other or elsewhere are not.
func TestMeetings(t *testing.T) {
	update := &trace.Statement{Fingerprint: "update", Keyspace: "shop", Table: "orders", Write: true, Key: []string{"shop", "id"}, Sets: []string{"buyer"},
		Variables: []proxy.Column{of("orders", "buyer"), of("orders", "shop"), of("orders", "id")}, PartitionKey: []int{1}}
	said := func(st *trace.Statement, start, end int64, partition, batch uint64, row int) *trace.Execution {
		return &trace.Execution{Statement: st, Start: start, End: end, Partition: partition, Batch: batch, Last: true,
			Binds: []value.Value{hashed(9, 0, 0), hashed(int(partition), 1, 0), hashed(row, 2, 0)}}
	}
	b := New(Options{Began: began, Started: began})
	for _, e := range []*trace.Execution{
		said(update, 0, 10, 1, 0, 1),
		said(update, 10, 20, 1, 0, 1), // begins when the first has ended
		said(update, 15, 25, 1, 0, 1), // meets the second, on its row
		said(update, 16, 26, 1, 0, 2), // meets two, on another row
		said(update, 16, 26, 2, 0, 1), // elsewhere
		said(write, 30, 40, 1, 7, 1),
		said(write, 31, 41, 1, 7, 2), // the same batch
		said(write, 32, 42, 1, 8, 1), // meets both; of INSERTs rows are not known
	} {
		b.Add(e)
	}
	tables := b.Document().Epochs[0].Tables
	if len(tables) != 1 || tables[0].Met != (Meetings{Partition: 5, Row: 1, Most: 3}) {
		t.Errorf("%+v", tables)
	}
	if got := tables[0].merge(tables[0]).Met; got != (Meetings{Partition: 10, Row: 2, Most: 3}) {
		t.Errorf("merged: %+v", got)
	}
}

// TestMeetingsAreBounded: what is remembered does not grow, whatever comes.
func TestMeetingsAreBounded(t *testing.T) {
	var m meeter
	var count Meetings
	for i := range 10 * maxFlights {
		e := &trace.Execution{Statement: write, Start: int64(i), End: int64(i) + 5, Partition: uint64(i % 5000)}
		m.add(e, &count)
		n := 0
		if i%1000 == 0 {
			for _, list := range m.flights {
				n += len(list)
			}
			if n != m.n || n > maxFlights {
				t.Fatalf("%d are remembered, %d are counted", n, m.n)
			}
		}
	}
	if count.Partition != 0 {
		t.Errorf("%+v", count)
	}
}
