package search

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/search"
)

func TestAddress(t *testing.T) {
	t.Parallel()
	project, parent := int64(7), "a/b"
	for want, r := range map[string]search.Result{
		"/console/crashes?version=1.0+b%26c&project=7": {Kind: search.Version, ID: "1.0 b&c", CrashProjectID: &project},
		"/console/crashes/groups/5":                    {Kind: search.CrashGroup, ID: "5"},
		"/console/crashes/groups/a%2Fb#comments":       {Kind: search.CrashComment, ID: "9", ParentID: &parent},
		"/console/tests/cases/a%2Fb/runs/x":            {Kind: search.TestRun, ID: "x", ParentID: &parent},
		"/console/tests/suites/a%2Fb/runs/x":           {Kind: search.SuiteRun, ID: "x", ParentID: &parent},
		"/console/people/devices?search=0000-1A":       {Kind: search.Device, ID: "3", Detail: "0000-1A · ann@example.com"},
		"/console/operate/tasks/%3Cscript%3E":          {Kind: search.Task, ID: "<script>"},
	} {
		require.Equal(t, want, address(&r))
	}
	for _, kind := range search.Kinds() {
		require.True(t, strings.HasPrefix(pages()[kind], "/"), "%s has a page", kind)
	}
}
