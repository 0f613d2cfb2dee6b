package crash_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/buildcommit"
	"github.com/slipway-qa/slipway/storage/distribution/storedfile"
)

// upload stores a build of the app whose crashes the project has.
func (w *world) upload(writer account.Writer, team int64, version string) int64 {
	w.t.Helper()
	var up *distribution.Uploaded
	w.in(func(ctx context.Context, tx *storage.Tx) (err error) {
		up, err = distribution.CreateBuild(ctx, tx, distribution.Upload{Writer: writer, Via: "v3", TeamID: team, FileName: "shop.apk",
			Metadata: map[string]string{"commit": strings.Repeat(version, 40)},
			File: storedfile.NewFile{Key: storedfile.Prefix + uuid.NewString(), Size: 1,
				SHA256: strings.Repeat(version, 64), ContentType: "a/b"},
			Package: &artifact.Package{Kind: artifact.APK, Platform: artifact.Android, Name: "Shop", PackageName: "com.shop",
				Version: version, VersionCode: version}})
		return err
	})
	w.exec(`update crash_projects set project_id = $1 where id = $2`, up.Project.ID, w.project)
	return up.Build.ID
}

func (w *world) in(do func(context.Context, *storage.Tx) error) {
	w.t.Helper()
	require.NoError(w.t, w.db.InTx(w.t.Context(), func(tx *storage.Tx) error { return do(w.t.Context(), tx) }))
}

func (w *world) exec(query string, args ...any) {
	w.t.Helper()
	_, err := w.db.ExecContext(w.t.Context(), query, args...)
	require.NoError(w.t, err)
}

// The stack of the stored report is compared, and only members' addresses are shown.
func TestSuspectChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.user(w.org, "ann", account.Member)
	var team *account.Team
	w.in(func(ctx context.Context, tx *storage.Tx) (err error) {
		team, err = account.CreateTeam(ctx, tx, account.CLI(), account.NewTeam{OrganizationID: w.org, Name: "shop"})
		return err
	})
	writer := account.Writer{OrganizationID: w.org, Admin: true, AllTeams: true, Actor: account.CLI()}
	first := w.upload(writer, team.ID, "1")
	w.crash(w.project, "a", true)
	group := w.groupID("a")
	path := fmt.Sprint("/crash-groups/", group, "/suspect-changes")
	get := func() map[string]any { return w.get(path)["suspect_changes"].(map[string]any) }
	got := get()
	require.Equal(t, "no_build", got["state"])
	require.Nil(t, got["first_build"])
	require.Empty(t, got["suspects"])
	require.Empty(t, got["others"])

	second := w.upload(writer, team.ID, "2")
	w.exec(`insert into crash_group_reach (group_id, first_build_id, last_build_id) values ($1, $2, $2)
		on conflict (group_id) do update set first_build_id = $2, last_build_id = $2`, group, second)
	require.Equal(t, "no_commits", get()["state"])
	set := func(paths ...string) {
		w.in(func(ctx context.Context, tx *storage.Tx) error {
			return buildcommit.Set(ctx, tx, writer, second, &buildcommit.Commits{Commits: []buildcommit.Commit{
				{ID: strings.Repeat("a", 40), AuthorName: "Ann", AuthorEmail: strings.ToUpper(ann.Label()), At: time.Unix(1, 0),
					Message: "one", Paths: paths},
				{ID: strings.Repeat("b", 40), AuthorName: "Stranger", AuthorEmail: "stranger@example.com", At: time.Unix(1, 0),
					Message: "two", Paths: []string{"docs/pay.md", "repay.go"}, PathsOmitted: 2},
			}})
		})
	}
	set("x.go")
	require.Equal(t, "no_match", get()["state"], "pay.md is not pay.go, nor is repay.go")
	set("cart/pay.go")
	got = get()
	require.Equal(t, "suspects", got["state"])
	require.EqualValues(t, second, got["first_build"].(map[string]any)["id"])
	require.EqualValues(t, first, got["build_before"].(map[string]any)["id"])
	require.NotNil(t, got["crash_id"])
	suspects := got["suspects"].([]any)
	one := suspects[0].(map[string]any)
	require.Equal(t, "one", one["message"])
	require.EqualValues(t, ann.ID, one["author"].(map[string]any)["member"].(map[string]any)["id"])
	reason := one["reasons"].([]any)[0].(map[string]any)
	require.Equal(t, map[string]any{"what": "file_name", "points": 20.0, "files": []any{"cart/pay.go"}, "function": "pay"}, reason)
	others := got["others"].([]any)
	require.Len(t, others, 1)
	require.Equal(t, map[string]any{"name": "Stranger", "member": nil}, others[0].(map[string]any)["author"])
	require.NotContains(t, fmt.Sprint(got), "stranger@example.com")
	require.EqualValues(t, 2, others[0].(map[string]any)["files"])
	require.EqualValues(t, 2, others[0].(map[string]any)["files_omitted"])

	set("x.go", "pay.go.orig")
	got = get()
	require.Equal(t, "no_match", got["state"])
	require.Len(t, got["others"], 2)

	require.Equal(t, 404, w.call(w.other, "GET", path, "").Code)
	require.Equal(t, 400, w.call(w.org, "GET", path+"?page=2", "").Code)
	require.Equal(t, 404, w.call(w.org, "GET", "/crash-groups/999999/suspect-changes", "").Code)
}
