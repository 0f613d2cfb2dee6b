package authoring_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/authoring/handler"
	"github.com/slipway-qa/slipway/api/wait"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/storedfile"
	"github.com/slipway-qa/slipway/storage/object"
	store "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/run/reading"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/tasks/outbound"
)

// withObjects gives the handlers a store of files.
func withObjects(t testing.TB) func(*handler.Config) {
	t.Helper()
	store, err := object.Open(t.Context(), object.Config{URL: t.TempDir(), PublicURL: base, SigningKey: make([]byte, 32)})
	require.NoError(t, err)
	t.Cleanup(func() { _ = store.Close() })
	return func(cfg *handler.Config) { cfg.Objects = store }
}

// withWatcher gives the handlers a watcher that looks very often.
func withWatcher(t testing.TB) func(*handler.Config) {
	t.Helper()
	return func(cfg *handler.Config) {
		db := cfg.DB
		cfg.Watcher = wait.NewWatcher(wait.Config{Interval: 5 * time.Millisecond,
			Ended: func(ctx context.Context, ids []uuid.UUID) ([]uuid.UUID, error) {
				return reading.Ended(ctx, db, ids)
			}})
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() { defer close(done); cfg.Watcher.Run(ctx) }()
		t.Cleanup(func() { cancel(); <-done })
	}
}

// withGuard gives the handlers the strict guard of addresses.
func withGuard(t testing.TB) func(*handler.Config) {
	t.Helper()
	guard, err := outbound.New(outbound.Config{})
	require.NoError(t, err)
	return func(cfg *handler.Config) { cfg.Guard = guard }
}

// newTunnel keeps a tunnel whose password is "opensesame".
func (w *world) newTunnel(name string) {
	w.t.Helper()
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		_, err := authoring.CreateTunnel(ctx, tx, account.Writer{OrganizationID: w.ours.ID, UserUUID: w.owner.UserUUID, Admin: true,
			Actor: account.CLI()}, seal.Ring{make([]byte, 32)}, name, "http://user:opensesame@proxy.example.com:3128")
		return err
	})
}

// newBuild uploads an app to team one of ours.
func (w *world) newBuild(fileName string) (id int64) {
	w.t.Helper()
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		up, err := distribution.CreateBuild(ctx, tx, distribution.Upload{
			Writer: auth.CallerOf(auth.WithCaller(ctx, w.member, auth.UploadBuilds)).Writer(account.Actor{UserID: w.member.UserID,
				Name: w.member.Label()}), Via: "upload", TeamID: w.one.ID,
			FileName: fileName,
			File: storedfile.NewFile{Key: storedfile.Prefix + uuid.NewString(), Size: 1, SHA256: strings.Repeat("0", 64),
				ContentType: "application/octet-stream"},
			Package: &artifact.Package{Kind: artifact.APK, Platform: artifact.Android, Name: "Shop", PackageName: "com.example.shop",
				Version: "1.2", VersionCode: "20", MinOSVersion: "24"}})
		require.NoError(w.t, err)
		id = up.Build.ID
		return nil
	})
	return id
}

// start runs a case and gives the run's record.
func (w *world) start(caseID, text string) tree {
	w.t.Helper()
	return w.ok(w.member, 200, "POST", "/testcases/"+caseID+"/run", text)
}

// jobOf returns a job of a run's record.
func jobOf(run tree, n int) tree { return run["jobs"].([]any)[n].(tree) }

func idOf(view tree) uuid.UUID { return uuid.MustParse(view["id"].(string)) }

// begin and end are what a worker does with a job.
func (w *world) begin(job uuid.UUID) {
	w.t.Helper()
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		_, _, err := store.BeginJob(ctx, tx, job)
		return err
	})
}

func (w *world) end(job uuid.UUID, end store.JobEnd) {
	w.t.Helper()
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		did, err := store.EndJob(ctx, tx, job, end)
		require.True(w.t, did)
		return err
	})
}

// fanOut does the task of a suite run, and gives the jobs by the names of their
// cases.
func (w *world) fanOut(suiteRun uuid.UUID) map[string]uuid.UUID {
	w.t.Helper()
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		made, err := store.FanOut(ctx, tx, suiteRun, "slipway", 100)
		require.False(w.t, made.More)
		return err
	})
	runs, err := reading.OfSuiteRun(w.t.Context(), w.db, suiteRun)
	require.NoError(w.t, err)
	jobs := map[string]uuid.UUID{}
	for _, run := range runs {
		jobs[run.CaseName] = run.Jobs[0].ID
	}
	return jobs
}

// members are the names of an object's members.
func members(of tree) []string {
	out := []string{}
	for name := range of {
		out = append(out, name)
	}
	return out
}

func asJSON(t testing.TB, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return string(text)
}

// requireMembers checks members of an object of an answer.
func requireMembers(t testing.TB, of, want tree) {
	t.Helper()
	for name, value := range want {
		require.Equal(t, value, of[name], name)
	}
}
