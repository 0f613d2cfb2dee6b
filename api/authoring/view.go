package authoring

import (
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/login"
	"github.com/slipway-qa/slipway/storage/rows"
	"github.com/slipway-qa/slipway/storage/step"
)

// data writes the content in the member that every success has, with the warnings of the
// request.
func data(c *gin.Context, status int, content any) error {
	if list := warningsOf(c); len(list) > 0 {
		content = warned{content, list}
	}
	return respond.JSON(c, status, gin.H{"data": content})
}

// list is a page of a list with the number of all that match.
type list[T any] struct {
	Items []T `json:"items"`
	Total int `json:"total"`
}

// listOf returns the views of rows; items is never null.
func listOf[R, T any](rows []R, total int, view func(*R) T) list[T] {
	l := list[T]{Items: make([]T, 0, len(rows)), Total: total}
	for i := range rows {
		l.Items = append(l.Items, view(&rows[i]))
	}
	return l
}

// stamp writes a time as all answers have it: ISO 8601, UTC, milliseconds.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// caseView is a test case. A case of no suite
// has no testSuiteId.
type caseView struct {
	ID                 string       `json:"id"`
	OrgID              uuid.UUID    `json:"orgId"`
	TeamID             uuid.UUID    `json:"teamId"`
	CreatorUserID      uuid.UUID    `json:"creatorUserId"`
	LastModifierUserID uuid.UUID    `json:"lastModifierUserId"`
	TestSuiteID        *uuid.UUID   `json:"testSuiteId,omitempty"`
	Name               string       `json:"name"`
	Tags               []string     `json:"tags"`
	CreationDate       string       `json:"creationDate"`
	LastUpdateDate     string       `json:"lastUpdateDate"`
	RunSettings        settingsView `json:"runSettings"`
	// Quarantine is present in quarantine alone.
	Quarantine *quarantineView `json:"quarantine,omitempty"`
	*caseDetail
}

// caseDetail is what the responses of one case have besides.
type caseDetail struct {
	Revisions            []revisionView `json:"revisions"`
	CreatorUserName      string         `json:"creatorUserName"`
	LastModifierUserName string         `json:"lastModifierUserName"`
	// QuarantineProposed says why the case may belong into quarantine, of one that is in none.
	QuarantineProposed *proposalView `json:"quarantineProposed,omitempty"`
	Data               *dataView     `json:"data"` // of the latest revision; null without
}

func viewCase(row *authoring.Case) caseView {
	return caseView{ID: row.ID, OrgID: row.OrganizationUUID, TeamID: row.TeamUUID, CreatorUserID: row.CreatorUUID,
		LastModifierUserID: row.ModifierUUID, TestSuiteID: row.SuiteID, Name: row.Name, Tags: tags(row.Tags),
		CreationDate: stamp(row.CreatedAt), LastUpdateDate: stamp(row.UpdatedAt), RunSettings: viewSettings(&row.Settings),
		Quarantine: viewQuarantine(row.Quarantine)}
}

// viewWhole is a case with its revisions.
func (h *room) viewWhole(row *authoring.Case, revisions []authoring.Revision, data map[uuid.UUID]rows.Header) caseView {
	view := viewCase(row)
	view.caseDetail = &caseDetail{Revisions: make([]revisionView, 0, len(revisions)),
		CreatorUserName: row.CreatorName, LastModifierUserName: row.ModifierName}
	for i := range revisions {
		one := h.viewRevision(&revisions[i])
		view.Data = nil
		if id := revisions[i].DataID; id != nil {
			if header, ok := data[*id]; ok {
				view.Data = viewData(&header)
			}
		}
		one.Data = view.Data
		view.Revisions = append(view.Revisions, one)
	}
	return view
}

// settingsView is how a case runs. A case without a target has a primaryTarget
// without capabilities and no runTargets.
type settingsView struct {
	TestURL       string       `json:"testUrl"`
	SCTunnelName  *string      `json:"scTunnelName"`
	PrimaryTarget targetView   `json:"primaryTarget"`
	RunTargets    []targetView `json:"runTargets"`
	LastBuildName string       `json:"lastBuildName"`
	Strict        bool         `json:"strict"`
	Healing       *string      `json:"healing"` // null: as the suite, else the organization
	Drift         *string      `json:"drift"`   // likewise
	Trace         *string      `json:"trace"`   // likewise
	Retries       *int         `json:"retries"` // likewise
	step.Access                // absent members: none
}

// targetView is where a test runs.
type targetView struct {
	Capabilities step.Capabilities `json:"capabilities"`
	IsRDC        bool              `json:"isRdc"`
}

func viewSettings(s *step.RunSettings) settingsView {
	view := settingsView{TestURL: s.TestURL, SCTunnelName: s.SCTunnelName, PrimaryTarget: viewTarget(s.PrimaryTarget),
		RunTargets: make([]targetView, 0, len(s.RunTargets)), LastBuildName: s.LastBuildName,
		Strict: or(s.Strict, true), Healing: mode(s.Healing), Drift: mode(s.Drift), Trace: mode(s.Trace), Retries: s.Retries, Access: s.Access}
	for i := range s.RunTargets {
		view.RunTargets = append(view.RunTargets, viewTarget(&s.RunTargets[i]))
	}
	return view
}

// mode is a mode of healing, drift or traces, nil without one.
func mode(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func viewTarget(t *step.Target) targetView {
	if t.Empty() {
		return targetView{Capabilities: step.Capabilities{}}
	}
	return targetView{Capabilities: t.Capabilities, IsRDC: t.IsRDC}
}

// revisionView is one state of a case's steps.
type revisionView struct {
	ID               string             `json:"id"`
	Intent           string             `json:"intent"`
	Steps            []stepView         `json:"steps"`
	SetUp            []stepView         `json:"setUp,omitempty"`    // before the steps
	TearDown         []stepView         `json:"tearDown,omitempty"` // after them
	DiscoveredIntent string             `json:"discoveredIntent"`
	Description      string             `json:"description"`
	Reasoning        []authoring.Reason `json:"reasoning"`
	CreationDate     string             `json:"creationDate"`
	Data             *dataView          `json:"data"` // that its steps are run with; null without
}

func (h *room) viewRevision(r *authoring.Revision) revisionView {
	view := revisionView{ID: r.ID, Intent: r.Intent, Steps: h.viewSteps(r.Steps), SetUp: h.viewSteps(r.SetUp),
		TearDown:    h.viewSteps(r.TearDown),
		Description: r.Description, DiscoveredIntent: r.DiscoveredIntent, Reasoning: r.Reasoning, CreationDate: stamp(r.CreatedAt)}
	if view.Reasoning == nil {
		view.Reasoning = []authoring.Reason{}
	}
	return view
}

// stepView is a step. result is null, and screenshotUrl "", for a step that came
// by import.
type stepView struct {
	ID            string          `json:"id"`
	Tool          step.Tool       `json:"tool"`
	Result        *step.Outcome   `json:"result"`
	ScreenshotURL string          `json:"screenshotUrl"`
	Optional      bool            `json:"optional,omitempty"`
	When          *step.Condition `json:"when,omitempty"`
	TimeoutMS     int             `json:"timeoutMs,omitempty"`
}

func (h *room) viewStep(s *step.Step) stepView {
	return stepView{ID: s.ID, Tool: s.Tool, Result: s.Result, ScreenshotURL: h.fileURL(s.ScreenshotID),
		Optional: s.Optional, When: s.When, TimeoutMS: s.TimeoutMS}
}

// fileURL is the address of a stored file, "" without one.
func (h *room) fileURL(id string) string {
	if id == "" {
		return ""
	}
	return h.cfg.PublicURL + basePath + "/files/" + id
}

// suiteView is a test suite.
type suiteView struct {
	ID                   uuid.UUID `json:"id"`
	OrgID                uuid.UUID `json:"orgId"`
	TeamID               uuid.UUID `json:"teamId"`
	Name                 string    `json:"name"`
	Tags                 []string  `json:"tags"`
	CreationDate         string    `json:"creationDate"`
	LastUpdate           string    `json:"lastUpdate"`
	CreatorUserID        uuid.UUID `json:"creatorUserId"`
	CreatorUserName      string    `json:"creatorUserName"`
	LastModifierUserID   uuid.UUID `json:"lastModifierUserId"`
	LastModifierUserName string    `json:"lastModifierUserName"`
	Healing              *string   `json:"healing"` // of its cases; null: as the organization
	Drift                *string   `json:"drift"`   // likewise
	Trace                *string   `json:"trace"`   // likewise
	Retries              *int      `json:"retries"` // likewise
	// DefaultEnvironment is the environment of runs that name none; null: none.
	DefaultEnvironment *string                `json:"defaultEnvironment"`
	RunRetention       authoring.RunRetention `json:"runRetention"`
	TestCaseCount      int                    `json:"testCaseCount"`
	// Filter is which cases it runs in place of cases of its own; null: it has its own.
	Filter      *filterView `json:"filter"`
	MaxDuration *int        `json:"maxDuration"` // of its runs, in seconds; null: no bound
	*suiteDetail
}

// suiteDetail is what the responses of one suite have besides.
type suiteDetail struct {
	RunCount int `json:"runCount"`
	// SetUp and TearDown stand around the steps of each case.
	SetUp    []stepView `json:"setUp,omitempty"`
	TearDown []stepView `json:"tearDown,omitempty"`
	// Login is the case that signs in before the others, and when it is played again; null: none.
	Login *login.Login `json:"login"`
	planDetail
}

func viewSuite(row *authoring.Suite) suiteView {
	return suiteView{ID: row.ID, OrgID: row.OrganizationUUID, TeamID: row.TeamUUID, Name: row.Name, Tags: tags(row.Tags),
		CreationDate: stamp(row.CreatedAt), LastUpdate: stamp(row.UpdatedAt), CreatorUserID: row.CreatorUUID,
		CreatorUserName: row.CreatorName, LastModifierUserID: row.ModifierUUID, LastModifierUserName: row.ModifierName,
		Healing: mode(row.Healing), Drift: mode(row.Drift), Trace: mode(row.Trace), Retries: row.Retries,
		DefaultEnvironment: mode(row.DefaultEnvironment),
		RunRetention:       row.Retention, TestCaseCount: row.CaseCount, Filter: viewFilter(row.Plan.Filter), MaxDuration: row.Plan.MaxDuration}
}

// viewSingle is a suite with the number of its runs and the steps around its cases.
func (h *room) viewSingle(row *authoring.Suite) suiteView {
	view := viewSuite(row)
	view.suiteDetail = &suiteDetail{RunCount: row.RunCount, SetUp: h.viewSteps(row.SetUp), TearDown: h.viewSteps(row.TearDown),
		Login: row.Login, planDetail: viewPlan(row)}
	return view
}

func tags(t []string) []string {
	if t == nil {
		return []string{}
	}
	return t
}
