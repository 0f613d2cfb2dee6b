package group

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution/testergroup"
)

// groupView is a group in version 3.
type groupView struct {
	ID            int64     `json:"id"`
	Name          string    `json:"name"`
	TeamID        *int64    `json:"team_id"` // null when the organization had no team
	Private       bool      `json:"private"`
	TestersCount  int       `json:"testers_count"`
	ProjectsCount int       `json:"projects_count"`
	CreatedAt     time.Time `json:"created_at"`
	UpdatedAt     time.Time `json:"updated_at"`
}

func viewGroup(g *testergroup.Group) groupView {
	view := groupView{ID: g.ID, Name: g.Name, Private: g.Private, TestersCount: g.TestersCount, ProjectsCount: g.ProjectsCount,
		CreatedAt: g.CreatedAt.UTC(), UpdatedAt: g.UpdatedAt.UTC()}
	if g.TeamID != 0 {
		view.TeamID = &g.TeamID
	}
	return view
}

// wholeGroupView is a single group: with its first testers and apps.
type wholeGroupView struct {
	groupView
	Testers  []testerView `json:"testers"`
	Projects []any        `json:"projects"`
}

// testerView is a tester in version 3. ID is that of the membership, by which the
// operations on testers name it, UserID that of the person.
type testerView struct {
	ID        int64              `json:"id"`
	UserID    int64              `json:"user_id"`
	Email     string             `json:"email"`
	Name      string             `json:"name"`
	Role      account.Role       `json:"role"`
	Groups    []testergroup.Name `json:"groups"`
	Blocked   bool               `json:"blocked"`
	LastLogin *time.Time         `json:"last_login"` // null: never
	CreatedAt time.Time          `json:"created_at"`
}

// viewPeople shows testers with their groups, which are read for all at once.
func (r *room) viewPeople(ctx context.Context, q storage.Querier, organizationID int64, list []testergroup.Person) ([]testerView, error) {
	users := make([]int64, 0, len(list))
	for _, p := range list {
		users = append(users, p.UserID)
	}
	groups, err := testergroup.OfUsers(ctx, q, organizationID, users)
	if err != nil {
		return nil, err
	}
	views := make([]testerView, 0, len(list))
	for _, p := range list {
		of := groups[p.UserID]
		if of == nil {
			of = []testergroup.Name{}
		}
		views = append(views, testerView{ID: p.MembershipID, UserID: p.UserID, Email: p.Email, Name: p.Name, Role: p.Role,
			Groups: of, Blocked: p.Blocked, LastLogin: utc(p.LastLogin), CreatedAt: p.CreatedAt.UTC()})
	}
	return views, nil
}

// envelope is where a page of testers stands.
func envelope(at pagination.Request, p *testergroup.People) pagination.Pagination {
	if p.Exact {
		return at.Envelope(p.Total)
	}
	return at.AtLeast(p.Total, p.Next)
}

// teamView is a team in version 3.
type teamView struct {
	ID            int64     `json:"id"`
	UUID          uuid.UUID `json:"uuid"` // as the authoring interface names it
	Name          string    `json:"name"`
	MembersCount  int       `json:"members_count"`
	ProjectsCount int       `json:"projects_count"`
	GroupsCount   int       `json:"groups_count"`
	CreatedAt     time.Time `json:"created_at"`
}

func viewTeam(t *account.CountedTeam) teamView {
	return teamView{ID: t.ID, UUID: t.UUID, Name: t.Name, MembersCount: t.MembersCount, ProjectsCount: t.ProjectsCount,
		GroupsCount: t.GroupsCount, CreatedAt: t.CreatedAt.UTC()}
}

// wholeTeamView is a single team: with its first members.
type wholeTeamView struct {
	teamView
	Members []memberView `json:"members"`
}

// memberView is somebody in a team.
type memberView struct {
	UserID   int64        `json:"user_id"`
	Email    string       `json:"email"` // "" for a service account
	Username string       `json:"username"`
	Name     string       `json:"name"`
	Role     account.Role `json:"role"` // in the organization
	Admin    bool         `json:"admin"`
	Blocked  bool         `json:"blocked"`
	AddedAt  time.Time    `json:"added_at"`
}

func viewMembers(list []account.TeamMember) []memberView {
	views := make([]memberView, 0, len(list))
	for _, m := range list {
		views = append(views, memberView{UserID: m.UserID, Email: m.Email, Username: m.Username, Name: m.Name, Role: m.Role,
			Admin: m.Admin, Blocked: m.Blocked, AddedAt: m.AddedAt.UTC()})
	}
	return views
}

func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}
