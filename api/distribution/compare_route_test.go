package distribution_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/distribution"
)

// The build before is the newest older one of the same app, kind and channel, or the one that
// the request names; nobody compares with what is of others.
func TestCompareBuild(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	on := func(channel string, permissions ...string) func(*distribution.Upload) {
		return func(u *distribution.Upload) {
			u.Metadata = map[string]string{"channel": channel}
			u.Package.TargetOS, u.Package.Permissions = "34", permissions
		}
	}
	first := w.build(version("1", "1"), on("beta", "b", "a", "b")).Build
	require.Equal(t, []string{"a", "b"}, first.Permissions, "sorted, each once")
	w.build(version("2", "2"), on("nightly", "z"))
	w.build(version("2", "2"), on("beta", "z"), func(u *distribution.Upload) { u.Package.Kind = artifact.AAB })
	w.build(version("2", "2"), on("beta", "z"), of("com.other"))
	gone := w.build(version("2", "2"), on("beta", "z")).Build
	w.ok(w.owner, 200, "PUT", p("/api/v3/builds/%d", gone.ID), `{"keep":false}`)
	require.Equal(t, 204, w.call(w.owner, "DELETE", p("/api/v3/builds/%d", gone.ID), "").Code)
	last := w.buildOf(make([]byte, 1000), version("3", "3"), on("beta", "b", "c")).Build

	got := w.ok(w.neighbor, 200, "GET", p("/api/v3/builds/%d/compare", last.ID), "")["comparison"].(map[string]any)
	require.EqualValues(t, first.ID, got["with_id"])
	require.EqualValues(t, 1000-first.File.Size, got["size_difference"])
	require.Equal(t, []any{"version", "version_code"}, names(got["changes"].([]any), "member"))
	require.Equal(t, []any{"c"}, got["permissions_added"])
	require.Equal(t, []any{"a"}, got["permissions_removed"])

	view := w.ok(w.member, 200, "GET", p("/api/v3/builds/%d", last.ID), "")["build"].(map[string]any)
	require.Equal(t, []any{"b", "c"}, view["permissions"])
	require.Equal(t, "34", view["target_os"])
	copied := w.ok(w.owner, 201, "POST", p("/api/v3/builds/%d/copy", last.ID), "")["build"].(map[string]any)
	require.Equal(t, view["permissions"], copied["permissions"])
	require.Equal(t, "34", copied["target_os"])

	unread := w.build(version("4", "4"), func(u *distribution.Upload) { u.Metadata = map[string]string{"channel": "alone"} }).Build
	require.Nil(t, w.ok(w.member, 200, "GET", p("/api/v3/builds/%d", unread.ID), "")["build"].(map[string]any)["permissions"])
	got = w.ok(w.member, 200, "GET", p("/api/v3/builds/%d/compare", unread.ID), "")["comparison"].(map[string]any)
	require.Nil(t, got["with_id"], "none is before it in its channel")
	got = w.ok(w.member, 200, "GET", p("/api/v3/builds/%d/compare?with=%d", unread.ID, first.ID), "")["comparison"].(map[string]any)
	require.EqualValues(t, first.ID, got["with_id"])
	require.Equal(t, false, got["permissions_known"])

	w.refused(w.stranger, 404, "GET", p("/api/v3/builds/%d/compare", last.ID), "")
	for _, with := range []string{"x", "0", "999999", p("%d", gone.ID)} {
		w.refused(w.member, 400, "GET", p("/api/v3/builds/%d/compare?with=%s", last.ID, with), "", "with: ")
	}
}
