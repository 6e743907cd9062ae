package admin

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// parameters are the names of what each route reads behind the "?"; one with a "!" is needed. Any other is refused: a filter that is misspelt
// and passed over would answer with too much, and whoever acts on the answer would act on too much.
var parameters = map[string]string{
	"GET /api/v1/model":                  "format",
	"GET /api/v1/model/export":           "version",
	"GET /api/v1/recommendations/{id}":   "format",
	"GET /api/v1/changes":                "state",
	"GET /api/v1/statements":             "since until sort limit table keyspace class kind user application driver",
	"GET /api/v1/statements/{id}":        "since until",
	"POST /api/v1/statements/{id}/trace": "wait",
	"GET /api/v1/tables":                 "since until",
	"GET /api/v1/lint":                   "since until",
	"GET /api/v1/safety":                 "since until group principal owner fact table format",
	"GET /api/v1/profiles":               "hashes",
	"POST /api/v1/capture/record":        "for!",
	"GET /api/v1/cycles":                 "since period zone min_step",
	"GET /api/v1/cycles/workload":        "since period zone min_step",
	"GET /api/v1/audit":                  "change actor action since until limit before",
}

// readable refuses a request with a parameter that its route does not read, or that nobody can.
func readable(pattern string, r *http.Request) error {
	if r.URL.RawQuery == "" {
		return nil
	}
	given, err := url.ParseQuery(r.URL.RawQuery) // URL.Query passes over what it can not read
	if err != nil {
		return invalid(fmt.Sprintf("the parameters of %s can not be read: %v", r.URL.Path, err))
	}
	known := strings.Fields(strings.ReplaceAll(parameters[pattern], "!", ""))
	for _, name := range slices.Sorted(maps.Keys(given)) {
		switch {
		case slices.Contains(known, name):
		case len(known) == 0:
			return invalid(fmt.Sprintf("%s reads no parameters, so none named %.100q", r.URL.Path, name))
		default:
			return invalid(fmt.Sprintf("%s has no parameter %.100q, but %s", r.URL.Path, name, strings.Join(known, ", ")))
		}
	}
	return nil
}
