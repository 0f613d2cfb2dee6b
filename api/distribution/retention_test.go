package distribution_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Who may not delete builds sets no retention, which deletes them.
func TestRetention(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var ids []float64
	up := w.build()
	ids = append(ids, float64(up.Build.ID))
	for range 3 {
		ids = append(ids, float64(w.build().Build.ID))
	}
	app := p("/api/v3/projects/%d", up.Project.ID)
	shown := func() (list []float64) {
		got := w.ok(w.member, 200, "GET", app+"/retention", "")
		for _, b := range got["builds"].([]any) {
			list = append(list, b.(map[string]any)["id"].(float64))
		}
		require.EqualValues(t, len(list), got["pagination"].(map[string]any)["total"])
		return list
	}
	require.Empty(t, shown())
	w.refused(w.member, 403, "PUT", app, `{"retention_builds":1}`)
	w.refused(w.member, 403, "POST", "/api/v3/projects", p(`{"name":"Other","team_id":%d,"retention_days":1}`, w.one))
	require.Zero(t, w.count(`select count(*) from projects where name = 'Other' or retention_builds is not null`))
	got := w.ok(w.lead, 200, "PUT", app, `{"retention_builds":2}`)["project"].(map[string]any)
	require.Equal(t, []any{2.0, nil}, []any{got["retention_builds"], got["retention_days"]})
	require.Equal(t, ids[:2], shown())
	build := w.ok(w.member, 200, "PUT", p("/api/v3/builds/%.0f", ids[0]), `{"keep":true}`)["build"].(map[string]any)
	require.Equal(t, true, build["keep"])
	require.Equal(t, ids[1:2], shown())
	require.Equal(t, true, w.ok(w.member, 200, "PUT", p("/api/v3/builds/%.0f", ids[0]), `{"tags":[]}`)["build"].(map[string]any)["keep"])
	for _, bad := range []string{`{"retention_builds":-1}`, `{"retention_builds":"x"}`, `{"retention_days":36501}`} {
		w.refused(w.lead, 400, "PUT", app, bad)
	}
	made := w.ok(w.lead, 201, "POST", "/api/v3/projects", p(`{"name":"Other","team_id":%d,"retention_days":0}`,
		w.one))["project"].(map[string]any)
	require.Equal(t, []any{nil, 0.0}, []any{made["retention_builds"], made["retention_days"]})
	got = w.ok(w.lead, 200, "PUT", app, "retention_builds=null")["project"].(map[string]any)
	require.Nil(t, got["retention_builds"])
	require.Empty(t, shown())
	for path, status := range map[string]int{app + "/retention": 404, "/api/v3/projects/x/retention": 404} {
		w.refused(w.stranger, status, "GET", path, "")
	}
	w.refused(w.member, 400, "GET", app+"/retention?page=0", "")
}
