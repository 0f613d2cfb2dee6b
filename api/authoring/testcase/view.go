package testcase

import (
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/authoring/answer"
	"github.com/slipway-qa/slipway/api/authoring/handler"
	"github.com/slipway-qa/slipway/api/authoring/settings"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/rows"
)

// caseView is a test case. A case of no suite
// has no testSuiteId.
type caseView struct {
	ID                 string        `json:"id"`
	OrgID              uuid.UUID     `json:"orgId"`
	TeamID             uuid.UUID     `json:"teamId"`
	CreatorUserID      uuid.UUID     `json:"creatorUserId"`
	LastModifierUserID uuid.UUID     `json:"lastModifierUserId"`
	TestSuiteID        *uuid.UUID    `json:"testSuiteId,omitempty"`
	Name               string        `json:"name"`
	Tags               []string      `json:"tags"`
	CreationDate       string        `json:"creationDate"`
	LastUpdateDate     string        `json:"lastUpdateDate"`
	RunSettings        settings.View `json:"runSettings"`
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
		LastModifierUserID: row.ModifierUUID, TestSuiteID: row.SuiteID, Name: row.Name, Tags: answer.Tags(row.Tags),
		CreationDate: answer.Stamp(row.CreatedAt), LastUpdateDate: answer.Stamp(row.UpdatedAt), RunSettings: settings.ViewOf(&row.Settings),
		Quarantine: viewQuarantine(row.Quarantine)}
}

// viewWhole is a case with its revisions.
func (h Cases) viewWhole(row *authoring.Case, revisions []authoring.Revision, data map[uuid.UUID]rows.Header) caseView {
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

// revisionView is one state of a case's steps.
type revisionView struct {
	ID               string             `json:"id"`
	Intent           string             `json:"intent"`
	Steps            []handler.StepView `json:"steps"`
	SetUp            []handler.StepView `json:"setUp,omitempty"`    // before the steps
	TearDown         []handler.StepView `json:"tearDown,omitempty"` // after them
	DiscoveredIntent string             `json:"discoveredIntent"`
	Description      string             `json:"description"`
	Reasoning        []authoring.Reason `json:"reasoning"`
	CreationDate     string             `json:"creationDate"`
	Data             *dataView          `json:"data"` // that its steps are run with; null without
}

func (h Cases) viewRevision(r *authoring.Revision) revisionView {
	view := revisionView{ID: r.ID, Intent: r.Intent, Steps: h.ViewSteps(r.Steps), SetUp: h.ViewSteps(r.SetUp),
		TearDown:    h.ViewSteps(r.TearDown),
		Description: r.Description, DiscoveredIntent: r.DiscoveredIntent, Reasoning: r.Reasoning, CreationDate: answer.Stamp(r.CreatedAt)}
	if view.Reasoning == nil {
		view.Reasoning = []authoring.Reason{}
	}
	return view
}
