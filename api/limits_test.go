package api_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/report"
)

// TestDescriptionNamesTheLimits: what a client is told a report may hold is what
// the edge checks.
func TestDescriptionNamesTheLimits(t *testing.T) {
	t.Parallel()
	rec := newWorld(t, nil).do(t, "GET", "/openapi.json")
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Limits map[string]int `json:"x-limits"`
			} `json:"schemas"`
		} `json:"components"`
	}
	require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &doc))
	l := report.DefaultLimits()
	require.Equal(t, map[string]int{"depth": l.Depth, "threads": l.Threads, "framesPerThread": l.FramesPerThread,
		"sources": l.Sources, "modules": l.Modules, "slices": l.Slices, "classifiers": l.Classifiers,
		"attributes": l.Attributes, "registers": l.Registers, "keyBytes": l.Key, "secrets": l.Secrets},
		doc.Components.Schemas["crash_report"].Limits)
}
