package bulk_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/crash/bulk"
	"github.com/slipway-qa/slipway/storage/crash/condition"
	"github.com/slipway-qa/slipway/storage/crash/reading"
)

// The members of a filter whose values may name a person, and those whose values never do. A new
// member belongs to one of the two; one of the first is also forgotten by storage/search and known
// to GroupFilter.HasAttribute.
var (
	personal = []string{"Search", "Attributes"}
	others   = []string{"OrganizationID", "Projects", "States", "Assignees", "Classifiers", "Severities", "Versions", "Window",
		"FirstSeenFrom", "RegressedFrom", "MadeUntil", "Without", "Sort", "Ascending", "Limit", "Offset"}
)

// A change is kept for good in the audit log: by then its filter has no value that may name somebody.
func TestChangesAreKeptWithoutValues(t *testing.T) {
	t.Parallel()
	filter := reading.GroupFilter{Search: "ada@example.com", Classifiers: []string{"TypeError"}, Versions: []string{"2.1"},
		Attributes:    []condition.Attribute{{Key: "guid", Value: "ada"}, {Key: "host", Value: "ada-laptop"}},
		RegressedFrom: time.Unix(1, 0)}
	change := bulk.GroupChange{Filter: filter}
	kept := reflect.ValueOf(change.WithoutValues().Filter)
	before := reflect.ValueOf(filter)
	for i := range kept.NumField() {
		name := kept.Type().Field(i).Name
		switch {
		case slices.Contains(others, name):
			require.Equal(t, before.Field(i).Interface(), kept.Field(i).Interface(), name)
		case slices.Contains(personal, name):
			require.NotEqual(t, before.Field(i).Interface(), kept.Field(i).Interface(), name)
		default:
			t.Errorf("GroupFilter.%s is neither personal nor known to name nobody", name)
		}
	}
	require.Equal(t, []condition.Attribute{{Key: "guid"}, {Key: "host"}}, change.WithoutValues().Filter.Attributes)
	require.Equal(t, filter, change.Filter, "the change itself stays")
}
