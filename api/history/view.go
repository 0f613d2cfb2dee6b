package history

import (
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/authoring/answer"
	"github.com/slipway-qa/slipway/api/authoring/datarow"
	"github.com/slipway-qa/slipway/api/authoring/testrun"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/storage/history"
)

// runView is a run of a history.
type runView struct {
	testrun.PastView
	Flaky       int              `json:"flaky"`              // jobs of a case, cases of a suite
	Attempts    *int             `json:"attempts,omitempty"` // absent where nobody counted
	BuildID     *int64           `json:"buildId,omitempty"`
	Version     string           `json:"version,omitempty"` // of that build, with its commit
	Commit      string           `json:"commit,omitempty"`
	Environment string           `json:"environment,omitempty"`
	Quarantined bool             `json:"quarantined,omitempty"`
	Rows        int              `json:"rows,omitempty"` // data rows of the run
	Row         *datarow.View    `json:"row,omitempty"`  // where it is one
	Cases       *countsView      `json:"cases,omitempty"`
	Pinned      *testrun.PinView `json:"pinned,omitempty"`
	Link        string           `json:"link"` // to the page of the run
}

// countsView are the case runs of a suite run.
type countsView struct {
	Passed      int `json:"passed"`
	Failed      int `json:"failed"`
	Error       int `json:"error"`
	Cancelled   int `json:"cancelled"`
	Open        int `json:"open"`
	Quarantined int `json:"quarantined"`
}

// historyView is a page of a history.
type historyView struct {
	Summary summaryView `json:"summary"`
	Items   []runView   `json:"items"`
	More    bool        `json:"more"`
	Next    string      `json:"next,omitempty"`
}

// summaryView is what the runs of a window say together, and since when it fails.
type summaryView struct {
	Window       windowView    `json:"window"`
	Runs         int           `json:"runs"`
	Passed       int           `json:"passed"`
	Failed       int           `json:"failed"`
	Error        int           `json:"error"`
	Cancelled    int           `json:"cancelled"`
	Open         int           `json:"open"`
	Healed       int           `json:"healed"`
	Flaky        int           `json:"flaky"`
	PassRate     *float64      `json:"passRate"` // of the runs with a result; null: there is none
	Compared     int           `json:"compared"`
	Changed      int           `json:"changed"`
	FlakyShare   *float64      `json:"flakyShare"` // of those that were compared; null: there is none
	Flakiness    flakinessView `json:"flakiness"`
	MeanMS       *int64        `json:"meanMs"`
	P95MS        *int64        `json:"p95Ms"`
	LastGood     *runView      `json:"lastGood"`
	FailingSince *runView      `json:"failingSince"`
	Cases        *casesView    `json:"cases,omitempty"` // of a suite
}

// windowView are the runs that a summary is of.
type windowView struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Full is true when 1,000 runs were looked at: older ones since From were not.
	Full bool `json:"full"`
}

// flakinessView counts groups of runs that ought to have ended alike.
type flakinessView struct {
	Builds     int      `json:"builds"`
	BuildNames int      `json:"buildNames"`
	Days       int      `json:"days"`
	Both       int      `json:"both"`  // groups with both results
	Share      *float64 `json:"share"` // of all groups; null: there is none
}

// casesView are the cases of a suite that stand out.
type casesView struct {
	Runs     int        `json:"runs"` // suite runs that were counted
	Slowest  []caseView `json:"slowest"`
	Flakiest []caseView `json:"flakiest"`
}

// caseView is what a case did in the runs of its suite.
type caseView struct {
	TestCaseID   string `json:"testCaseId"`
	TestCaseName string `json:"testCaseName"`
	Runs         int    `json:"runs"`
	Failed       int    `json:"failed"`
	Flaky        int    `json:"flaky"`
	Groups       int    `json:"groups"`
	Both         int    `json:"both"`
	MeanMS       int    `json:"meanMs"`
	P95MS        int    `json:"p95Ms"`
}

// pinnedView is a run that was pinned.
type pinnedView struct {
	ID     uuid.UUID        `json:"id"`
	Pinned *testrun.PinView `json:"pinned"`
}

// place is the address below which the pages of runs are.
type place struct{ at string }

func (p place) run(r *history.Run) runView {
	v := runView{PastView: testrun.ViewPast(&r.Past), Flaky: r.Flaky, Attempts: r.Attempts, Version: r.Build.Version, Commit: r.Build.Commit,
		Environment: r.Environment, Quarantined: r.Quarantined, Rows: r.Rows, Pinned: testrun.ViewPin(r.Pin), Link: p.at + r.ID.String()}
	if r.Build.ID != 0 {
		v.BuildID = &r.Build.ID
	}
	if r.Row != nil {
		v.Row = &datarow.View{Index: r.Row.Index, Name: r.Row.Name}
	}
	if n := r.Cases; n != nil {
		v.Cases = &countsView{n.Passed, n.Failed, n.Errored, n.Cancelled, n.Open, n.Quarantined}
	}
	return v
}

func (p place) once(r *history.Run) *runView {
	if r == nil {
		return nil
	}
	v := p.run(r)
	return &v
}

func (p place) history(found history.Page, s history.Summary, of history.Standing) historyView {
	v := historyView{Summary: viewSummary(&s), Items: make([]runView, 0, len(found.Runs)), More: found.Next != nil}
	v.Summary.LastGood, v.Summary.FailingSince = p.once(of.LastGood), p.once(of.FirstBad)
	for i := range found.Runs {
		v.Items = append(v.Items, p.run(&found.Runs[i]))
	}
	if found.Next != nil {
		v.Next = pagination.CursorText(found.Next.At, found.Next.ID)
	}
	return v
}

func viewSummary(s *history.Summary) summaryView {
	v := summaryView{Window: windowView{From: answer.Stamp(s.Window.From), To: answer.Stamp(s.Window.To), Full: s.Window.Full},
		Runs: s.Runs, Passed: s.Passed, Failed: s.Failed, Error: s.Errored, Cancelled: s.Cancelled, Open: s.Open,
		Healed: s.Healed, Flaky: s.Flaky,
		PassRate: share(s.Passed, s.Judged()), Compared: s.Compared, Changed: s.Changed, FlakyShare: share(s.Changed, s.Compared),
		Flakiness: flakinessView{Builds: s.Flakiness.Builds, BuildNames: s.Flakiness.Names, Days: s.Flakiness.Days, Both: s.Flakiness.Both,
			Share: share(s.Flakiness.Both, s.Flakiness.Groups())},
		MeanMS: milliseconds(s.Mean), P95MS: milliseconds(s.P95)}
	return v
}

func share(n, of int) *float64 {
	if of == 0 {
		return nil
	}
	part := float64(n) / float64(of)
	return &part
}

func milliseconds(d *time.Duration) *int64 {
	if d == nil {
		return nil
	}
	ms := d.Milliseconds()
	return &ms
}

func viewCases(c *history.Cases) *casesView {
	of := func(list []history.CaseSum) []caseView {
		views := make([]caseView, 0, len(list))
		for _, s := range list {
			views = append(views, caseView{s.CaseID, s.CaseName, s.Runs, s.Failed, s.Flaky, s.Groups, s.Both, s.MeanMS, s.P95MS})
		}
		return views
	}
	return &casesView{Runs: c.Runs, Slowest: of(c.Slowest), Flakiest: of(c.Flakiest)}
}
