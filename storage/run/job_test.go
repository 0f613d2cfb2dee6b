package run_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/authoring"
	. "github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/run/reading"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
)

func record(id, status, message string) playback.Record {
	return playback.Record{StepID: id, Status: status, Tool: step.Tool{Type: step.Click},
		Result: step.Outcome{Success: status == playback.Passed, Message: message}}
}

func (w *room) progress(job uuid.UUID, records ...playback.Record) (going bool) {
	w.T.Helper()
	w.Must(func(ctx context.Context, tx *storage.Tx) (err error) {
		going, err = ProgressJob(ctx, tx, job, records)
		return err
	})
	return going
}

func newFile(job uuid.UUID) NewFile {
	id := uuid.New()
	return NewFile{ID: id, Kind: Screenshot, Step: 1, Key: FileKey(job, id), ContentType: "image/png", Size: 7}
}

func TestJobFromBeginToEnd(t *testing.T) {
	t.Parallel()
	w := open(t)
	c := w.NewCase(w.Org.Member.Writer, "log in")
	run := w.NewRun(c, 1)
	job := run.Jobs[0].ID
	require.False(t, w.progress(job), "it has not begun")

	work, lost, err := w.Begin(job)
	require.NoError(t, err)
	require.Empty(t, lost)
	require.Len(t, work.Steps, 2)
	require.Equal(t, w.Org.Team.ID, work.TeamID)
	require.Nil(t, work.SuiteID)
	require.Equal(t, "request-9", work.RequestID)
	require.Equal(t, c.ID, work.Run.CaseID)
	require.Equal(t, w.Org.ID, work.Run.OrganizationID)
	require.Equal(t, fixture.Targets(1)[0], work.Job.Target)
	got := w.ReadRun(run)
	require.Equal(t, Running, got.Status)
	require.NotNil(t, got.StartedAt)
	require.Equal(t, Running, got.Jobs[0].Status)

	require.True(t, w.progress(job, record("s1", playback.Passed, "")))
	require.Len(t, w.ReadRun(run).Jobs[0].Records, 1)

	file := newFile(job)
	healed := record("s2", playback.Failed, strings.Repeat("x", 5000))
	healed.Healed = &playback.Healed{Score: 0.9}
	did, err := w.End(job, JobEnd{Status: Failed, ErrorCode: CodeStepFailed, Error: "no\x00 such " + strings.Repeat("e", 5000),
		Records: []playback.Record{record("s1", playback.Passed, "done\x00"), healed}, Files: []NewFile{file},
		Fingerprints: map[string]step.Fingerprint{"s2": {Role: "button"}}})
	require.NoError(t, err)
	require.True(t, did)
	got = w.ReadRun(run)
	require.Equal(t, Failed, got.Status)
	require.NotNil(t, got.FinishedAt)
	j := got.Jobs[0]
	require.Equal(t, CodeStepFailed, j.ErrorCode)
	require.Equal(t, 1, j.Healed)
	require.Len(t, j.Error, 4096+2, "the replacement of a NUL is longer")
	require.Len(t, j.Records[1].Result.Message, 4096)
	require.Equal(t, "done\uFFFD", j.Records[0].Result.Message)
	require.Len(t, j.Files, 1)
	require.Equal(t, file.Key, j.Files[0].Key)
	f, err := reading.FileByID(fixture.Context(t), w.DB, w.Org.ID, file.ID)
	require.NoError(t, err)
	require.EqualValues(t, 7, f.Size)
	_, err = reading.FileByID(fixture.Context(t), w.DB, w.Rival.ID, file.ID)
	require.ErrorIs(t, err, storage.ErrNotFound)
	unnamed, err := UnnamedObjects(fixture.Context(t), w.DB, []string{"runs/a/b", file.Key, "runs/c/d"})
	require.NoError(t, err)
	require.Equal(t, []string{"runs/a/b", "runs/c/d"}, unnamed)
	revision, err := authoring.RevisionByID(fixture.Context(t), w.DB, c.ID, "")
	require.NoError(t, err)
	require.Equal(t, "button", revision.Steps[1].Tool.Args.Selector.Fingerprint.Role)

	event := w.Event(run.ID)
	require.Equal(t, "FAILED", event["status"])
	require.Equal(t, c.ID, event["testCaseId"])
	require.Equal(t, "nightly", event["buildName"])
	require.EqualValues(t, 1, event["healed"])
	require.Equal(t, map[string]any{"total": 1.0, "passed": 0.0, "failed": 1.0, "error": 0.0, "cancelled": 0.0, "flaky": 0.0,
		"quarantined": 0.0}, event["counts"])
	require.NotEmpty(t, event["endDate"])

	did, err = w.End(job, JobEnd{Status: Passed, Files: []NewFile{newFile(job)}})
	require.NoError(t, err)
	require.False(t, did, "it has ended")
	require.Equal(t, Failed, w.ReadRun(run).Jobs[0].Status)
	require.Equal(t, 1, w.Count(`select count(*) from run_files`))
	require.False(t, w.progress(job, record("s1", playback.Passed, "late")))
	_, _, err = w.Begin(job)
	require.ErrorIs(t, err, storage.ErrConflict)
	w.Event(run.ID) // still one
}

func TestBeginAgainForgetsTheLostAttempt(t *testing.T) {
	t.Parallel()
	w := open(t)
	run := w.NewRun(w.NewCase(w.Org.Member.Writer, "log in"), 1)
	job := run.Jobs[0].ID
	_, _, err := w.Begin(job)
	require.NoError(t, err)
	require.True(t, w.progress(job, record("s1", playback.Passed, "")))
	file := newFile(job)
	w.Exec(`insert into run_files (id, organization_id, job_id, kind, step, object_key, content_type, size)
		values ($1, $2, $3, 'screenshot', 0, $4, 'image/png', 7)`, file.ID, w.Org.ID, job, file.Key)
	_, lost, err := w.Begin(job)
	require.NoError(t, err)
	require.Equal(t, []string{file.Key}, lost)
	got := w.ReadRun(run)
	require.Empty(t, got.Jobs[0].Records)
	require.Empty(t, got.Jobs[0].Files)
	require.Equal(t, Running, got.Status)
}

func TestBeginOfWhatIsGone(t *testing.T) {
	t.Parallel()
	w := open(t)
	_, _, err := w.Begin(fixture.NoUUID)
	require.ErrorIs(t, err, storage.ErrNotFound)
	for _, gone := range []string{`delete from test_revisions`, `delete from test_cases`} {
		run := w.NewRun(w.NewCase(w.Org.Member.Writer, "log in"), 1)
		w.Exec(gone)
		_, _, err := w.Begin(run.Jobs[0].ID)
		require.ErrorIs(t, err, storage.ErrNotFound, gone)
		require.Equal(t, Queued, w.ReadRun(run).Status)
	}
	did, err := w.End(fixture.NoUUID, JobEnd{Status: Passed})
	require.NoError(t, err)
	require.False(t, did)
	_, err = w.End(fixture.NoUUID, JobEnd{Status: Running})
	require.Error(t, err)
}

func TestStatusOfARunIsTheWorst(t *testing.T) {
	t.Parallel()
	w := open(t)
	c := w.NewCase(w.Org.Member.Writer, "log in")
	for _, tt := range []struct {
		jobs []Status
		want Status
	}{
		{[]Status{Passed, Passed}, Passed},
		{[]Status{Passed, Cancelled}, Cancelled},
		{[]Status{Cancelled, Errored, Passed}, Errored},
		{[]Status{Errored, Failed, Cancelled}, Failed},
	} {
		run := w.NewRun(c, len(tt.jobs))
		for i, status := range tt.jobs {
			require.False(t, w.ReadRun(run).Status.Terminal())
			w.MustEnd(run.Jobs[i].ID, status)
		}
		require.Equal(t, tt.want, w.ReadRun(run).Status, tt.jobs)
		require.EqualValues(t, tt.want, w.Event(run.ID)["status"])
	}
}

// What is stored of records is bounded, whatever a page or a test holds.
func TestRecordsAreBounded(t *testing.T) {
	t.Parallel()
	w := open(t)
	run := w.NewRun(w.NewCase(w.Org.Member.Writer, "log in"), 1)
	_, _, err := w.Begin(run.Jobs[0].ID)
	require.NoError(t, err)
	upload := record("s1", playback.Passed, "")
	inner := step.Tool{Type: step.UploadFile, Args: step.Args{File: &step.File{Name: "a.bin", Content: make([]byte, 1000)}}}
	upload.Tool = step.Tool{Type: step.InFrame, Args: step.Args{Tool: &inner}}
	require.True(t, w.progress(run.Jobs[0].ID, upload))
	kept := w.ReadRun(run).Jobs[0].Records[0].Tool.Args.Tool.Args.File
	require.Equal(t, "a.bin", kept.Name)
	require.Empty(t, kept.Content)
	require.Len(t, inner.Args.File.Content, 1000, "the caller's own is not changed")

	text := strings.Repeat("t", step.MaxText)
	var records []playback.Record
	for range step.MaxSteps + 5 {
		r := record("s", playback.Passed, strings.Repeat("m", 5000))
		r.Tool.Args.Text, r.Healed = &text, &playback.Healed{Reason: text}
		records = append(records, r)
	}
	did, err := w.End(run.Jobs[0].ID, JobEnd{Status: Passed, Records: records})
	require.NoError(t, err)
	require.True(t, did)
	got := w.ReadRun(run).Jobs[0]
	require.Len(t, got.Records, step.MaxSteps)
	require.Equal(t, step.MaxSteps, got.Healed)
	doc, err := json.Marshal(got.Records)
	require.NoError(t, err)
	require.Less(t, len(doc), 4<<20)
}
