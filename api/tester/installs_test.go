package tester_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/install"
)

func TestInstalls(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Group("QA", w.annID, w.bobID)
	path, theirs := p("/api/v3/builds/%d/installs", w.build), p("/api/v3/testers/%d/installs", w.ann)
	tree := w.ok(w.member, 200, "GET", path, "")
	require.Empty(t, items(tree, "installs"))
	require.Equal(t, object{"downloaded": 0.0, "installed": 0.0, "exact": true}, tree["people"])
	w.ok(w.owner, 201, "POST", p("/api/v3/builds/%d/invites", w.build), `{"groups":["QA"]}`)
	record := func(user int64, channel install.Channel, device string) {
		w.Must(func(ctx context.Context, tx *storage.Tx) error {
			return install.Record(ctx, tx, []install.Seen{{OrganizationID: w.Org.ID, BuildID: w.build, UserID: user,
				Channel: channel, Device: device}})
		})
	}
	record(0, install.Page, "")
	record(w.bobID, install.Manifest, "iPhone14,5, iOS 18.6")
	record(w.annID, install.Page, "Android 15")
	record(w.annID, install.Session, "Pixel 8, Android 15")
	record(w.annID, install.Session, "Pixel 8, Android 15")
	tree = w.ok(w.member, 200, "GET", path, "")
	require.Equal(t, object{"downloaded": 2.0, "installed": 1.0, "exact": true}, tree["people"])
	require.Equal(t, object{"page": 1.0, "per_page": 25.0, "total": 4.0, "total_pages": 1.0}, tree["pagination"])
	list := items(tree, "installs")
	require.ElementsMatch(t, []string{"id", "build_id", "project_id", "app_name", "version", "version_code", "tester_id",
		"user_id", "email", "name",
		"role", "channel", "status", "device", "count", "first_at", "last_at"}, keys(list[0]))
	require.Equal(t, []any{float64(w.annID), float64(w.annID), float64(w.bobID), 0.0}, texts(list, "user_id"))
	require.Equal(t, []any{"installed", "downloaded", "downloaded", "downloaded"}, texts(list, "status"))
	require.Equal(t, []any{"Pixel 8, Android 15", 2.0, float64(w.ann), "tester"}, []any{list[0]["device"], list[0]["count"],
		list[0]["tester_id"], list[0]["role"]})
	require.Equal(t, []any{"session"}, texts(items(w.ok(w.member, 200, "GET", path+"?channel=session", ""), "installs"), "channel"))
	require.Len(t, items(w.ok(w.member, 200, "GET", path+p("?user_id=%d", w.annID), ""), "installs"), 2)
	require.Len(t, items(w.ok(w.member, 200, "GET", path+"?page=2&per_page=3", ""), "installs"), 1)
	require.Equal(t, "private, no-store", w.call(w.member, "GET", path, "").Header().Get("Cache-Control"))
	require.Equal(t, []any{"session", "page"}, texts(items(w.ok(w.member, 200, "GET", theirs, ""), "installs"), "channel"))

	invites := items(w.ok(w.member, 200, "GET", p("/api/v3/builds/%d/invites", w.build), ""), "invites")
	require.Equal(t, list[0]["first_at"], invites[0]["used_at"], "the session shows that it is installed")
	require.Nil(t, invites[1]["used_at"], "a manifest that was fetched does not")

	w.refused(w.owner, 400, 0, "GET", path+"?channel=lost", "channel")
	w.refused(w.owner, 400, 0, "GET", path+"?user_id=ann", "user_id")
	w.refused(w.owner, 400, 0, "GET", path+"?page=0", "")
	w.refused(w.owner, 404, 0, "GET", p("/api/v3/builds/%d/installs", w.theirBuild), "")
	w.refused(w.stranger, 404, 0, "GET", path, "")
	w.refused(w.stranger, 404, 0, "GET", theirs, "")
}
