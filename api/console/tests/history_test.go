package tests

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What a run did not reach is counted, and not shown beside what it was in the good run.
func TestStepsThatDiffer(t *testing.T) {
	t.Parallel()
	of := func(status string) *record { return &record{Status: status} }
	d := compared{Steps: []beside{
		{Number: 1, Differs: []string{"status"}, Then: of("PASSED"), Now: of("SKIPPED")}, // by its condition
		{Number: 2, Then: of("PASSED"), Now: of("PASSED")},
		{Number: 3, Differs: []string{"status", "message"}, Then: of("PASSED"), Now: of("FAILED")},
		{Number: 4, Differs: []string{"status"}, Then: of("PASSED"), Now: of("SKIPPED")},
		{Number: 5, Differs: []string{"status"}, Then: of("PASSED"), Now: of("SKIPPED")},
		{Number: 6, Differs: []string{"duration"}, Then: of("PASSED"), Now: of("PASSED")}, // of the tear-down
	}}
	var shown []int
	for _, pair := range d.Differing() {
		shown = append(shown, pair.Number)
	}
	require.Equal(t, []int{1, 3, 6}, shown)
	require.Equal(t, 2, d.Unreached())
}
