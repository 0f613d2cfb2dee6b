package stepgroup

import (
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/authoring/answer"
	"github.com/slipway-qa/slipway/api/authoring/handler"
	"github.com/slipway-qa/slipway/storage/step/group"
	"github.com/slipway-qa/slipway/storage/stepgroup"
)

// groupView is a step group.
type groupView struct {
	ID                 uuid.UUID         `json:"id"`
	TeamID             uuid.UUID         `json:"teamId"`
	Name               string            `json:"name"`
	Description        string            `json:"description"`
	Parameters         []group.Parameter `json:"parameters"`
	RevisionID         uuid.UUID         `json:"revisionId"` // the latest
	RevisionNumber     int               `json:"revisionNumber"`
	StepCount          int               `json:"stepCount"`
	UserCount          int               `json:"userCount"` // cases, suites and groups that run it by themselves
	CreatorUserID      uuid.UUID         `json:"creatorUserId"`
	LastModifierUserID uuid.UUID         `json:"lastModifierUserId"`
	CreationDate       string            `json:"creationDate"`
	LastUpdateDate     string            `json:"lastUpdateDate"`
	*groupDetail
}

// groupDetail is what the answers of one group have besides.
type groupDetail struct {
	Steps  []handler.StepView `json:"steps"`
	UsedBy usersView          `json:"usedBy"`
}

// usersView is who runs a group by itself: the first hundred of each kind by their names.
type usersView struct {
	TestCases  []userView `json:"testCases"`
	TestSuites []userView `json:"testSuites"`
	StepGroups []userView `json:"stepGroups"`
	Total      int        `json:"total"`
}

// userView is a case, a suite or a group.
type userView struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// revisionView is one state of a group.
type revisionView struct {
	ID           uuid.UUID          `json:"id"`
	Number       int                `json:"number"`
	Description  string             `json:"description"`
	Parameters   []group.Parameter  `json:"parameters"`
	Steps        []handler.StepView `json:"steps"`
	CreationDate string             `json:"creationDate"`
}

func viewGroup(g *stepgroup.Group) groupView {
	v := &g.Revision
	return groupView{ID: g.ID, TeamID: g.TeamUUID, Name: g.Name, Description: v.Description, Parameters: v.Parameters, RevisionID: v.ID,
		RevisionNumber: v.Number, StepCount: g.StepCount, UserCount: g.UserCount, CreatorUserID: g.CreatorUUID,
		LastModifierUserID: g.ModifierUUID, CreationDate: answer.Stamp(g.CreatedAt), LastUpdateDate: answer.Stamp(g.UpdatedAt)}
}

func (h *Handlers) viewWhole(g *stepgroup.Group, u *stepgroup.Users) groupView {
	view := viewGroup(g)
	view.groupDetail = &groupDetail{Steps: h.cfg.Tests.ViewSteps(g.Revision.Steps), UsedBy: usersView{
		TestCases: viewUsers(u.Cases), TestSuites: viewUsers(u.Suites), StepGroups: viewUsers(u.Groups), Total: u.Count()}}
	return view
}

func viewUsers(users []stepgroup.User) []userView {
	views := make([]userView, 0, len(users))
	for _, u := range users {
		views = append(views, userView(u))
	}
	return views
}

func (h *Handlers) viewRevision(v *stepgroup.Revision) revisionView {
	return revisionView{ID: v.ID, Number: v.Number, Description: v.Description, Parameters: v.Parameters,
		Steps: h.cfg.Tests.ViewSteps(v.Steps), CreationDate: answer.Stamp(v.CreatedAt)}
}
