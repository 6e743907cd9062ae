package maintain

import (
	"strconv"
	"strings"

	"github.com/gocql/gocql"

	"github.com/helenus-db/helenus/rewrite/kind"
	"github.com/helenus-db/helenus/rewrite/lookup/match"
)

// replicas returns how many replicas a keyspace has in all, and in how many data centres; 0 if that is not known.
func (m *Maintainer) replicas(l *match.LookUp) (replicas, datacentres int) {
	k := m.Schema().Keyspace(l.Keyspace)
	if k == nil {
		return 0, 0
	}
	for name, value := range k.Replication {
		if name == "class" {
			continue
		}
		// "3", or "3/1" where one of them is transient
		n, err := strconv.Atoi(strings.SplitN(value, "/", 2)[0])
		if err != nil {
			return 0, 0
		}
		replicas += n
		datacentres++
	}
	return replicas, datacentres
}

// replicasIn is how many replicas a keyspace has in a data centre; 0 if that is not known.
func (m *Maintainer) replicasIn(l *match.LookUp, dataCentre string) int {
	k := m.Schema().Keyspace(l.Keyspace)
	if k == nil {
		return 0
	}
	n, _ := strconv.Atoi(strings.SplitN(k.Replication[dataCentre], "/", 2)[0])
	return n
}

// proves tells whether a write acknowledged at a level is in every quorum that is read afterwards.
func (m *Maintainer) proves(l *match.LookUp, c gocql.Consistency) bool {
	replicas, datacentres := m.replicas(l)
	quorum := replicas/2 + 1
	switch c {
	case gocql.Quorum, gocql.EachQuorum, gocql.All:
		return true
	case gocql.LocalQuorum:
		return datacentres == 1
	case gocql.One, gocql.LocalOne:
		return replicas == 1
	case gocql.Two:
		return replicas > 0 && quorum <= 2
	case gocql.Three:
		return replicas > 0 && quorum <= 3
	}
	return false // ANY: a hint is acknowledged
}

// everywhere is the level that has something in common with a quorum of each data centre.
func (m *Maintainer) everywhere(l *match.LookUp) gocql.Consistency {
	if _, centres := m.replicas(l); centres > 1 {
		return gocql.EachQuorum
	}
	return m.settings.Consistency
}

// evidence is the level at which a read shows that an acknowledged write is there, or has lost: with the replicas that
// acknowledged it, it has at least one in common. What a condition decided is read at its serial level, which also finishes
// rounds that are open; at LOCAL_SERIAL they are those of one data centre, so that it is read there (completion.where).
func (m *Maintainer) evidence(l *match.LookUp, w kind.Level, conditional bool) gocql.Consistency {
	switch {
	case conditional && w.Serial != 0:
		return w.Serial
	case conditional:
		return gocql.Consistency(gocql.Serial)
	case m.proves(l, w.Consistency):
		return m.settings.Consistency
	}
	return gocql.All
}

// lasting is the level of a read of the base whose result is evidence at level c. A read at QUORUM brings what it saw to a quorum before
// it answers, so that nobody sees less afterwards; of a table whose read_repair is not BLOCKING it does not, and every replica is asked.
func (m *Maintainer) lasting(l *match.LookUp, c gocql.Consistency) gocql.Consistency {
	t := m.baseTable(l)
	if c == gocql.Consistency(gocql.Serial) || c == gocql.Consistency(gocql.LocalSerial) || t.ReadRepair == "" || strings.EqualFold(t.ReadRepair, "BLOCKING") {
		return c
	}
	return gocql.All
}
