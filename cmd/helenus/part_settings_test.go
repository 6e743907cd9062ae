package main

import (
	"reflect"
	"slices"
	"testing"

	"github.com/helenus-db/helenus/advisor/recommend"
	"github.com/helenus-db/helenus/capture"
	"github.com/helenus-db/helenus/internal/config"
	"github.com/helenus-db/helenus/proxy"
	"github.com/helenus-db/helenus/rewrite/lookup"
	"github.com/helenus-db/helenus/rewrite/migrate"
)

// TestDefaultsAreOne: whoever makes a part without settings gets what `helenus run` gives it by default, so that tests and benches try what
// people run, and no comment on a default can be wrong of the program.
func TestDefaultsAreOne(t *testing.T) {
	s := config.Defaults()
	agree := func(what string, set, own any, but ...string) {
		t.Helper()
		compared := 0
		for i := range reflect.TypeOf(set).NumField() {
			field := reflect.TypeOf(set).Field(i)
			if v := reflect.ValueOf(set).Field(i); !v.IsZero() && field.Type.Kind() != reflect.Struct && !slices.Contains(but, field.Name) {
				compared++
				if want := reflect.ValueOf(own).Field(i); !reflect.DeepEqual(v.Interface(), want.Interface()) {
					t.Errorf("%s.%s: the setting's default is %v, the part's own %v", what, field.Name, v, want)
				}
			}
		}
		if compared == 0 {
			t.Errorf("%s: nothing is compared", what)
		}
	}
	agree("migrate.Settings", changeSettings(s), migrate.Settings{}.Defaults(), "Rate") // 0 there is without a limit, which is what tests want
	agree("lookup.Settings", lookUpSettings(s), lookup.Settings{}.Defaults())
	agree("verify.Settings", lookUpSettings(s).Verify, lookup.Settings{}.Defaults().Verify)
	agree("recommend.Thresholds", thresholds(s), recommend.Thresholds{}.WithDefaults())
	agree("capture.Options", captureOptions(s), capture.Options{}.Defaults(), "Slow")                                                 // without a log nothing is slow
	agree("proxy.Options", proxyOptions(s), proxy.Options{}.Defaults(), "ContactPoints", "Listen", "Fleet", "Topology", "DrainGrace") // a listener by itself shows one node, and has nobody to be told
}
