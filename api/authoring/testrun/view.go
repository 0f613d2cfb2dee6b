package testrun

import (
	"context"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/authoring/answer"
	"github.com/slipway-qa/slipway/api/authoring/datarow"
	"github.com/slipway-qa/slipway/api/authoring/diagnosis"
	"github.com/slipway-qa/slipway/api/authoring/junit"
	"github.com/slipway-qa/slipway/api/authoring/settings"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
)

// runView is a run of a case.
type runView struct {
	ID           uuid.UUID  `json:"id"`
	Build        string     `json:"build"`
	CreationDate string     `json:"creationDate"`
	Jobs         []jobView  `json:"jobs"`
	JobCount     int        `json:"jobCount"`
	Counts       countsView `json:"counts"` // of all jobs
	OrgID        uuid.UUID  `json:"orgId"`
	TeamID       uuid.UUID  `json:"teamId"`
	TestCaseID   string     `json:"testCaseId"`
	UserID       uuid.UUID  `json:"userId"`
	TestURL      string     `json:"testUrl"`
	Status       run.Status `json:"status"`
	TestCaseName string     `json:"testCaseName"`
	RevisionID   string     `json:"revisionId"`
	SuiteRunID   *uuid.UUID `json:"suiteRunId"`
	SCTunnelName string     `json:"scTunnelName"`
	StartDate    string     `json:"startDate,omitempty"`
	EndDate      string     `json:"endDate,omitempty"`
	Healed       int        `json:"healed"`
	Drifted      int        `json:"drifted"`
	Unreviewed   int        `json:"unreviewed,omitempty"`
	BuildID      *int64     `json:"buildId,omitempty"`
	// VariableNames are those of values that the run was given.
	VariableNames []string `json:"variableNames,omitempty"`
	// Environment is the name of the one that the run is in.
	Environment string     `json:"environment,omitempty"`
	Flaky       int        `json:"flaky"`             // jobs that passed after they had failed
	Retries     *int       `json:"retries,omitempty"` // that the run was given
	RerunOf     *uuid.UUID `json:"rerunOf,omitempty"` // the run that it repeats
	// Quarantine is present where a failure of the run does not fail the run of its suite.
	Quarantine *runQuarantine `json:"quarantine,omitempty"`
	Pinned     *PinView       `json:"pinned,omitempty"` // absent while nobody keeps the run
	// Login: the run signs in for the others of its suite run.
	Login bool `json:"login,omitempty"`
}

// runQuarantine is the quarantine of the case when its run was made.
type runQuarantine struct {
	Reason string `json:"reason"`
	Until  string `json:"until"`
}

// jobStatus is that of a job, which may be FLAKY.
type jobStatus string

func jobStatuses() []jobStatus {
	list := []jobStatus{jobStatus(run.Flaky)}
	for _, s := range run.Statuses() {
		list = append(list, jobStatus(s))
	}
	return list
}

// jobView is the run on one target.
type jobView struct {
	ID         uuid.UUID           `json:"id"`
	Target     settings.TargetView `json:"target"`
	Name       string              `json:"name"`
	URL        string              `json:"url"`
	Success    *bool               `json:"success,omitempty"` // once the job has ended
	Error      *failureView        `json:"error"`
	Status     jobStatus           `json:"status"`
	StartDate  string              `json:"startDate,omitempty"`
	EndDate    string              `json:"endDate,omitempty"`
	Healed     int                 `json:"healed"`
	Drifted    int                 `json:"drifted"`
	Unreviewed int                 `json:"unreviewed,omitempty"`
	// AttemptCount is how often the test was begun: 0 before, more than 1 where it was played again.
	AttemptCount int           `json:"attemptCount"`
	Row          *datarow.View `json:"row,omitempty"` // absent without data rows
	*jobDetail
}

// failureView says why a job has not passed.
type failureView struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

// jobDetail is what a single run answers besides. Steps that are too many for one
// answer, with those of the jobs before, are left out.
type jobDetail struct {
	// CurrentStep is the number of the step that is done now, from 1, while the job runs.
	CurrentStep int          `json:"currentStep,omitempty"`
	Steps       []recordView `json:"steps,omitzero"`
	Files       []fileView   `json:"files"`
	// Attempts are all of them, the last one too, where there are several.
	Attempts []attemptView `json:"attempts,omitzero"`
	*diagnosis.Job
}

// attemptView is one playing of a job.
type attemptView struct {
	Number    int          `json:"number"` // from 1
	Status    run.Status   `json:"status"`
	Error     *failureView `json:"error"`
	StartDate string       `json:"startDate,omitempty"`
	EndDate   string       `json:"endDate,omitempty"`
	Healed    int          `json:"healed"`
	Drifted   int          `json:"drifted"`
	Steps     []recordView `json:"steps,omitzero"`
	Files     []fileView   `json:"files"`
}

// recordView is what a run found out about a step.
type recordView struct {
	ID        string            `json:"id"`
	Tool      step.Tool         `json:"tool"`
	Status    string            `json:"status"`
	Result    step.Outcome      `json:"result"`
	Healed    *playback.Healed  `json:"healed,omitempty"`
	Suggested *playback.Healed  `json:"suggested,omitempty"`
	Drifted   *playback.Drifted `json:"drifted,omitempty"`
	Findings  *step.Findings    `json:"findings,omitempty"`
	Look      *step.Look        `json:"look,omitempty"`
	Failure   *playback.Failure `json:"failure,omitempty"` // of a step that failed
	HealingID string            `json:"healingId,omitempty"`
	// Iterations are the rows that a for_each went through.
	Iterations    []step.Iteration `json:"iterations,omitempty"`
	Phase         string           `json:"phase,omitempty"` // setUp, tearDown; absent in the test's own steps
	Group         *step.InGroup    `json:"group,omitempty"` // that the step stands in
	StartMS       int64            `json:"startMs"`
	TookMS        int64            `json:"tookMs"`
	ScreenshotURL string           `json:"screenshotUrl"`
}

// viewRun is a run as a list has it.
func viewRun(r *run.Run) runView {
	view := runView{ID: r.ID, Build: r.BuildName, CreationDate: answer.Stamp(r.CreatedAt), Jobs: make([]jobView, 0, len(r.Jobs)),
		OrgID: r.OrganizationUUID, TeamID: r.TeamUUID, TestCaseID: r.CaseID, UserID: r.UserUUID, TestURL: step.ShownURL(r.TestURL),
		Status: r.Status, TestCaseName: r.CaseName, RevisionID: r.RevisionID, SuiteRunID: r.SuiteRunID,
		SCTunnelName: r.Tunnel, StartDate: answer.StampOnce(r.StartedAt), EndDate: answer.StampOnce(r.FinishedAt), BuildID: r.BuildID,
		VariableNames: r.VariableNames, Environment: r.Environment, JobCount: r.JobCount, Counts: viewCounts(r.Counts),
		Healed: r.Healed, Drifted: r.Drifted,
		Unreviewed: r.Unreviewed, Flaky: r.Flaky, Retries: r.Retries, RerunOf: r.RerunOf, Pinned: ViewPin(r.Pin)}
	if r.Quarantine != nil {
		view.Quarantine = &runQuarantine{r.Quarantine.Reason, answer.Stamp(r.Quarantine.Until)}
	}
	for i := range r.Jobs {
		view.Jobs = append(view.Jobs, viewJob(r, &r.Jobs[i]))
	}
	view.Login = r.LoginKey != ""
	return view
}

func viewJob(r *run.Run, j *run.Job) jobView {
	view := jobView{ID: j.ID, Target: settings.ViewTarget(&j.Target), Name: junit.JobName(r, j), URL: step.ShownURL(r.TestURL),
		Status: jobStatus(j.Status), StartDate: answer.StampOnce(j.StartedAt), EndDate: answer.StampOnce(j.FinishedAt),
		Healed: j.Healed, Drifted: j.Drifted, Unreviewed: j.Unreviewed, Row: datarow.ViewOf(j)}
	if j.Status.Terminal() {
		passed := j.Status == run.Passed || j.Status == run.Flaky
		view.Success = &passed
	}
	view.Error, view.AttemptCount = failureOf(j.ErrorCode, j.Error), j.Ended
	if j.StartedAt != nil && (j.Status.Terminal() || j.Status == run.Running) {
		view.AttemptCount++
	}
	return view
}

// failureOf is nil where nothing failed.
func failureOf(code, text string) *failureView {
	if code == "" {
		return nil
	}
	return &failureView{Code: code, Detail: text}
}

// showRun writes a run with the steps and files of all its jobs.
func (h reader) showRun(c *gin.Context, run *run.Run) error {
	view := viewRun(run)
	failing, err := datarow.ReadFailing(c.Request.Context(), h.DB, run)
	if err != nil {
		return err
	}
	for i := range run.Jobs {
		failing.Put(&run.Jobs[i], view.Jobs[i].Row)
		detail, err := h.viewDetail(c.Request.Context(), &run.Jobs[i])
		if err != nil {
			return err
		}
		view.Jobs[i].jobDetail = detail
	}
	return answer.Data(c, http.StatusOK, view)
}

// viewCaseRuns are the case runs of a suite run; the jobs that are listed have
// their steps and files.
func (h reader) viewCaseRuns(ctx context.Context, runs []run.Run, detailed []*run.Job) ([]runView, error) {
	views := make([]runView, 0, len(runs))
	for i := range runs {
		view := viewRun(&runs[i])
		for k := range runs[i].Jobs {
			job := &runs[i].Jobs[k]
			if !slices.Contains(detailed, job) {
				continue
			}
			var err error
			if view.Jobs[k].jobDetail, err = h.viewDetail(ctx, job); err != nil {
				return nil, err
			}
		}
		views = append(views, view)
	}
	return views, nil
}

// viewFindings are findings with the addresses of their pictures.
func (h reader) viewFindings(f *step.Findings) *step.Findings {
	if f == nil {
		return nil
	}
	view := *f
	view.List = slices.Clone(f.List)
	for i := range view.List {
		view.List[i].URL, view.List[i].FileID = h.FileURL(view.List[i].FileID), ""
	}
	return &view
}

func (h reader) viewDetail(ctx context.Context, j *run.Job) (*jobDetail, error) {
	steps, files, err := h.viewPlaying(ctx, j.Records, j.Files)
	if err != nil {
		return nil, err
	}
	detail := jobDetail{Steps: steps, Files: files, Job: diagnosis.OfJob(j.Diagnosis)}
	if j.Status == run.Running {
		detail.CurrentStep = len(j.Records) + 1
	}
	if len(j.Earlier) == 0 {
		return &detail, nil
	}
	for i := range j.Earlier {
		a := &j.Earlier[i]
		view := attemptView{Number: a.Number, Status: a.Status, Error: failureOf(a.ErrorCode, a.Error), StartDate: answer.Stamp(a.StartedAt),
			EndDate: answer.Stamp(a.FinishedAt), Healed: a.Healed, Drifted: a.Drifted}
		if view.Steps, view.Files, err = h.viewPlaying(ctx, a.Records, a.Files); err != nil {
			return nil, err
		}
		detail.Attempts = append(detail.Attempts, view)
	}
	last := attemptView{Number: j.Ended + 1, Status: j.Status, Error: failureOf(j.ErrorCode, j.Error),
		StartDate: answer.StampOnce(j.AttemptAt), EndDate: answer.StampOnce(j.FinishedAt),
		Healed: j.Healed, Drifted: j.Drifted, Steps: steps, Files: files}
	if last.Status == run.Flaky {
		last.Status = run.Passed
	}
	detail.Attempts = append(detail.Attempts, last)
	return &detail, nil
}

// viewPlaying are the steps and files of one playing of a test; no steps where they were not read.
func (h reader) viewPlaying(ctx context.Context, records []playback.Record, stored []run.File) (steps []recordView,
	files []fileView, err error) {
	files = make([]fileView, 0, len(stored))
	if records != nil {
		steps = make([]recordView, 0, len(records))
	}
	links := make(map[string]string, len(stored))
	for i := range stored {
		view, err := h.viewFile(ctx, &stored[i])
		if err != nil {
			return nil, nil, err
		}
		files = append(files, view)
		links[view.ID.String()] = view.URL
	}
	for i := range records {
		r := &records[i]
		steps = append(steps, recordView{ID: r.StepID, Tool: r.Tool, Status: r.Status, Result: r.Result,
			Healed: r.Healed, Suggested: r.Suggested, Drifted: r.Drifted, Findings: h.viewFindings(r.Findings), Look: r.Look,
			HealingID: r.HealingID, StartMS: r.StartMS, TookMS: r.TookMS, Failure: r.Failure,
			Phase: r.Phase, Group: r.Group, Iterations: r.Iterations, ScreenshotURL: links[r.ScreenshotID]})
	}
	return steps, files, nil
}

// SuiteRunView is a run of a suite. caseRuns are in the response of the single run
// only.
type SuiteRunView struct {
	BuildName     string     `json:"buildName"`
	ID            uuid.UUID  `json:"id"`
	OrgID         uuid.UUID  `json:"orgId"`
	RunCount      int        `json:"runCount"`
	TeamID        uuid.UUID  `json:"teamId"`
	UserID        uuid.UUID  `json:"userId"`
	TestSuiteID   uuid.UUID  `json:"testSuiteId"`
	TestSuiteName string     `json:"testSuiteName"`
	Status        run.Status `json:"status"`
	Error         *string    `json:"error"`
	CreationDate  string     `json:"creationDate"`
	StartDate     string     `json:"startDate,omitempty"`
	EndDate       string     `json:"endDate,omitempty"`
	Counts        countsView `json:"counts"`
	Healed        int        `json:"healed"` // steps of all case runs
	Drifted       int        `json:"drifted"`
	Unreviewed    int        `json:"unreviewed,omitempty"`
	BuildID       *int64     `json:"buildId,omitempty"`
	TestURL       string     `json:"testUrl,omitempty"` // that the run was given
	VariableNames []string   `json:"variableNames,omitempty"`
	Environment   string     `json:"environment,omitempty"`
	Retries       *int       `json:"retries,omitempty"`     // that the run was given
	RerunOf       *uuid.UUID `json:"rerunOf,omitempty"`     // the run whose cases are run again
	RerunOnly     string     `json:"rerunOnly,omitempty"`   // which of them: failed or flaky
	Shard         *shardView `json:"shard,omitempty"`       // the part of the suite
	MaxDuration   *int       `json:"maxDuration,omitempty"` // seconds
	Pinned        *PinView   `json:"pinned,omitempty"`
	CaseRuns      []runView  `json:"caseRuns,omitzero"`
	// FailureGroups are the largest groups of failures with one cause, of the single run only.
	FailureGroups []diagnosis.Group `json:"failureGroups,omitzero"`
}

// ViewSuiteRun is a run of a suite as a list has it.
func ViewSuiteRun(r *run.SuiteRun) SuiteRunView {
	view := SuiteRunView{BuildName: r.BuildName, ID: r.ID, OrgID: r.OrganizationUUID, RunCount: r.RunCount, TeamID: r.TeamUUID,
		UserID: r.UserUUID, TestSuiteID: r.SuiteID, TestSuiteName: r.SuiteName, Status: r.Status, CreationDate: answer.Stamp(r.CreatedAt),
		StartDate: answer.StampOnce(r.StartedAt), EndDate: answer.StampOnce(r.FinishedAt), Healed: r.Healed, Drifted: r.Drifted,
		Unreviewed: r.Unreviewed, BuildID: r.BuildID, TestURL: step.ShownURL(r.TestURL), VariableNames: r.VariableNames,
		Environment: r.Environment, Retries: r.Retries, RerunOf: r.RerunOf, RerunOnly: string(r.RerunOnly), Shard: viewShard(r),
		MaxDuration: r.MaxDuration, Counts: viewCounts(r.Counts), Pinned: ViewPin(r.Pin)}
	view.Counts.Quarantined, view.Counts.Flaky = r.Quarantined, r.Flaky
	view.Counts.Total += r.Quarantined
	if r.Error != "" {
		view.Error = &r.Error
	}
	return view
}
