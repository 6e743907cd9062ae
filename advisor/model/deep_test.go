package model_test

import (
	"strings"
	"testing"

	"github.com/helenus-db/helenus/advisor/model"
)

func TestDeepFilesAreRefused(t *testing.T) {
	steps := strings.Builder{}
	for i := range 300 {
		steps.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	for name, text := range map[string]string{
		"brackets": strings.Repeat("[", 200000),
		"maps":     strings.Repeat("{a: ", 100000),
		"dashes":   strings.Repeat("- ", 100000),
		"marks":    strings.Repeat("? ", 100000),
		"indented": steps.String(),
	} {
		t.Run(name, func(t *testing.T) {
			var d model.Document
			err := model.DecodeYAML("deep", []byte(text), &d)
			if err == nil || !strings.Contains(err.Error(), "too deeply") {
				t.Error(err)
			}
		})
	}
}
