package reading_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/run/reading"
	"github.com/slipway-qa/slipway/storage/step/playback"
)

func TestReadRecords(t *testing.T) {
	t.Parallel()
	w := open(t)
	suite, jobs := w.SuiteRun(2, 1)
	did, err := w.End(jobs[0], run.JobEnd{Status: run.Failed, Records: []playback.Record{{StepID: "s1", Status: playback.Failed}}})
	require.NoError(t, err)
	require.True(t, did)
	runs, err := reading.OfSuiteRun(fixture.Context(t), w.DB, suite.ID)
	require.NoError(t, err)
	require.Len(t, runs, 2)
	first, second := &runs[0].Jobs[0], &runs[1].Jobs[0]
	if first.ID != jobs[0] {
		first, second = second, first
	}
	require.Nil(t, first.Records)
	gone := &run.Job{ID: uuid.New()}
	require.NoError(t, reading.Records(fixture.Context(t), w.DB, []*run.Job{first, second, gone}))
	require.Len(t, first.Records, 1)
	require.Equal(t, "s1", first.Records[0].StepID)
	require.Empty(t, second.Records)
	require.Nil(t, gone.Records)
	require.NoError(t, reading.Records(fixture.Context(t), w.DB, nil))
}

// Records are read until they are 8 MiB in sum; what is left out can be told from
// what is empty.
func TestReadRecordsIsBounded(t *testing.T) {
	t.Parallel()
	w := open(t)
	c := w.NewCase(w.Org.Member.Writer, "log in")
	started := w.NewRun(c, 5)
	large := func(position, size int) {
		w.Exec(`update test_jobs set records = jsonb_build_array(jsonb_build_object('stepId', repeat('x', $3::int)))
			where run_id = $1 and position = $2`, started.ID, position, size)
	}
	large(0, 3<<20)
	large(2, 3<<20)
	large(3, 3<<20)
	got := w.ReadRun(started)
	require.Len(t, got.Jobs[0].Records, 1)
	require.NotNil(t, got.Jobs[1].Records)
	require.Empty(t, got.Jobs[1].Records)
	require.Len(t, got.Jobs[2].Records, 1)
	require.Nil(t, got.Jobs[3].Records)
	require.Nil(t, got.Jobs[4].Records)
}
