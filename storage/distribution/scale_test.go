package distribution_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	. "github.com/slipway-qa/slipway/storage/distribution"
)

func TestPagesFromBothEnds(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	f.App("com.example.before")
	project := f.ManyBuilds(60)
	f.App("com.example.after")
	var want []int64
	require.NoError(t, f.DB.SelectContext(testContext(t), &want, `select id from builds where project_id = $1 order by id desc`, project))
	for _, size := range []int{1, 7, 30, 59, 60, 100} {
		got := []int64{}
		for offset := 0; ; offset += size {
			list, total, err := Builds(testContext(t), f.DB, f.Org.ID, project, BuildFilter{}, storage.Page{Limit: size, Offset: offset})
			require.NoError(t, err)
			require.Equal(t, 60, total)
			if len(list) == 0 {
				break
			}
			require.LessOrEqual(t, len(list), size)
			for _, b := range list {
				got = append(got, b.ID)
			}
		}
		require.Equal(t, want, got)
	}
}

// The plans must not depend on what the planner believes of other projects.
func TestListsReadTheirIndexes(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	project := f.ManyBuilds(2000)
	f.Exec(`analyze builds`)
	plan := func(query string, args ...any) string {
		var lines []string
		require.NoError(t, f.DB.SelectContext(testContext(t), &lines, `explain `+query, args...))
		return strings.Join(lines, "\n")
	}
	for _, query := range PageQueries() {
		require.Contains(t, plan(query, project, 25, 0), "using builds_project on builds")
	}
	for index, f := range map[string]BuildFilter{
		"builds_project": {Search: "x"},
		"builds_newest":  {Version: "1.1", Tag: "x"},
	} {
		query, args := FilterQuery(f, project)
		args[5] = 25 // the depth: less than the project has
		require.Contains(t, plan(query, args...), "using "+index+" on builds")
	}
}

// A search looks at the newest builds only, a version is found among all.
func TestSearchIsBounded(t *testing.T) {
	t.Parallel()
	f := fixture.New(t)
	project := f.ManyBuilds(SearchDepth + 10)
	f.Exec(`update builds set tags = '{old}', release_notes = 'Old', version = '0.9'
		where id in (select id from builds order by id limit 11)`)
	for _, row := range []struct {
		f     BuildFilter
		total int
	}{
		{BuildFilter{Tag: "old"}, 1},
		{BuildFilter{Search: "old"}, 1},
		{BuildFilter{Search: "1."}, SearchDepth - 1},
		{BuildFilter{Version: "0.9"}, 11},
		{BuildFilter{Version: "0.9", Tag: "old"}, 11},
	} {
		list, total, err := Builds(testContext(t), f.DB, f.Org.ID, project, row.f, storage.Page{Limit: 20})
		require.NoError(t, err)
		require.Equal(t, row.total, total)
		require.Len(t, list, min(row.total, 20))
	}
}
