package failure_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/fixture"
	"github.com/slipway-qa/slipway/storage"
	. "github.com/slipway-qa/slipway/storage/failure"
	"github.com/slipway-qa/slipway/storage/run"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

func failed(key string, reason Reason) run.JobEnd {
	return run.JobEnd{Status: run.Failed, ErrorCode: run.CodeStepFailed, Error: "no",
		Diagnosis: &Diagnosis{Reason: reason, Why: []string{"so it was"}, Key: key, Subject: "the cause " + key}}
}

func passed(d Digest) run.JobEnd {
	packed, err := d.Pack(MaxDigest)
	if err != nil {
		panic(err)
	}
	return run.JobEnd{Status: run.Passed, Digest: packed}
}

// Jobs of one suite run fail for several causes at once; a case with two jobs in a group is one
// case.
func TestGroups(t *testing.T) {
	t.Parallel()
	w := fixture.NewTests(t)
	suite, jobs := w.SuiteRun(8, 2)
	var wg sync.WaitGroup
	for i, job := range jobs {
		wg.Go(func() {
			end := run.JobEnd{Status: run.Passed}
			switch {
			case i < 10:
				end = failed("503", Product)
			case i == 10:
				end = failed("other", Product)
			case i == 11:
				end = failed("other", Test)
			case i == 12:
				end = run.JobEnd{Status: run.Cancelled, ErrorCode: run.CodeCancelled}
			}
			if _, err := w.End(job, end); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	groups, err := Groups(fixture.Context(t), w.DB, suite.ID, 50, 3)
	require.NoError(t, err)
	require.Len(t, groups, 2)
	require.Equal(t, "503", groups[0].Key)
	require.Equal(t, "5 cases: the cause 503", groups[0].Title())
	require.Equal(t, 10, groups[0].Jobs)
	require.Equal(t, Product, groups[0].Reason)
	require.Len(t, groups[0].Cases, 3)
	require.Equal(t, 2, groups[0].Cases[0].Jobs)
	require.Equal(t, "1 case: the cause other", groups[1].Title())
	require.Equal(t, Unknown, groups[1].Reason, "its two jobs differ")
	require.Equal(t, []any{
		map[string]any{"key": "503", "title": "5 cases: the cause 503", "reason": "product", "count": 5.0, "jobCount": 10.0},
		map[string]any{"key": "other", "title": "1 case: the cause other", "reason": "unknown", "count": 1.0, "jobCount": 2.0},
	}, w.Event(suite.ID)["failureGroups"])

	got := w.ReadSuiteRun(suite)
	require.Equal(t, run.Failed, got.Status)
	one, err := Groups(fixture.Context(t), w.DB, suite.ID, 1, 0)
	require.NoError(t, err)
	require.Len(t, one, 1)
	require.Empty(t, one[0].Cases)
	w.Exec(`delete from suite_runs where id = $1`, suite.ID)
	require.Zero(t, w.Count(`select count(*) from failure_group_cases`))
}

func TestGroupsAreBounded(t *testing.T) {
	t.Parallel()
	w := fixture.NewTests(t)
	suite, jobs := w.SuiteRun(3, 1)
	w.Exec(`insert into failure_groups select $1, 'k' || n, 'x', 'test', 1, 1 from generate_series(1, 499) n`, suite.ID)
	for i, key := range []string{"last", "one too many", "k7"} {
		did, err := w.End(jobs[i], failed(key, Test))
		require.NoError(t, err)
		require.True(t, did)
	}
	require.Equal(t, 501, w.Count(`select count(*) from failure_groups where suite_run_id = $1`, suite.ID))
	require.Equal(t, 1, w.Count(`select jobs from failure_groups where key = 'last'`))
	require.Equal(t, 1, w.Count(`select jobs from failure_groups where key = $1 and subject = 'other causes'`, OtherKey))
	require.Equal(t, 2, w.Count(`select jobs from failure_groups where key = 'k7'`), "one that is there goes on being counted")
}

func TestQuarantineIsInNoGroup(t *testing.T) {
	t.Parallel()
	w := fixture.NewTests(t)
	suite, jobs := w.SuiteRun(1, 1)
	w.Exec(`update test_runs set quarantine = 'late map', quarantine_until = now() + interval '1 day'`)
	_, err := w.End(jobs[0], failed("503", Product))
	require.NoError(t, err)
	groups, err := Groups(fixture.Context(t), w.DB, suite.ID, 50, 3)
	require.NoError(t, err)
	require.Empty(t, groups)
	require.NotContains(t, w.Event(suite.ID), "failureGroups")
}

// Jobs whose workers were lost are in a group, too.
func TestLostJobsAreGrouped(t *testing.T) {
	t.Parallel()
	w := fixture.NewTests(t)
	suite, jobs := w.SuiteRun(2, 2)
	lose := func(ids ...uuid.UUID) {
		w.Exec(`update tasks set state = 'dead', finished_at = now() where id = any($1::uuid[])`, storage.UUIDs(ids))
		w.Must(func(ctx context.Context, tx *storage.Tx) error {
			_, err := run.EndLostJobs(ctx, tx, 10)
			return err
		})
	}
	lose(jobs[0])
	lose(jobs[1:]...)
	groups, err := Groups(fixture.Context(t), w.DB, suite.ID, 50, 3)
	require.NoError(t, err)
	require.Len(t, groups, 1)
	require.Equal(t, run.CodeWorkerLost, groups[0].Key)
	require.Equal(t, Environment, groups[0].Reason)
	require.Equal(t, [2]int{2, 4}, [2]int{groups[0].Count, groups[0].Jobs})
	require.Equal(t, 4, w.Count(`select count(*) from test_jobs where diagnosis ->> 'reason' = 'environment'`))
}

// The newest good job is what is compared with; what it was, its target and its environment say.
func TestLastGoodJob(t *testing.T) {
	t.Parallel()
	w := fixture.NewTests(t)
	c := w.NewCase(w.Org.Member.Writer, "log in")
	first, second, third := w.NewRun(c, 2), w.NewRun(c, 2), w.NewRun(c, 2)
	good := func(job uuid.UUID) *Good {
		g, err := GoodBefore(fixture.Context(t), w.DB, job)
		require.NoError(t, err)
		return g
	}
	end := func(job uuid.UUID, e run.JobEnd) {
		did, err := w.End(job, e)
		require.NoError(t, err)
		require.True(t, did)
	}
	require.Nil(t, good(third.Jobs[0].ID))
	end(second.Jobs[0].ID, passed(Digest{Steps: "second"}))
	require.Equal(t, "second", good(third.Jobs[0].ID).Digest.Steps)
	require.Equal(t, second.ID, good(third.Jobs[0].ID).RunID)
	end(first.Jobs[0].ID, passed(Digest{Steps: "first"}))
	require.Equal(t, "second", good(third.Jobs[0].ID).Digest.Steps, "a run that began before is not newer")
	w.Exec(`update test_jobs set target = jsonb_set(target, '{capabilities,slipway:options}', '{"name": "log in again", "build": "1.1"}')
		where id = $1`, third.Jobs[0].ID)
	require.Equal(t, "second", good(third.Jobs[0].ID).Digest.Steps, "the names of case and build are no part of the target")
	w.Exec(`update test_jobs set target = jsonb_set(target, '{capabilities,slipway:options,idle}', '7') where id = $1`, third.Jobs[0].ID)
	require.Nil(t, good(third.Jobs[0].ID), "another option is another target")
	w.Exec(`update test_jobs set target = target #- '{capabilities,slipway:options,idle}' where id = $1`, third.Jobs[0].ID)
	if fmt.Sprint(first.Jobs[0].Target) != fmt.Sprint(first.Jobs[1].Target) {
		require.Nil(t, good(third.Jobs[1].ID), "another target")
	}
	w.Exec(`update test_runs set environment = 'staging' where id = $1`, third.ID)
	require.Nil(t, good(third.Jobs[0].ID), "another environment")
	end(third.Jobs[0].ID, run.JobEnd{Status: run.Failed, ErrorCode: "X", Digest: []byte("not of a job that passed")})
	require.Equal(t, 1, w.Count(`select count(*) from last_good_jobs`))

	w.Exec(`update test_runs set build_name = case_name`)
	w.Exec(`update test_runs set environment = '', build_name = '2' where id = $1`, third.ID)
	g := good(third.Jobs[0].ID)
	require.Empty(t, g.Digest.Build.Name, "the name of the case is no build")
	require.Equal(t, "2", g.Now.Name)
	w.Exec(`delete from test_runs where id = $1`, second.ID)
	require.Nil(t, good(third.Jobs[0].ID))
}

// What came of the same test before is what says whether it fails now and then.
func TestRecentEnds(t *testing.T) {
	t.Parallel()
	w := fixture.NewTests(t)
	c := w.NewCase(w.Org.Member.Writer, "log in")
	of := func(build string, end run.JobEnd) run.Run {
		r := w.NewRun(c, 2)
		w.Exec(`update test_runs set build_name = $2 where id = $1`, r.ID, build)
		_, err := w.End(r.Jobs[0].ID, end)
		require.NoError(t, err)
		return *r
	}
	of("1", passed(Digest{}))
	of("2", failed("x", Unknown))
	w.Exec(`update test_jobs set state = 'FLAKY' where id = $1`, of("log in", passed(Digest{})).Jobs[0].ID)
	of("4", failed("x", Environment))
	of("5", run.JobEnd{Status: run.Errored, ErrorCode: run.CodeLogin})
	elsewhere := of("6", failed("x", Unknown))
	older := of("7", failed("x", Unknown))
	target := of("8", failed("x", Unknown))
	w.Exec(`update test_runs set environment = 'staging' where id = $1`, elsewhere.ID)
	w.Exec(`update test_runs set revision_id = 'older' where id = $1`, older.ID)
	w.Exec(`update test_jobs set target = '{"capabilities": {"browserName": "lynx"}}' where run_id = $1`, target.ID)
	now := w.NewRun(c, 2)
	of("9", failed("x", Unknown)) // later
	good, err := GoodBefore(fixture.Context(t), w.DB, now.Jobs[0].ID)
	require.NoError(t, err)
	require.Equal(t, []Ended{{Passed: true, Failed: true}, {Build: "name:2", Failed: true}, {Build: "name:1", Passed: true}}, good.Recent)
	w.Exec(`update test_jobs set position = position + 7 where run_id = $1`, now.ID)
	good, err = GoodBefore(fixture.Context(t), w.DB, now.Jobs[0].ID)
	require.NoError(t, err)
	require.Empty(t, good.Recent)
}

// Runs of one case end at once, while the good ones before them are forgotten.
func TestGoodJobsAtOnce(t *testing.T) {
	t.Parallel()
	w := fixture.NewTests(t)
	c := w.NewCase(w.Org.Member.Writer, "log in")
	var wg sync.WaitGroup
	for i := range 12 {
		r := w.NewRun(c, 2)
		wg.Go(func() {
			for _, job := range r.Jobs {
				if _, err := w.End(job.ID, passed(Digest{Steps: fmt.Sprint(i)})); err != nil {
					t.Error(err)
				}
			}
			if i%3 == 0 {
				if err := w.Do(func(ctx context.Context, tx *storage.Tx) error {
					_, err := tx.ExecContext(ctx, `delete from test_runs where id = $1`, r.ID)
					return err
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	require.LessOrEqual(t, w.Count(`select count(*) from last_good_jobs`), 2)
}

func TestPack(t *testing.T) {
	t.Parallel()
	noise := func(n int) string {
		b := make([]byte, n)
		_, _ = rand.Read(b)
		return hex.EncodeToString(b)
	}
	d := &Digest{Steps: "a", Host: "h", Network: true, Console: []string{"no"}, Requests: []Seen{{Method: "GET", Path: "/a", Status: 200},
		{Method: "GET", Path: "/b", Status: 500}}, Played: []Played{{ID: "s1", TookMS: 4, Page: []int{1, 0, 7}}}, Lines: []string{"x", "y"}}
	packed, err := d.Pack(MaxDigest)
	require.NoError(t, err)
	got, err := Unpack(packed)
	require.NoError(t, err)
	require.Equal(t, d, got)
	page, ok := got.PageOf("s1")
	require.True(t, ok)
	require.Equal(t, []string{"y", "x"}, page, "a place that is none is left out")
	_, ok = got.PageOf("s2")
	require.False(t, ok)

	d.Lines = append(d.Lines, noise(4000))
	packed, err = d.Pack(MaxOfRow)
	require.NoError(t, err)
	got, err = Unpack(packed)
	require.NoError(t, err)
	require.Empty(t, got.Lines)
	require.Nil(t, got.Played[0].Page)
	require.Len(t, got.Requests, 2)
	require.NotNil(t, d.Played[0].Page, "the digest itself stays")

	for range 200 {
		d.Requests = append(d.Requests, Seen{Method: "GET", Path: "/" + noise(50), Status: 200})
	}
	packed, err = d.Pack(MaxOfRow)
	require.NoError(t, err)
	require.LessOrEqual(t, len(packed), MaxOfRow)
	got, err = Unpack(packed)
	require.NoError(t, err)
	require.Equal(t, []Seen{{Method: "GET", Path: "/b", Status: 500}}, got.Requests)
	require.False(t, got.Network, "a request that is not named may have been answered")

	d.Steps = noise(4000)
	_, err = d.Pack(MaxOfRow)
	require.Error(t, err)
	_, err = Unpack([]byte("no"))
	require.Error(t, err)
}

func FuzzUnpack(f *testing.F) {
	packed, err := (&Digest{Steps: "a", Played: []Played{{ID: "s", Page: []int{0}}}, Lines: []string{"x"}}).Pack(MaxDigest)
	require.NoError(f, err)
	f.Add(packed)
	f.Add(bytes.Repeat([]byte{0}, 100))
	f.Fuzz(func(t *testing.T, stored []byte) {
		d, err := Unpack(stored)
		if err != nil {
			return
		}
		for _, p := range d.Played {
			d.PageOf(p.ID)
		}
	})
}
