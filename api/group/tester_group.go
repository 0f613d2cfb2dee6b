package group

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/testergroup"
)

// groups are the handlers of tester groups in version 3.
type groups struct{ *room }

// shownInGroup is how many testers and apps a single group shows; the lists have all.
const shownInGroup = 100

// list serves GET /api/v3/groups, by name. Parameters: search (part of the name),
// team_id, page, per_page.
func (h groups) list(c *gin.Context) error {
	f := testergroup.Filter{OrganizationID: auth.Organization(c)}
	at, err := pagination.Parse(c.Request.URL.Query(), pagination.Small())
	if err != nil {
		return err
	}
	if f.Search, err = text(c, "search"); err != nil {
		return err
	}
	if f.TeamID, err = number(c, "team_id"); err != nil {
		return err
	}
	rows, total, err := testergroup.List(c.Request.Context(), h.db, f, at.Rows())
	if err != nil {
		return err
	}
	views := make([]groupView, 0, len(rows))
	for i := range rows {
		views = append(views, viewGroup(&rows[i]))
	}
	return respond.JSON(c, http.StatusOK, gin.H{"groups": views, "pagination": at.Envelope(total)})
}

// get serves GET /api/v3/groups/{id}, with the first hundred testers and apps.
func (h groups) get(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	return h.show(c, http.StatusOK, id, gin.H{})
}

// show writes a single group beside the members of more.
func (h groups) show(c *gin.Context, status int, id int64, more gin.H) error {
	ctx, organization, first := c.Request.Context(), auth.Organization(c), storage.Page{Limit: shownInGroup}
	g, err := testergroup.ByID(ctx, h.db, organization, id)
	if err != nil {
		return err
	}
	people, err := testergroup.Testers(ctx, h.db, organization, id, "", first)
	if err != nil {
		return err
	}
	apps, _, err := testergroup.Projects(ctx, h.db, organization, id, first)
	if err != nil {
		return err
	}
	view := wholeGroupView{groupView: viewGroup(g), Projects: h.viewProjects(apps)}
	if view.Testers, err = h.viewPeople(ctx, h.db, organization, people.List); err != nil {
		return err
	}
	more["group"] = view
	return respond.JSON(c, status, more)
}

func (r *room) viewProjects(list []distribution.Project) []any {
	views := make([]any, 0, len(list))
	for i := range list {
		views = append(views, r.projectView(&list[i]))
	}
	return views
}

// groupBody is what a request may say of a group. Projects replaces the apps that the
// group has.
type groupBody struct {
	Name     *string       `json:"name"`
	TeamID   *int64        `json:"team_id"`
	Private  *body.Switch  `json:"private"`
	Projects body.List     `json:"projects"`
	Testers  body.LongList `json:"testers"` // mail addresses
}

// read also returns the ids of the apps; nil when the member is absent.
func (in *groupBody) read(c *gin.Context) (projects []int64, err error) {
	if err := body.Read(c, in); err != nil {
		return nil, err
	}
	if in.TeamID != nil && *in.TeamID < 1 {
		return nil, storage.Invalid("team_id", "must be the id of a team")
	}
	return ids("projects", in.Projects)
}

// create serves POST /api/v3/groups. Members: name, team_id (may be left out by an
// organization with one team), private, projects (ids), testers (mail addresses; those
// that nobody has become testers).
func (h groups) create(c *gin.Context) error {
	var in groupBody
	apps, err := in.read(c)
	if err != nil {
		return err
	}
	n := testergroup.NewGroup{Projects: apps, Private: in.Private != nil && bool(*in.Private)}
	if in.Name != nil {
		n.Name = *in.Name
	}
	if in.TeamID != nil {
		n.TeamID = *in.TeamID
	}
	var g *testergroup.Group
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (err error) {
		// Before the group's name is taken, in the order of who adds testers to a new group.
		if err := account.LockOrganization(ctx, tx, w.OrganizationID); err != nil {
			return err
		}
		if g, err = testergroup.CreateInTeam(ctx, tx, w, n); err != nil {
			return err
		}
		return addToGroup(ctx, tx, w, g, people{emails: in.Testers, member: "testers"})
	})
	if err != nil {
		return err
	}
	return h.show(c, http.StatusCreated, g.ID, gin.H{})
}

// update serves PUT /api/v3/groups/{id}; only members that are sent are changed: name,
// team_id, private, projects (replaces the apps that the group has).
func (h groups) update(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	var in groupBody
	apps, err := in.read(c)
	if err != nil {
		return err
	}
	if in.Testers != nil {
		return storage.Invalid("testers", "are given when a group is created: POST /api/v3/groups/{id}/testers adds some")
	}
	change := testergroup.Change{Name: in.Name, Private: in.Private.Bool(), TeamID: in.TeamID}
	if apps != nil {
		change.Projects = &apps
	}
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) error {
		_, err := testergroup.Update(ctx, tx, w, id, change)
		return err
	})
	if err != nil {
		return err
	}
	return h.show(c, http.StatusOK, id, gin.H{})
}

// delete serves DELETE /api/v3/groups/{id}: the group goes with its grants, the testers
// stay testers.
func (h groups) delete(c *gin.Context) error {
	return h.deleteNamed(c, testergroup.Remove)
}

// testers serves GET /api/v3/groups/{id}/testers. Parameters: search (part of a mail
// address or name), page, per_page.
func (h groups) testers(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	return h.listPeople(c, func(ctx context.Context, search string, p storage.Page) (*testergroup.People, error) {
		return testergroup.Testers(ctx, h.db, auth.Organization(c), id, search, p)
	})
}

// listPeople writes a page of testers.
func (r *room) listPeople(c *gin.Context, list func(ctx context.Context, search string, p storage.Page) (*testergroup.People,
	error)) error {
	at, err := pagination.Parse(c.Request.URL.Query(), pagination.Small())
	if err != nil {
		return err
	}
	search, err := text(c, "search")
	if err != nil {
		return err
	}
	ctx := c.Request.Context()
	found, err := list(ctx, search, at.Rows())
	if err != nil {
		return err
	}
	views, err := r.viewPeople(ctx, r.db, auth.Organization(c), found.List)
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"testers": views, "pagination": envelope(at, found)})
}

// projects serves GET /api/v3/groups/{id}/projects, by name. Parameters: page, per_page.
func (h groups) projects(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	at, err := pagination.Parse(c.Request.URL.Query(), pagination.Small())
	if err != nil {
		return err
	}
	apps, total, err := testergroup.Projects(c.Request.Context(), h.db, auth.Organization(c), id, at.Rows())
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"projects": h.viewProjects(apps), "pagination": at.Envelope(total)})
}

// deleteNamed deletes what the path names.
func (r *room) deleteNamed(c *gin.Context, remove func(context.Context, *storage.Tx, account.Writer, int64) error) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	err = r.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) error { return remove(ctx, tx, w, id) })
	if err != nil {
		return err
	}
	return respond.Empty(c, http.StatusNoContent)
}
