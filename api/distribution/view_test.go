package distribution

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/grant"
	"github.com/slipway-qa/slipway/storage/setting"
	"github.com/slipway-qa/slipway/tasks/link"
)

func shown(t *testing.T, v any) map[string]any {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	var tree map[string]any
	require.NoError(t, json.Unmarshal(text, &tree))
	return tree
}

func TestBuildViewOfNothing(t *testing.T) {
	t.Parallel()
	v := NewViews(link.New("https://qa.example.com/"), "slipway")
	got := shown(t, v.BuildView(&distribution.Build{ID: 7, Token: "tok", Signer: &artifact.Signer{}, Provisioning: &artifact.Provisioning{}}))
	for _, list := range []any{got["tags"], got["abis"], got["warnings"], got["signer"].(map[string]any)["schemes"],
		got["provisioning"].(map[string]any)["devices"]} {
		require.Equal(t, []any{}, list)
	}
	require.Equal(t, map[string]any{}, got["metadata"])
	require.Equal(t, "", got["icon"])
	require.Equal(t, "https://qa.example.com/install/tok", got["install_url"])
	got = shown(t, v.BuildView(&distribution.Build{}))
	for _, member := range []string{"signer", "provisioning", "symbols", "expires_at"} {
		require.Contains(t, got, member)
		require.Nil(t, got[member], member)
	}
}

func TestTimesAreUTC(t *testing.T) {
	t.Parallel()
	v := NewViews(link.New("https://qa.example.com"), "")
	at := time.Date(2026, 1, 2, 1, 4, 5, 0, time.FixedZone("east", 2*3600))
	b := &distribution.Build{CreatedAt: at, UpdatedAt: at, ExpiresAt: &at, Signer: &artifact.Signer{Expires: at}}
	got := shown(t, v.BuildView(b))
	const want = "2026-01-01T23:04:05Z"
	require.Equal(t, want, got["created_at"])
	require.Equal(t, want, got["expires_at"])
	require.Equal(t, want, got["signer"].(map[string]any)["expires"])
	require.Equal(t, want, shown(t, v.ProjectView(&distribution.Project{CreatedAt: at}))["created_at"])
	require.Equal(t, "2026-01-01 23:04:05", v.build2(b).UploadDate)
	require.Equal(t, "2026-01-01 23:04:05", v.build1(b, 0)["uploadedAt"])
}

func TestBuild1(t *testing.T) {
	t.Parallel()
	b := &distribution.Build{ID: 8830728, ProjectID: 19, Token: "tok", AppName: "GroupShot", Version: "1.2", VersionCode: "20",
		IconKey: "builds/x", HasSDK: true, Options: "metrics, Video:wifi", Crashes: 3, Downloads: 1}
	got := NewViews(link.New("https://qa.example.com"), "acme").build1(b, 4)
	require.Equal(t, "8830728", got["id"])
	require.Equal(t, "/projects/19-groupshot/builds/8830728", got["self"])
	require.Equal(t, "GroupShot - 1.2 (20)", got["appDisplayName"])
	require.Equal(t, "https://qa.example.com/install/tok/icon", got["iconUrl"])
	require.Equal(t, "https://qa.example.com/install/tok/download", got["appUrl"])
	require.Equal(t, true, got["hasAcmeSdk"])
	require.Equal(t, true, got["videoEnabled"])
	require.Equal(t, false, got["insightsEnabled"])
	require.Equal(t, 4, got["testers"])
	require.Equal(t, "App", displayName(&distribution.Build{AppName: "App"}))
}

func TestSelfPath(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"GroupShot": "/projects/5-groupshot", "My App 2!": "/projects/5-my-app-2", "": "/projects/5", "Ünïcode": "/projects/5-ncode",
		"../..": "/projects/5", "日本": "/projects/5", strings.Repeat("a", 90): "/projects/5-" + strings.Repeat("a", 40),
		strings.Repeat("a", 39) + " b": "/projects/5-" + strings.Repeat("a", 39),
	} {
		require.Equal(t, want, selfPath(5, name), name)
	}
}

func TestGroupsOf(t *testing.T) {
	t.Parallel()
	type g = grant.Groups
	for _, one := range []struct {
		list body.List
		want g
	}{
		{nil, g{}}, {body.List{}, g{Given: true}}, {body.List{"None"}, g{Given: true}}, {body.List{"ALL"}, g{Given: true, All: true}},
		{body.List{"a", "7"}, g{Given: true, Names: []string{"a", "7"}}},
		{body.List{"a", "all", "none"}, g{Given: true, All: true, Names: []string{"a", "none"}}},
	} {
		require.Equal(t, one.want, groupsOf(one.list), "%v", one.list)
	}
	require.Equal(t, g{}, copiedGroups(body.List{}))
}

func TestProblems(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		err          error
		status, code int
	}{
		{distribution.ErrNoAccess, 403, 99}, {setting.ErrLoginRequired, 400, 156}, {distribution.ErrSlugTaken, 409, 2},
		{distribution.ErrNoTeam, 400, 1}, {distribution.ErrSeveralTeams, 400, 136}, {storage.ErrConflict, 409, 2},
		{storage.Wrap(errors.Join(distribution.ErrNoAccess, storage.ErrConflict), "x"), 403, 99},
	} {
		var p *respond.Problem
		require.ErrorAs(t, problem(one.err), &p)
		require.Equal(t, one.status, p.Status, one.err)
		require.Equal(t, one.code, p.Legacy, one.err)
	}
	require.NoError(t, problem(nil))
	other := errors.New("other")
	require.Equal(t, other, problem(other))
}
