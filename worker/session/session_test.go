package session

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/session"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

type world struct {
	*fixture.Fixture
	store *session.Store
	build *distribution.Build
}

func newWorld(t *testing.T) *world {
	f := fixture.New(t)
	store, err := session.New(f.DB, session.Bounds{})
	require.NoError(t, err)
	return &world{Fixture: f, store: store, build: f.Upload(f.NewUpload(fixture.APK("com.example.shop", "1.2", "12"))).Build}
}

// session starts a session of a version, with a line of log.
func (w *world) session(version string) uuid.UUID {
	w.T.Helper()
	client := uuid.New()
	_, err := w.store.Start(w.T.Context(), []session.Start{{OrganizationID: w.Org.ID, ProjectID: w.build.ProjectID, ClientID: client,
		Version: version, StartedAt: time.Now()}})
	require.NoError(w.T, err)
	b, err := w.store.NewBatch(w.build.ProjectID, client, 1, []session.Event{{Type: session.TypeLog, Time: time.Now(), Text: "line"}})
	require.NoError(w.T, err)
	_, err = w.store.AddEvents(w.T.Context(), []session.Batch{b})
	require.NoError(w.T, err)
	return client
}

func (w *world) claim(kind tasks.Kind, id uuid.UUID) *worker.Claim {
	return worker.NewClaim(w.DB, w.Claim(kind.Name, id, 0))
}

func TestMaintenance(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	silent, old := w.session("1.2"), w.session("1.2")
	w.session("1.2")
	for client, age := range map[uuid.UUID]string{silent: "3 hours", old: "100 days"} {
		_, err := w.DB.ExecContext(t.Context(),
			`update app_sessions set received_at = now() - $2::interval, last_at = now() - $2::interval where client_id = $1`, client, age)
		require.NoError(t, err)
	}
	handler, err := NewMaintenance(w.DB, Rules{Silence: 2 * time.Hour, Keep: 90 * 24 * time.Hour, ProjectBytes: 100})
	require.NoError(t, err)
	id := w.Insert(tasks.NewMaintenance(tasks.SessionMaintenance))
	claim := w.claim(tasks.SessionMaintenance, id)
	require.NoError(t, handler.Handle(t.Context(), claim))
	var sum Result
	w.Fixture.Result(id, &sum)
	require.EqualValues(t, 2, sum.Ended)
	require.EqualValues(t, 1, sum.Expired)
	require.Positive(t, sum.Trimmed)
	require.ErrorIs(t, handler.Handle(t.Context(), claim), storage.ErrStale)
	require.Equal(t, 3, w.Count(`select sessions from builds where id = $1`, w.build.ID), "the count stays")
	require.Equal(t, 1, w.Count(`select count(*) from app_sessions where ended_at is null`))
	for _, rules := range []Rules{{}, {Silence: time.Hour}, {Silence: 1, Keep: 1, ProjectBytes: -1}} {
		_, err := NewMaintenance(w.DB, rules)
		require.Error(t, err)
	}
}

func TestRemovalOfBuild(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.session("1.2")
	w.session("9")
	key := session.ScreenshotPrefix + uuid.NewString()
	_, err := object.Put(t.Context(), w.Objects(), key, bytes.NewReader([]byte("x")), 1, object.WriteOptions{})
	require.NoError(t, err)
	w.Must(func(ctx context.Context, tx *storage.Tx) error {
		_, err := session.AddFeedback(ctx, tx, session.NewFeedback{OrganizationID: w.Org.ID, ProjectID: w.build.ProjectID, BuildID: w.build.ID,
			Text: "x", ScreenshotKey: key})
		return err
	})
	builds := &Builds{Objects: w.Objects(), Log: slog.New(slog.DiscardHandler)}
	id := w.Insert(tasks.NewBuildDelete(w.Org.ID, "", w.build.ID))
	lost := w.claim(tasks.BuildDelete, id)
	w.Rescue(id)
	claim := w.claim(tasks.BuildDelete, id)
	require.ErrorIs(t, builds.RemoveOfBuilds(t.Context(), lost, w.build.ID), storage.ErrStale)
	require.Equal(t, 2, w.Count(`select count(*) from app_sessions`), "a lost claim removes nothing")
	for range 2 {
		require.NoError(t, builds.RemoveOfBuilds(t.Context(), claim, w.build.ID))
	}
	require.Equal(t, 1, w.Count(`select count(*) from app_sessions`), "that of no build stays")
	require.Zero(t, w.Count(`select count(*) from feedbacks`))
	_, err = w.Objects().Stat(t.Context(), key)
	require.ErrorIs(t, err, object.ErrNotFound)
	require.NoError(t, builds.RemoveOfProject(t.Context(), claim, w.build.ProjectID))
	require.Zero(t, w.Count(`select count(*) from app_sessions`))
	require.Zero(t, w.Count(`select count(*) from app_session_batches`))
}
