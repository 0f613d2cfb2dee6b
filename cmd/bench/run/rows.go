package run

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/cmd/bench/process"
	"github.com/slipway-qa/slipway/cmd/bench/progress"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
)

const (
	fewRows, manyRows = 100, 10_000
	// reportMemory is what a report of many rows may add to the server's memory.
	reportMemory = 64 << 20
)

// measureRows runs a case of many data rows: how soon its first job begins, what the end of
// a job costs beside that of a case of few rows, and what reading it all costs the server.
func (b *bench) measureRows(ctx context.Context) error {
	p, db, stop, err := process.StartToFill(ctx)
	if err != nil {
		return err
	}
	defer stop()
	pause := 1
	steps := []step.Step{{Tool: step.Tool{Type: step.Pause, Args: step.Args{Time: &pause}}}}
	plain, err := p.ImportCase(ctx, "plain", steps)
	if err != nil {
		return err
	}
	cases := map[int]string{}
	for _, n := range []int{fewRows, manyRows} {
		if cases[n], err = p.ImportCase(ctx, fmt.Sprintf("%d rows", n), steps); err != nil {
			return err
		}
		var csv strings.Builder
		csv.WriteString("user,total\n")
		for i := range n {
			fmt.Fprintf(&csv, "user%d,%d\n", i, i)
		}
		if err := p.Call(ctx, http.MethodPost, "/testcases/"+cases[n],
			map[string]any{"data": map[string]string{"csv": csv.String()}}, nil); err != nil {
			return err
		}
	}
	if err := measureFirstJob(ctx, p, plain, cases[manyRows]); err != nil {
		return err
	}
	ends := map[int]time.Duration{}
	var last *run.Run
	for _, n := range []int{fewRows, manyRows} {
		if last, ends[n], err = endRows(ctx, db, cases[n], n); err != nil {
			return err
		}
	}
	ratio := ends[manyRows].Seconds() / ends[fewRows].Seconds()
	measure.Row(fmt.Sprintf("the end of a job of %d rows", manyRows), fmt.Sprintf("%s, %.2f of that of %d rows",
		measure.Round(ends[manyRows]), ratio, fewRows), "below 1.5", ratio < 1.5)
	return measureReport(ctx, p, last)
}

// measureFirstJob compares how long the first jobs of two cases wait.
func measureFirstJob(ctx context.Context, p *process.Product, plain, rows string) error {
	const rounds = 5
	var took [2][]float64
	for range rounds {
		for i, id := range []string{plain, rows} {
			d, err := firstJob(ctx, p, id)
			if err != nil {
				return err
			}
			took[i] = append(took[i], d.Seconds())
		}
	}
	one, many := measure.Median(took[0]), measure.Median(took[1])
	measure.Row("baseline: a run of one job, from the request until it begins", measure.Round(seconds(one)), "", true)
	measure.Row(fmt.Sprintf("the first job of %d rows", manyRows), measure.Round(seconds(many)), "a second more", many < one+1)
	return nil
}

// firstJob runs a case until its first job has begun, and cancels it.
func firstJob(ctx context.Context, p *process.Product, id string) (time.Duration, error) {
	defer progress.Waits(ctx, "the first job of a run")()
	start := time.Now()
	var state process.RunState
	if err := p.Call(ctx, http.MethodPost, "/testcases/"+id+"/run", struct{}{}, &state); err != nil {
		return 0, err
	}
	path := "/testcases/" + id + "/runs/" + state.ID
	for state.Status == "QUEUED" {
		if err := p.Call(ctx, http.MethodGet, path+"?jobsLimit=1", nil, &state); err != nil {
			return 0, err
		}
		if err := process.Sleep(ctx, 5*time.Millisecond); err != nil {
			return 0, err
		}
	}
	took := time.Since(start)
	if err := p.Call(ctx, http.MethodPost, path+"/cancel", struct{}{}, nil); err != nil && !strings.Contains(err.Error(), "CONFLICT") {
		return 0, err
	}
	return took, nil
}

// endRows makes a run of a case without tasks, ends all its jobs, and returns the median
// time of an end.
func endRows(ctx context.Context, db *storage.DB, id string, n int) (made *run.Run, each time.Duration, err error) {
	var jobs []uuid.UUID
	defer progress.WaitsFor(ctx, func() string { return fmt.Sprintf("the jobs of %d rows", n) })()
	err = db.InTx(ctx, func(tx *storage.Tx) error {
		var organization int64
		if err := tx.GetContext(ctx, &organization, `select organization_id from test_cases where id = $1`, id); err != nil {
			return err
		}
		c, err := authoring.CaseByID(ctx, tx, organization, id)
		if err != nil {
			return err
		}
		v, err := authoring.RevisionByID(ctx, tx, id, "")
		if err != nil {
			return err
		}
		w := account.Writer{OrganizationID: organization, UserUUID: c.CreatorUUID, AllTeams: true, Admin: true, Actor: account.CLI()}
		if made, err = run.Start(ctx, tx, w, run.NewRun{Case: c, Revision: v, Targets: c.Settings.Targets()}); err != nil {
			return err
		}
		for i := range made.Jobs {
			jobs = append(jobs, made.Jobs[i].ID)
		}
		// The maintenance would end jobs that have no task.
		_, err = tx.ExecContext(ctx, `update test_runs set created_at = now() + interval '1 day' where id = $1`, made.ID)
		return err
	})
	for more := made != nil && made.Unfinished(); more && err == nil; {
		err = db.InTx(ctx, func(tx *storage.Tx) error {
			next, left, err := run.FanOutRows(ctx, tx, made.ID, 250)
			jobs, more = append(jobs, next...), left
			return err
		})
	}
	var took []float64
	for i := 0; i < len(jobs) && err == nil; i++ {
		start := time.Now()
		err = db.InTx(ctx, func(tx *storage.Tx) error {
			_, err := run.EndJob(ctx, tx, jobs[i], run.JobEnd{Status: run.Passed, Records: []playback.Record{{StepID: "s1",
				Status: playback.Passed}}})
			return err
		})
		took = append(took, time.Since(start).Seconds())
	}
	if err != nil {
		return nil, 0, err
	}
	if len(jobs) != n {
		return nil, 0, fmt.Errorf("%d rows have %d jobs", n, len(jobs))
	}
	return made, seconds(measure.Median(took)), nil
}

// measureReport reads all jobs of a run by page, and its JUnit report.
func measureReport(ctx context.Context, p *process.Product, r *run.Run) error {
	path := "/testcases/" + r.CaseID + "/runs/" + r.ID.String()
	peak := process.SampleMemory(p.Cmd.Process.Pid)
	listed, start := 0, time.Now()
	for {
		var page process.RunState
		if err := p.Call(ctx, http.MethodGet, fmt.Sprintf("%s?jobsLimit=500&jobsSkip=%d", path, listed), nil, &page); err != nil {
			return err
		}
		if listed += len(page.Jobs); len(page.Jobs) == 0 {
			break
		}
	}
	byPage := time.Since(start)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.Base+"/v1/ai-authoring"+path+"?format=junit", nil)
	if err != nil {
		return err
	}
	p.Authorize(request)
	start = time.Now()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, 64<<20))
	if err != nil {
		return err
	}
	took, reported, memory := time.Since(start), strings.Count(string(text), "<testcase "), peak()
	measure.Row(fmt.Sprintf("all %d jobs by page, and as JUnit", manyRows), fmt.Sprintf("%d in %s, %d in %s", listed,
		measure.Round(byPage), reported, measure.Round(took)),
		"all", listed == manyRows && reported == manyRows)
	measure.Row("memory of the server meanwhile", fmt.Sprintf("%d MiB more", memory>>20), fmt.Sprintf("%d MiB", reportMemory>>20),
		memory < reportMemory)
	return nil
}
