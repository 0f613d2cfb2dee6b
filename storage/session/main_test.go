package session_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage/distribution"
	. "github.com/slipway-qa/slipway/storage/session"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// world is an app with a build, and a store.
type world struct {
	*fixture.Fixture
	store *Store
	build *distribution.Build
}

func newWorld(t testing.TB, bounds Bounds) *world {
	f := fixture.New(t)
	store, err := New(f.DB, bounds)
	require.NoError(t, err)
	return &world{Fixture: f, store: store, build: f.Upload(f.NewUpload(fixture.APK("com.example.shop", "1.2", "12"))).Build}
}

// start starts sessions of the build.
func (w *world) start(in ...Start) []Started {
	w.T.Helper()
	for i := range in {
		if in[i].OrganizationID == 0 {
			in[i].OrganizationID, in[i].ProjectID = w.Org.ID, w.build.ProjectID
		}
		require.NoError(w.T, in[i].Clean(time.Now()))
	}
	out, err := w.store.Start(testContext(w.T), in)
	require.NoError(w.T, err)
	return out
}

// batch is a batch of a session with that many lines.
func (w *world) batch(client uuid.UUID, seq int64, lines int) Batch {
	w.T.Helper()
	var events []Event
	for range lines {
		events = append(events, Event{Type: TypeLog, Time: time.Now(), Text: "line"})
	}
	b, err := w.store.NewBatch(w.build.ProjectID, client, seq, events)
	require.NoError(w.T, err)
	return b
}

func (w *world) add(in ...Batch) []Added {
	w.T.Helper()
	out, err := w.store.AddEvents(testContext(w.T), in)
	require.NoError(w.T, err)
	return out
}

func (w *world) session(client uuid.UUID) *Session {
	w.T.Helper()
	s, err := SessionByClient(testContext(w.T), w.DB, w.build.ProjectID, client)
	require.NoError(w.T, err)
	return s
}
