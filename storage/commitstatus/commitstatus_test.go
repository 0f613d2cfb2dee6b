package commitstatus_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	. "github.com/slipway-qa/slipway/storage/commitstatus"
	"github.com/slipway-qa/slipway/storage/distribution"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

var commit = strings.Repeat("0a", 20)

// world is an app with a build that has a commit.
type world struct {
	*fixture.Fixture
	up *distribution.Uploaded
}

func newWorld(t *testing.T) *world {
	w := &world{Fixture: fixture.New(t)}
	w.up = w.upload("1", map[string]string{"commit": commit})
	return w
}

func (w *world) upload(code string, metadata map[string]string) *distribution.Uploaded {
	u := w.NewUpload(fixture.APK("com.example.shop", "1.0", code))
	u.Metadata = metadata
	return w.Upload(u)
}

func (w *world) save(by account.Writer, s Setting) (after *Setting, err error) {
	s.ProjectID = w.up.Project.ID
	err = w.Do(func(ctx context.Context, tx *storage.Tx) (err error) {
		after, err = Save(ctx, tx, by, s)
		return err
	})
	return after, err
}

func (w *world) setting() *Setting {
	w.T.Helper()
	after, err := w.save(w.Org.Owner.Writer, Setting{Provider: GitHub, URL: "https://api.github.com", Repository: "acme/app",
		Context: "gate", Token: []byte("sealed")})
	require.NoError(w.T, err)
	return after
}

// set sets a status of a build.
func (w *world) set(build int64, state State, text string) {
	w.T.Helper()
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		return Set(ctx, tx, Change{OrganizationID: w.Org.ID, ProjectID: w.up.Project.ID, BuildID: build, State: state,
			Text: text, RequestID: "r1"})
	})
}

func (w *world) tasks() int {
	return w.Count(`select count(*) from tasks where kind = $1`, TaskKind)
}

func TestStatusesAreSet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	build := w.up.Build.ID
	w.set(build, Pass, "all conditions hold")
	require.Zero(t, w.tasks(), "the app has no setting")
	w.setting()
	w.set(build, Pending, "waits for 1 of 2")
	w.set(build, Pending, "waits for 1 of 2")
	require.Equal(t, 1, w.tasks(), "what stands is not sent again")
	w.set(build, Pass, "all hold\x00 "+strings.Repeat("x", 200))
	require.Equal(t, 2, w.tasks())
	work, err := Load(fixture.Context(t), w.DB, build)
	require.NoError(t, err)
	require.Equal(t, Status{BuildID: build, Commit: commit, State: Pass, Description: work.Description, Sequence: 2}, work.Status)
	require.True(t, strings.HasPrefix(work.Description, "all hold\uFFFD x") && strings.HasSuffix(work.Description, "x…"), work.Description)
	require.Equal(t, "acme/app", work.Repository)
	var newest struct {
		Payload   json.RawMessage `db:"payload"`
		Queue     string          `db:"queue"`
		Key       string          `db:"concurrency_key"`
		RequestID string          `db:"request_id"`
	}
	require.NoError(t, w.DB.GetContext(t.Context(), &newest,
		`select payload, queue, concurrency_key, request_id from tasks where kind = $1 order by id desc limit 1`, TaskKind))
	require.JSONEq(t, string(newest.Payload), string(mustJSON(t, map[string]int64{"build_id": build, "sequence": 2})))
	require.Equal(t, []string{Queue, "r1"}, []string{newest.Queue, newest.RequestID})
	require.NotEmpty(t, newest.Key)

	// Another setting is another place, where the status does not stand yet.
	w.setting()
	w.set(build, Pass, work.Description)
	require.Equal(t, 3, w.tasks())
}

// Of several builds of an app for one commit the newest counts, whichever changes last.
func TestNewestBuildOfCommit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setting()
	older, newer := w.up.Build.ID, w.upload("2", map[string]string{"commit": " " + strings.ToUpper(commit)}).Build.ID
	elsewhere := w.upload("3", map[string]string{"commit": strings.Repeat("1b", 20)}).Build.ID
	overtaken := func(build int64) bool {
		work, err := Load(fixture.Context(t), w.DB, build)
		require.NoError(t, err)
		return work.Overtaken
	}
	w.set(older, Pending, "waits")
	w.set(elsewhere, Pass, "ok")
	require.Equal(t, 2, w.tasks())
	require.False(t, overtaken(older), "the newer build has no status")
	w.set(newer, Pending, "waits")
	require.Equal(t, 3, w.tasks())
	require.True(t, overtaken(older), "its task sends nothing any more")
	require.False(t, overtaken(newer))
	w.set(older, Pass, "ok")
	require.Equal(t, 3, w.tasks())
	require.Equal(t, 2, w.Count(`select count(*) from tasks where kind = $1 and concurrency_key like '%:' || $2`, TaskKind, commit),
		"one after the other")

	var list []Change
	for _, build := range []int64{elsewhere, newer, older} {
		list = append(list, Change{OrganizationID: w.Org.ID, ProjectID: w.up.Project.ID, BuildID: build, State: Fail, Text: "no"})
	}
	w.Must(func(ctx context.Context, tx *storage.Tx) error { return SetAll(ctx, tx, list) })
	var builds []int64
	require.NoError(t, w.DB.SelectContext(t.Context(), &builds,
		`select (payload ->> 'build_id')::bigint from tasks where kind = $1 order by id desc limit 2`, TaskKind))
	require.Equal(t, []int64{elsewhere, newer}, builds, "in the order of the builds, without the older one")
	require.Equal(t, 5, w.tasks())
	w.Exec(`update builds set deleted_at = now() where id = $1`, newer)
	require.False(t, overtaken(older))
	w.set(older, Pass, "ok")
	require.Equal(t, 6, w.tasks())
}

// Apps of one repository have statuses of their own, also those of one name.
func TestDefaultContext(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, want := range map[string]string{"Shop": "slipway/gate: Shop (android)", strings.Repeat("ü", 200): "slipway/gate: " +
		strings.Repeat("ü", 76) + " (android)"} {
		w.Exec(`update projects set name = $2, platform = 'android' where id = $1`, w.up.Project.ID, name)
		after, err := w.save(w.Org.Owner.Writer, Setting{Provider: GitHub, URL: "https://api.github.com", Repository: "acme/app",
			Token: []byte("sealed")})
		require.NoError(t, err)
		require.Equal(t, want, after.Context)
		require.NoError(t, after.Complete(), "it may be stored again as it is")
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	doc, err := json.Marshal(v)
	require.NoError(t, err)
	return doc
}

func TestStatusesThatAreNotSet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setting()
	for name, build := range map[string]int64{
		"without metadata":  w.upload("2", nil).Build.ID,
		"without a commit":  w.upload("3", map[string]string{"branch": "main"}).Build.ID,
		"of another app":    w.App("com.example.other").Build.ID,
		"that is not there": 1 << 40,
	} {
		w.set(build, Pass, "ok")
		require.Zero(t, w.tasks(), name)
	}
	w.Exec(`update builds set deleted_at = now() where id = $1`, w.up.Build.ID)
	w.set(w.up.Build.ID, Pass, "ok")
	require.Zero(t, w.tasks(), "the build was deleted")
	w.Exec(`update builds set deleted_at = null where id = $1`, w.up.Build.ID)
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		return Set(ctx, tx, Change{OrganizationID: w.Rival.ID, ProjectID: w.up.Project.ID, BuildID: w.up.Build.ID, State: Pass})
	})
	require.Zero(t, w.tasks(), "another organization")
	require.Error(t, w.Do(func(ctx context.Context, tx *storage.Tx) error {
		return Set(ctx, tx, Change{OrganizationID: w.Org.ID, ProjectID: w.up.Project.ID, BuildID: w.up.Build.ID, State: "unknown"})
	}))
	require.ErrorIs(t, w.Do(func(ctx context.Context, tx *storage.Tx) error {
		if err := Set(ctx, tx, Change{OrganizationID: w.Org.ID, ProjectID: w.up.Project.ID, BuildID: w.up.Build.ID, State: Pass}); err != nil {
			return err
		}
		return errRolledBack
	}), errRolledBack)
	require.Zero(t, w.tasks(), "the cause did not come about")
}

var errRolledBack = errors.New("rolled back")

func TestSettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, owner, id := fixture.Context(t), w.Org.Owner.Writer, w.up.Project.ID
	_, err := ForProject(ctx, w.DB, owner, id)
	require.ErrorIs(t, err, storage.ErrNotFound)
	complete := Setting{Provider: GitHub, URL: "https://api.github.com", Repository: "acme/app", Context: "gate"}
	_, err = w.save(owner, complete)
	require.Equal(t, "token", fixture.InvalidField(t, err), "there is none to keep")
	first := w.setting()

	// The token stays while it goes to the same server.
	changed := complete
	changed.Repository = "acme/shop"
	after, err := w.save(owner, changed)
	require.NoError(t, err)
	require.Equal(t, []string{"acme/shop", "sealed"}, []string{after.Repository, string(after.Token)})
	require.NotEqual(t, first.Revision, after.Revision)
	for _, s := range []Setting{{Provider: GitHub, URL: "https://other.example.com"}, {Provider: GitLab, URL: "https://api.github.com"}} {
		s.Repository, s.Context = "acme/app", "gate"
		_, err = w.save(owner, s)
		require.Equal(t, "token", fixture.InvalidField(t, err), "another server must not get the token")
	}

	// Who has no admin rights on the team, or is of another organization.
	elsewhere := owner
	elsewhere.AllTeams, elsewhere.Teams = false, []int64{1 << 40}
	_, err = w.save(elsewhere, changed)
	require.ErrorIs(t, err, distribution.ErrNotTeamAdmin)
	_, err = ForProject(ctx, w.DB, elsewhere, id)
	require.ErrorIs(t, err, distribution.ErrNotTeamAdmin)
	_, err = w.save(w.Rival.Owner.Writer, changed)
	require.ErrorIs(t, err, storage.ErrNotFound)
	_, err = ForProject(ctx, w.DB, w.Rival.Owner.Writer, id)
	require.ErrorIs(t, err, storage.ErrNotFound)

	w.set(w.up.Build.ID, Pass, "ok")
	remove := func(ctx context.Context, tx *storage.Tx) error { return Delete(ctx, tx, owner, id) }
	require.NoError(t, w.Do(remove))
	require.ErrorIs(t, w.Do(remove), storage.ErrNotFound)
	_, err = Load(ctx, w.DB, w.up.Build.ID)
	require.ErrorIs(t, err, storage.ErrNotFound)
	require.Equal(t, 3, w.Audited(account.CommitStatusChanged))
	require.Zero(t, w.Count(`select count(*) from audit_events where detail::text like '%sealed%'`))
}

// What came of an attempt says nothing about a setting that was changed meanwhile.
func TestOutcomesOfAFormerSetting(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := fixture.Context(t)
	w.setting()
	w.set(w.up.Build.ID, Pass, "ok")
	read := func() *Setting {
		s, err := ForProject(ctx, w.DB, w.Org.Owner.Writer, w.up.Project.ID)
		require.NoError(t, err)
		return s
	}
	failure := func(work *Work) {
		w.Must(func(ctx context.Context, tx *storage.Tx) error {
			return RecordFailure(ctx, tx, work, "GitHub answered 401", time.Now())
		})
	}
	former, err := Load(ctx, w.DB, w.up.Build.ID)
	require.NoError(t, err)
	failure(former)
	require.Contains(t, read().LastError, "GitHub answered 401")
	require.NotNil(t, read().LastErrorAt)
	w.setting()
	require.Empty(t, read().LastError, "the setting is another one")
	failure(former)
	require.Empty(t, read().LastError)
	work, err := Load(ctx, w.DB, w.up.Build.ID)
	require.NoError(t, err)
	failure(work)
	w.Must(func(ctx context.Context, tx *storage.Tx) error { return RecordSent(ctx, tx, work, time.Now()) })
	require.Empty(t, read().LastError)
	require.Nil(t, read().LastErrorAt)
	require.NotNil(t, read().LastSentAt)
}

// The rows go with what they belong to.
func TestRowsOfDeletedBuilds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setting()
	w.set(w.up.Build.ID, Pass, "ok")
	w.Exec(`delete from builds where id = $1`, w.up.Build.ID)
	require.Zero(t, w.Count(`select count(*) from commit_statuses`))
}
