package admin

import (
	"net/http"

	"github.com/helenus-db/helenus/rewrite"
)

// cdcRoutes are the routes of CDC agents (helenus cdc-agent).
func (s *Server) cdcRoutes(route func(string, func(*http.Request) (any, error))) {
	route("GET /api/v1/cdc/tables", func(*http.Request) (any, error) { return s.o.Migrator.CDCTables() })
	route("POST /api/v1/cdc/rows", func(r *http.Request) (any, error) {
		var report rewrite.CDCReport
		if err := body(r, &report, `{"node": "10.0.0.1", "rows": [{"keyspace": "shop", "table": "users", "id": "…", "key": ["…"]}], "behind_bytes": 0}`); err != nil {
			return nil, err
		}
		return s.o.Migrator.Told(r.Context(), &report)
	})
}
