package group

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// teams are the handlers of teams in version 3.
type teams struct{ *room }

// shownInTeam is how many members a single team shows; the list has all.
const shownInTeam = 100

// list serves GET /api/v3/teams, by name. Parameters: search (part of the name), page,
// per_page.
func (h teams) list(c *gin.Context) error {
	at, err := pagination.Parse(c.Request.URL.Query(), pagination.Small())
	if err != nil {
		return err
	}
	search, err := text(c, "search")
	if err != nil {
		return err
	}
	rows, total, err := account.Teams(c.Request.Context(), h.db, auth.Organization(c), search, at.Rows())
	if err != nil {
		return err
	}
	views := make([]teamView, 0, len(rows))
	for i := range rows {
		views = append(views, viewTeam(&rows[i]))
	}
	return respond.JSON(c, http.StatusOK, gin.H{"teams": views, "pagination": at.Envelope(total)})
}

// get serves GET /api/v3/teams/{id}, with the first hundred members, admins first.
func (h teams) get(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	return h.show(c, http.StatusOK, id)
}

func (h teams) show(c *gin.Context, status int, id int64) error {
	ctx, organization := c.Request.Context(), auth.Organization(c)
	t, err := account.TeamByID(ctx, h.db, organization, id)
	if err != nil {
		return err
	}
	members, err := account.TeamMembers(ctx, h.db, organization, id, storage.Page{Limit: shownInTeam})
	if err != nil {
		return err
	}
	return respond.JSON(c, status, gin.H{"team": wholeTeamView{teamView: viewTeam(t), Members: viewMembers(members)}})
}

// members serves GET /api/v3/teams/{id}/members. Parameters: page, per_page.
func (h teams) members(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	at, err := pagination.Parse(c.Request.URL.Query(), pagination.Small())
	if err != nil {
		return err
	}
	ctx, organization := c.Request.Context(), auth.Organization(c)
	t, err := account.TeamByID(ctx, h.db, organization, id)
	if err != nil {
		return err
	}
	members, err := account.TeamMembers(ctx, h.db, organization, id, at.Rows())
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"members": viewMembers(members), "pagination": at.Envelope(t.MembersCount)})
}

// placeBody names somebody and whether to be admin of the team.
type placeBody struct {
	UserID int64       `json:"user_id"`
	Email  string      `json:"email"` // or the user name of a service account
	Admin  body.Switch `json:"admin"`
}

// login is what finds the member where the request names no id.
func (in *placeBody) login() string { return strings.TrimSpace(in.Email) }

// placesOf finds the members whom a request names, by one statement.
func placesOf(ctx context.Context, q storage.Querier, organizationID int64, list []placeBody) ([]account.Place, error) {
	var logins []string
	for i := range list {
		login := list[i].login()
		if (login == "") == (list[i].UserID == 0) {
			return nil, storage.Invalid("user_id", "or email is required, and not both")
		}
		if login != "" {
			logins = append(logins, login)
		}
	}
	users := map[string]int64{}
	if len(logins) > 0 {
		var err error
		if users, err = account.MembersByLogin(ctx, q, organizationID, logins); err != nil {
			return nil, err
		}
	}
	places := make([]account.Place, 0, len(list))
	for i := range list {
		p := account.Place{UserID: list[i].UserID, Admin: bool(list[i].Admin)}
		if p.UserID == 0 {
			if p.UserID = users[list[i].login()]; p.UserID == 0 {
				return nil, storage.Invalid("email", "is of no member of the organization")
			}
		}
		places = append(places, p)
	}
	return places, nil
}

// notMember is what a request reads that names somebody outside the organization.
func notMember(err error) error {
	if errors.Is(err, storage.ErrNotFound) {
		return storage.Invalid("user_id", "is of no member of the organization")
	}
	return err
}

// teamBody is what a request may say of a team. Members replaces those of the team.
type teamBody struct {
	Name    *string      `json:"name"`
	Members *[]placeBody `json:"members"`
}

// maxMembers bounds the members of one request.
const maxMembers = 1000

// apply changes the team's name and members.
func (in *teamBody) apply(ctx context.Context, tx *storage.Tx, w account.Writer, id int64) error {
	if in.Name != nil {
		if err := account.RenameTeam(ctx, tx, w, id, *in.Name); err != nil {
			return err
		}
	}
	if in.Members == nil {
		return nil
	}
	if len(*in.Members) > maxMembers {
		return storage.Invalid("members", "must be at most %d", maxMembers)
	}
	places, err := placesOf(ctx, tx, w.OrganizationID, *in.Members)
	if err != nil {
		return err
	}
	return notMember(account.ReplaceTeamMembers(ctx, tx, w, id, places))
}

// create serves POST /api/v3/teams. Members: name; members (array of objects with
// user_id or email, and admin).
func (h teams) create(c *gin.Context) error {
	var in teamBody
	if err := body.Read(c, &in); err != nil {
		return err
	}
	n := account.NewTeam{OrganizationID: auth.Organization(c)}
	if in.Name != nil {
		n.Name, in.Name = *in.Name, nil
	}
	var t *account.Team
	err := h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (err error) {
		if t, err = account.CreateTeam(ctx, tx, w.Actor, n); err != nil {
			return err
		}
		return in.apply(ctx, tx, w, t.ID)
	})
	if err != nil {
		return err
	}
	return h.show(c, http.StatusCreated, t.ID)
}

// update serves PUT /api/v3/teams/{id}; only members that are sent are changed: name,
// members (replaces those of the team).
func (h teams) update(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	var in teamBody
	if err := body.Read(c, &in); err != nil {
		return err
	}
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) error {
		if err := account.MayChangeTeam(ctx, tx, w, id); err != nil {
			return err
		}
		return in.apply(ctx, tx, w, id)
	})
	if err != nil {
		return err
	}
	return h.show(c, http.StatusOK, id)
}

// delete serves DELETE /api/v3/teams/{id}: a team without apps, groups, test cases,
// suites, schedules and variables, that is not the only one.
func (h teams) delete(c *gin.Context) error {
	return h.deleteNamed(c, account.DeleteTeam)
}

// add serves POST /api/v3/teams/{id}/members: puts a member of the organization into the
// team, or changes whether the member is its admin. Members: user_id or email, admin.
func (h teams) add(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	var in placeBody
	if err := body.Read(c, &in); err != nil {
		return err
	}
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) error {
		if err := account.MayChangeTeam(ctx, tx, w, id); err != nil {
			return err
		}
		places, err := placesOf(ctx, tx, w.OrganizationID, []placeBody{in})
		if err != nil {
			return err
		}
		return notMember(account.AddTeamMember(ctx, tx, w, id, places[0]))
	})
	if err != nil {
		return err
	}
	return h.show(c, http.StatusOK, id)
}

// remove serves DELETE /api/v3/teams/{id}/members/{user}; the person stays in the
// organization.
func (h teams) remove(c *gin.Context) error {
	id, user, err := pathOfUser(c)
	if err != nil {
		return err
	}
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) error {
		return account.RemoveTeamMember(ctx, tx, w, id, user)
	})
	if err != nil {
		return err
	}
	return respond.Empty(c, http.StatusNoContent)
}
