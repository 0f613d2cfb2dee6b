package tester

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/pagination"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/testergroup"
	"github.com/slipway-qa/slipway/storage/tester"
)

// maxSearch bounds a search in bytes: mail addresses and names are not longer.
const maxSearch = 255

// filterOf reads the filters of a list of testers: search, blocked, and group by name
// or id.
func (r *room) filterOf(c *gin.Context) (tester.Filter, error) {
	f := tester.Filter{OrganizationID: auth.Organization(c), Search: c.Query("search")}
	if len(f.Search) > maxSearch || !utf8.ValidString(f.Search) || strings.IndexByte(f.Search, 0) >= 0 {
		return f, storage.Invalid("search", "must be UTF-8 text of at most %d bytes", maxSearch)
	}
	if text := c.Query("blocked"); text != "" {
		on, err := strconv.ParseBool(text)
		if err != nil {
			return f, storage.Invalid("blocked", "must be true or false")
		}
		f.Blocked = &on
	}
	if ref := c.Query("group"); ref != "" {
		g, err := testergroup.ByRef(c.Request.Context(), r.db, f.OrganizationID, ref)
		if err != nil {
			return f, err
		}
		f.GroupID = g.ID
	}
	return f, nil
}

// buildOf reads a query parameter that names a build: nil when absent, ErrNotFound when
// it is no build of the organization.
func (r *room) buildOf(c *gin.Context, name string) (*distribution.Build, error) {
	text := strings.TrimSpace(c.Query(name))
	if text == "" {
		return nil, nil
	}
	id, err := strconv.ParseUint(text, 10, 63)
	if err != nil || id == 0 {
		return nil, storage.Invalid(name, "must be a numeric id")
	}
	return distribution.BuildByID(c.Request.Context(), r.db, auth.Organization(c), 0, int64(id))
}

// linksTo returns the link of an invitation to a build as the caller may see it. A
// personal one begins a session of that tester, so it is for those who may invite:
// admins, and the admin of the app's team. Others get the build's install page, which
// asks who comes.
func (r *room) linksTo(c *gin.Context, b *distribution.Build) func(*tester.Invite) string {
	caller := auth.CallerOf(c.Request.Context())
	personal, page := caller != nil && caller.TeamAdmin(b.TeamID), r.links.Page(b.Token)
	return func(i *tester.Invite) string {
		switch {
		case i.Secret == "":
			return ""
		case !personal:
			return page
		}
		return r.links.Invite(i.Secret)
	}
}

// withAll reads what answers show of testers, for all at once.
func (r *room) withAll(c *gin.Context, testers []tester.Tester, build *distribution.Build) (l *listed, err error) {
	l = &listed{testers: testers}
	users := make([]int64, 0, len(testers))
	for i := range testers {
		users = append(users, testers[i].UserID)
	}
	ctx, organization := c.Request.Context(), auth.Organization(c)
	if l.groups, err = testergroup.OfUsers(ctx, r.db, organization, users); err != nil || build == nil {
		return l, err
	}
	respond.Private(c)
	l.link = r.linksTo(c, build)
	l.invites, err = tester.InvitesOf(ctx, r.db, organization, build.ID, users)
	return l, err
}

// page reads a page of the organization's testers. buildName is the parameter that names
// a build.
func (r *room) page(c *gin.Context, o pagination.Options, buildName string) (*listed, pagination.Pagination, error) {
	at, err := pagination.Parse(c.Request.URL.Query(), o)
	if err != nil {
		return nil, pagination.Pagination{}, err
	}
	f, err := r.filterOf(c)
	if err != nil {
		return nil, pagination.Pagination{}, err
	}
	build, err := r.buildOf(c, buildName)
	if err != nil {
		return nil, pagination.Pagination{}, err
	}
	found, err := tester.Find(c.Request.Context(), r.db, f, at.Rows())
	if err != nil {
		return nil, pagination.Pagination{}, err
	}
	envelope := at.Envelope(found.Total)
	if !found.Exact {
		envelope = at.AtLeast(found.Total, found.Next)
	}
	all, err := r.withAll(c, found.Testers, build)
	return all, envelope, err
}

// named reads the tester that the path names.
func (r *room) named(c *gin.Context, buildName string) (*listed, error) {
	id, err := pagination.ID(c.Param("id"))
	if err != nil {
		return nil, err
	}
	build, err := r.buildOf(c, buildName)
	if err != nil {
		return nil, err
	}
	t, err := tester.ByID(c.Request.Context(), r.db, auth.Organization(c), id)
	if err != nil {
		return nil, err
	}
	return r.withAll(c, []tester.Tester{*t}, build)
}
