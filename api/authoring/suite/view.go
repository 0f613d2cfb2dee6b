package suite

import (
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/authoring/answer"
	"github.com/slipway-qa/slipway/api/authoring/handler"
	"github.com/slipway-qa/slipway/api/authoring/settings"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/login"
)

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
	SetUp    []handler.StepView `json:"setUp,omitempty"`
	TearDown []handler.StepView `json:"tearDown,omitempty"`
	// Login is the case that signs in before the others, and when it is played again; null: none.
	Login *login.Login `json:"login"`
	planDetail
}

func viewSuite(row *authoring.Suite) suiteView {
	return suiteView{ID: row.ID, OrgID: row.OrganizationUUID, TeamID: row.TeamUUID, Name: row.Name, Tags: answer.Tags(row.Tags),
		CreationDate: answer.Stamp(row.CreatedAt), LastUpdate: answer.Stamp(row.UpdatedAt), CreatorUserID: row.CreatorUUID,
		CreatorUserName: row.CreatorName, LastModifierUserID: row.ModifierUUID, LastModifierUserName: row.ModifierName,
		Healing: settings.Mode(row.Healing), Drift: settings.Mode(row.Drift), Trace: settings.Mode(row.Trace), Retries: row.Retries,
		DefaultEnvironment: settings.Mode(row.DefaultEnvironment),
		RunRetention:       row.Retention, TestCaseCount: row.CaseCount, Filter: viewFilter(row.Plan.Filter), MaxDuration: row.Plan.MaxDuration}
}

// viewSingle is a suite with the number of its runs and the steps around its cases.
func (h Suites) viewSingle(row *authoring.Suite) suiteView {
	view := viewSuite(row)
	view.suiteDetail = &suiteDetail{RunCount: row.RunCount, SetUp: h.ViewSteps(row.SetUp), TearDown: h.ViewSteps(row.TearDown),
		Login: row.Login, planDetail: viewPlan(row)}
	return view
}
