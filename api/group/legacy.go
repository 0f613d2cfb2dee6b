package group

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution/testergroup"
)

// legacy are the handlers of versions 1 and 2.
type legacy struct{ *room }

// whole is the rule of the lists of version 1, which clients read without asking for
// pages: the first thousand, and pages for who asks.
func whole() pagination.Options { return pagination.Options{Default: 1000, Max: 1000} }

// mostEmails bounds the mail addresses of an answer that has all testers of groups: some
// three MiB.
const mostEmails = 100_000

// emailView is a tester in lists of versions 1 and 2.
type emailView struct {
	Email string `json:"email"`
}

// wholeView is a group with its testers: an array that holds one array.
type wholeView struct {
	ID      int64          `json:"id"`
	Name    string         `json:"name"`
	Testers [1][]emailView `json:"testers"`
}

// plainView is a group without its testers.
type plainView struct {
	ID      int64  `json:"id"`
	Name    string `json:"name"`
	Private bool   `json:"private"`
}

func viewPlain(g *testergroup.Group) plainView {
	return plainView{ID: g.ID, Name: g.Name, Private: g.Private}
}

// page reads a page of the organization's groups.
func (h legacy) page(c *gin.Context) ([]testergroup.Group, pagination.Pagination, error) {
	at, err := pagination.Parse(c.Request.URL.Query(), whole())
	if err != nil {
		return nil, pagination.Pagination{}, err
	}
	rows, total, err := testergroup.List(c.Request.Context(), h.db,
		testergroup.Filter{OrganizationID: auth.Organization(c)}, at.Rows())
	return rows, at.Envelope(total), err
}

// emailsOf returns the testers of groups, by group.
func (h legacy) emailsOf(ctx context.Context, groups ...int64) (map[int64][]emailView, error) {
	list, err := testergroup.Emails(ctx, h.db, groups, mostEmails)
	if err != nil {
		return nil, err
	}
	of := make(map[int64][]emailView, len(groups))
	for _, id := range groups {
		of[id] = []emailView{}
	}
	for _, row := range list {
		of[row.GroupID] = append(of[row.GroupID], emailView{row.Email})
	}
	return of, nil
}

// wholeGroups serves GET /api/1/testers/groups, by name, with the testers of each.
// Parameters of ours: page, per_page (1000 by default and at most).
func (h legacy) wholeGroups(c *gin.Context) error {
	rows, at, err := h.page(c)
	if err != nil {
		return err
	}
	ids := make([]int64, 0, len(rows))
	for i := range rows {
		ids = append(ids, rows[i].ID)
	}
	emails, err := h.emailsOf(c.Request.Context(), ids...)
	if err != nil {
		return err
	}
	views := make([]wholeView, 0, len(rows))
	for i := range rows {
		g := &rows[i]
		views = append(views, wholeView{ID: g.ID, Name: g.Name, Testers: [1][]emailView{emails[g.ID]}})
	}
	return respond.JSON(c, http.StatusOK, gin.H{"status": "ok", "groups": views, "pagination": at})
}

// create serves POST /api/1/testers/groups. Member: groupName.
func (h legacy) create(c *gin.Context) error {
	var in struct {
		GroupName string       `json:"groupName"`
		Private   *body.Switch `json:"private"`
		TeamID    int64        `json:"team_id"`
	}
	if err := body.Read(c, &in, body.IgnoreUnknown); err != nil {
		return err
	}
	name, err := storage.Name("groupName", in.GroupName, maxText)
	if err != nil {
		return err
	}
	n := testergroup.NewGroup{Name: name, TeamID: in.TeamID, AnyTeam: true, Private: in.Private != nil && bool(*in.Private)}
	var g *testergroup.Group
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) (err error) {
		g, err = testergroup.CreateInTeam(ctx, tx, w, n)
		return err
	})
	if errors.Is(err, storage.ErrConflict) {
		return &respond.Problem{Status: http.StatusConflict, Text: "groupName: is taken in the organization", Err: err}
	}
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"status": "ok", "id": strconv.FormatInt(g.ID, 10), "name": g.Name})
}

// readEmails reads the addresses of a change of a group.
func readEmails(c *gin.Context) ([]string, error) {
	var in struct {
		Email body.LongList `json:"email"`
	}
	if err := body.Read(c, &in, body.IgnoreUnknown); err != nil {
		return nil, err
	}
	// Not every client sends a body with DELETE.
	if c.Request.Method == http.MethodDelete && len(in.Email) == 0 {
		list, err := pagination.List(c.Request.URL.Query(), "email")
		if err != nil {
			return nil, err
		}
		in.Email = list
	}
	if len(in.Email) == 0 {
		return nil, storage.Invalid("email", "is required")
	}
	return in.Email, account.CheckEmails("email", in.Email)
}

// add serves POST /api/1/testers/groups/{id}. Member: email, one or more by commas; those
// that nobody has become testers. The answer has the testers of the group.
func (h legacy) add(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	emails, err := readEmails(c)
	if err != nil {
		return err
	}
	err = h.addPeople(c, id, people{emails: emails, member: "email"})
	if err != nil {
		return err
	}
	return h.showEmails(c, id)
}

// remove serves DELETE /api/1/testers/groups/{id}. Member: email, one or more by commas,
// in the body or the query. Who is not in the group is passed over, unless nobody is: 404.
// A group without testers is discarded. The answer has the testers that are left.
func (h legacy) remove(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	emails, err := readEmails(c)
	if err != nil {
		return err
	}
	err = h.change(c, func(ctx context.Context, tx *storage.Tx, w account.Writer) error {
		users, err := testergroup.UsersByEmail(ctx, tx, w.OrganizationID, emails)
		if err != nil {
			return err
		}
		n, err := testergroup.RemoveMembers(ctx, tx, w, id, users, true)
		if err != nil {
			return err
		}
		if n == 0 {
			return &respond.Problem{Status: http.StatusNotFound, Text: "email: is of no tester of the group"}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return h.showEmails(c, id)
}

func (h legacy) showEmails(c *gin.Context, id int64) error {
	of, err := h.emailsOf(c.Request.Context(), id)
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"status": "ok", "testers": of[id]})
}

// groups serves GET /api/1/groups, by name. Parameters of ours: page, per_page (1000 by
// default and at most).
func (h legacy) groups(c *gin.Context) error {
	rows, at, err := h.page(c)
	if err != nil {
		return err
	}
	views := make([]plainView, 0, len(rows))
	for i := range rows {
		views = append(views, viewPlain(&rows[i]))
	}
	return respond.JSON(c, http.StatusOK, gin.H{"status": "ok", "groups": views, "pagination": at})
}

// group serves GET /api/1/groups/{id}.
func (h legacy) group(c *gin.Context) error {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return err
	}
	g, err := testergroup.ByID(c.Request.Context(), h.db, auth.Organization(c), id)
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"status": "ok", "group": viewPlain(g)})
}

// groupTesters serves GET /api/1/groups/{id}/testers. Parameters: page, per_page.
func (h legacy) groupTesters(c *gin.Context) error {
	id, at, err := pathAndPage(c, pagination.Large())
	if err != nil {
		return err
	}
	found, err := testergroup.Testers(c.Request.Context(), h.db, auth.Organization(c), id, "", at.Rows())
	if err != nil {
		return err
	}
	views := make([]emailView, 0, len(found.List))
	for _, p := range found.List {
		views = append(views, emailView{p.Email})
	}
	return respond.JSON(c, http.StatusOK, gin.H{"status": "ok", "testers": views, "pagination": envelope(at, found)})
}

// project1 is an app of a group.
type project1 struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// groupProjects serves GET /api/1/groups/{id}/projects, by name. Parameters: page, per_page.
func (h legacy) groupProjects(c *gin.Context) error {
	id, at, err := pathAndPage(c, pagination.Small())
	if err != nil {
		return err
	}
	apps, total, err := testergroup.Projects(c.Request.Context(), h.db, auth.Organization(c), id, at.Rows())
	if err != nil {
		return err
	}
	views := make([]project1, 0, len(apps))
	for i := range apps {
		views = append(views, project1{ID: apps[i].ID, Name: apps[i].Name})
	}
	return respond.JSON(c, http.StatusOK, gin.H{"status": "ok", "projects": views, "pagination": at.Envelope(total)})
}

// tester2 is a tester of an app in version 2.
type tester2 struct {
	ID    int64  `json:"id"`
	Email string `json:"email"`
}

// projectTesters serves GET /api/2/projects/{id}/testers. Parameters: page, per_page.
func (h legacy) projectTesters(c *gin.Context) error {
	id, at, err := pathAndPage(c, pagination.Large())
	if err != nil {
		return err
	}
	found, err := testergroup.ProjectTesters(c.Request.Context(), h.db, auth.Organization(c), id, "", at.Rows())
	if err != nil {
		return err
	}
	views := make([]tester2, 0, len(found.List))
	for _, p := range found.List {
		views = append(views, tester2{ID: p.MembershipID, Email: p.Email})
	}
	return respond.JSON(c, http.StatusOK, gin.H{"status": "ok", "testers": views, "pagination": envelope(at, found)})
}

func pathAndPage(c *gin.Context, o pagination.Options) (id int64, at pagination.Request, err error) {
	if id, err = pagination.ID(c.Param("id")); err != nil {
		return 0, at, err
	}
	at, err = pagination.Parse(c.Request.URL.Query(), o)
	return id, at, err
}
