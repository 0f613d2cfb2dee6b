package attempt_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/run/attempt"
	"github.com/slipway-qa/slipway/storage/step/playback"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

func TestFollows(t *testing.T) {
	t.Parallel()
	mends := map[string]bool{
		run.CodeStepFailed: true, run.CodeAssertionFailed: true, run.CodeDrifted: true, run.CodeUnreachable: true, run.CodeBrowserLost: true,
		run.CodeTimeout: true, run.CodeNoSession: false, run.CodeForbidden: false, run.CodeWorkerLost: false, run.CodeVariable: false,
		run.CodeApp: false, run.CodeTunnel: false, run.CodeCancelled: false, run.CodeInternal: false, "SOMETHING_ELSE": false,
	}
	for code, want := range mends {
		for _, status := range []run.Status{run.Failed, run.Errored} {
			require.Equal(t, want, attempt.Follows(&run.JobEnd{Status: status, ErrorCode: code}, 1, 0), code)
		}
		for _, status := range []run.Status{run.Passed, run.Cancelled} {
			require.False(t, attempt.Follows(&run.JobEnd{Status: status, ErrorCode: code}, 3, 0), code)
		}
	}
	failed := &run.JobEnd{Status: run.Failed, ErrorCode: run.CodeStepFailed}
	require.False(t, attempt.Follows(failed, 0, 0))
	require.True(t, attempt.Follows(failed, 2, 1))
	require.False(t, attempt.Follows(failed, 2, 2))
}

func TestAttemptsAreKept(t *testing.T) {
	t.Parallel()
	w := fixture.NewTests(t)
	r := w.NewRun(w.NewCase(w.Org.Member.Writer, "log in"), 1)
	job := r.Jobs[0].ID
	end := func(n int) (kept bool) {
		id := uuid.New()
		w.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
			kept, err = attempt.End(ctx, tx, job, run.JobEnd{Status: run.Failed, ErrorCode: run.CodeStepFailed, Error: "no\x00 such element",
				Records: []playback.Record{{StepID: "s1", Status: playback.Failed}},
				Files:   []run.NewFile{{ID: id, Kind: run.Screenshot, Step: n, Key: run.FileKey(job, id), ContentType: "image/png", Size: 7}}})
			return err
		})
		return kept
	}
	require.False(t, end(1), "it has not begun")
	require.Equal(t, 0, w.Count(`select count(*) from run_files`))
	for n := 1; n <= 2; n++ {
		_, _, err := w.Begin(job)
		require.NoError(t, err)
		require.True(t, end(n))
	}
	_, lost, err := w.Begin(job)
	require.NoError(t, err)
	require.Empty(t, lost, "the files of attempts that were kept stay")
	w.MustEnd(job, run.Passed)

	got := w.ReadRun(r)
	require.Equal(t, run.Flaky, got.Jobs[0].Status)
	require.Equal(t, run.Passed, got.Status)
	require.Equal(t, 1, got.Flaky)
	require.Empty(t, got.Jobs[0].Files)
	require.NoError(t, attempt.Read(fixture.Context(t), w.DB, []*run.Job{&got.Jobs[0]}))
	require.Len(t, got.Jobs[0].Earlier, 2)
	for i, a := range got.Jobs[0].Earlier {
		require.Equal(t, i+1, a.Number)
		require.Equal(t, "no\uFFFD such element", a.Error)
		require.Len(t, a.Records, 1)
		require.Len(t, a.Files, 1)
		require.Equal(t, i+1, a.Files[0].Step)
	}
	require.False(t, end(3), "it has ended")
	require.Equal(t, 2, w.Count(`select count(*) from test_attempts`))

	w.Exec(`delete from test_runs`)
	require.Zero(t, w.Count(`select count(*) from test_attempts`))
}

// Files that are named while a job runs are of the attempt that is played: they are
// forgotten with it, and kept with it once.
func TestFilesOfTheAttemptThatIsPlayed(t *testing.T) {
	t.Parallel()
	w := fixture.NewTests(t)
	job := w.NewRun(w.NewCase(w.Org.Member.Writer, "log in"), 1).Jobs[0].ID
	file := func() run.NewFile {
		id := uuid.New()
		return run.NewFile{ID: id, Kind: run.Screenshot, Key: run.FileKey(job, id), ContentType: "image/png", Size: 7}
	}
	name := func(f run.NewFile) {
		w.Must(func(ctx context.Context, tx *storage.Tx) error { return run.NameFiles(ctx, tx, job, []run.NewFile{f}) })
	}
	for n := 1; n <= 2; n++ {
		_, _, err := w.Begin(job)
		require.NoError(t, err)
		name(file())
		w.Must(func(ctx context.Context, tx *storage.Tx) error { return run.ForgetFiles(ctx, tx, job) })
		require.Equal(t, n-1, w.Count(`select count(*) from run_files`), "those of the attempts before stay")
		kept := file()
		name(kept)
		w.Must(func(ctx context.Context, tx *storage.Tx) error {
			_, err := attempt.End(ctx, tx, job, run.JobEnd{Status: run.Failed, ErrorCode: run.CodeStepFailed, Files: []run.NewFile{kept}})
			return err
		})
		require.Equal(t, 1, w.Count(fmt.Sprintf(`select count(*) from run_files where attempt = %d`, n)))
	}
}
