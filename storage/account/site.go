package account

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// Site is an organization of an account. An account is the organization that was there
// first and those that were created from it; nobody belongs to all of them but by a
// membership of each. Its managers, the owners and admins of the first one, see the
// audit log of all.
type Site struct {
	ID          int64       `db:"id"`
	ParentID    *int64      `db:"parent_id"` // nil: the account's first one
	Slug        string      `db:"slug"`
	Name        string      `db:"name"`
	LoginMethod LoginMethod `db:"login_method"`
	Builds      int64       `db:"builds"`
	Users       []SiteUser  // in SitesOf only
}

// SiteUser is a person of a site above a tester.
type SiteUser struct {
	OrganizationID int64  `db:"organization_id"`
	Email          string `db:"email"`
	Role           Role   `db:"role"`
}

// LoginMethod is how people get in to a site's pages.
type LoginMethod string

// The methods. With LoginSSO no install page opens without a sign-in; the identity
// provider itself is connected by the site's own settings.
const (
	LoginDefault LoginMethod = "default"
	LoginSSO     LoginMethod = "sso"
)

const (
	// maxSites bounds an account: each request of its managers reads all of them.
	maxSites = 100
	// maxSiteUsers bounds the people that are shown of an account.
	maxSiteUsers = 1000
)

// ErrNotManager means that the organization is a site of an account that others manage.
var ErrNotManager = errors.New("sites are created from the account's first organization")

const visibleSites = `
select o.id, o.parent_id, o.slug, o.name, o.login_method, 0 as builds from organizations o
where o.id = $1 or o.parent_id = $1 order by o.id limit $2`

// VisibleSites returns the sites whose audit log an admin of the organization may read:
// all of the account when it is its first one, else itself. The organization is among
// them, the first one at the front.
func VisibleSites(ctx context.Context, q storage.Querier, organizationID int64) ([]Site, error) {
	list := []Site{}
	err := q.SelectContext(ctx, &list, visibleSites, organizationID, maxSites+1)
	return list, storage.Wrap(err, "list sites")
}

// SiteNamed returns the site that a text names, by its number or its subdomain.
func SiteNamed(list []Site, text string) (*Site, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	for i := range list {
		if list[i].Slug == text {
			return &list[i], nil
		}
	}
	for i := range list {
		if strconv.FormatInt(list[i].ID, 10) == text {
			return &list[i], nil
		}
	}
	return nil, fmt.Errorf("site %q: %w", text, storage.ErrNotFound)
}

const siteUsers = `
select m.organization_id, u.email, m.role from memberships m join users u on u.id = m.user_id
where m.organization_id = any($1) and m.role <> 'tester' and u.kind = 'person' and m.blocked_at is null
order by m.organization_id, m.id limit $2`

const siteBuilds = `
select organization_id, sum(build_count)::bigint as builds from projects
where organization_id = any($1) and deleted_at is null group by organization_id`

// SitesOf returns the sites that an admin of the organization sees, with their builds and
// people, and the account's managers: the owners and admins of its first organization.
func SitesOf(ctx context.Context, q storage.Querier, organizationID int64) (list []Site, managers []SiteUser, err error) {
	if list, err = VisibleSites(ctx, q, organizationID); err != nil {
		return nil, nil, err
	}
	first := organizationID
	byID := map[int64]*Site{}
	var ids []int64
	for i := range list {
		byID[list[i].ID] = &list[i]
		ids = append(ids, list[i].ID)
		if list[i].ID == organizationID && list[i].ParentID != nil {
			first = *list[i].ParentID
			ids = append(ids, first)
		}
	}
	var users []SiteUser
	if err := q.SelectContext(ctx, &users, siteUsers, pq.Array(ids), maxSiteUsers); err != nil {
		return nil, nil, storage.Wrap(err, "list people of sites")
	}
	for _, u := range users {
		if site := byID[u.OrganizationID]; site != nil {
			site.Users = append(site.Users, u)
		}
		if u.OrganizationID == first && u.Role.AtLeast(Admin) {
			managers = append(managers, u)
		}
	}
	var counts []struct {
		ID     int64 `db:"organization_id"`
		Builds int64 `db:"builds"`
	}
	if err := q.SelectContext(ctx, &counts, siteBuilds, pq.Array(ids)); err != nil {
		return nil, nil, storage.Wrap(err, "count builds of sites")
	}
	for _, c := range counts {
		if site := byID[c.ID]; site != nil {
			site.Builds = c.Builds
		}
	}
	return list, managers, nil
}

// NewSite is a site to create.
type NewSite struct {
	Account     int64  // the account's first organization
	Owner       int64  // a person of it, who becomes the site's owner
	Name        string // letters, digits and inner hyphens; in lower case it is the subdomain
	LoginMethod LoginMethod
}

const siteParent = `select parent_id from organizations where id = $1 for no key update`

const placeSite = `update organizations set parent_id = $2, login_method = $3, require_login = $4 where id = $1`

// CreateSite creates an organization of the account with a first team and an owner.
// ErrNotManager when the account is itself a site, storage.ErrConflict when the name is
// taken or the account has maxSites.
func CreateSite(ctx context.Context, tx *storage.Tx, actor Actor, n NewSite) (*Site, error) {
	slug := strings.ToLower(strings.TrimSpace(n.Name))
	if CheckSlug(slug) != nil {
		return nil, storage.Invalid("name", "must have 1 to 63 letters, digits and inner hyphens")
	}
	switch n.LoginMethod {
	case "":
		n.LoginMethod = LoginDefault
	case LoginDefault, LoginSSO:
	default:
		return nil, storage.Invalid("loginMethod", "must be %s or %s", LoginDefault, LoginSSO)
	}
	var parent *int64
	if err := tx.GetContext(ctx, &parent, siteParent, n.Account); err != nil {
		return nil, storage.Wrap(err, "account of a site")
	}
	if parent != nil {
		return nil, ErrNotManager
	}
	there, err := VisibleSites(ctx, tx, n.Account)
	if err != nil {
		return nil, err
	}
	if len(there) > maxSites {
		return nil, fmt.Errorf("an account has at most %d sites: %w", maxSites, storage.ErrConflict)
	}
	o, err := CreateOrganization(ctx, tx, actor, NewOrganization{Slug: slug, Name: strings.TrimSpace(n.Name)})
	if err != nil {
		return nil, err
	}
	_, err = tx.ExecContext(ctx, placeSite, o.ID, n.Account, n.LoginMethod, n.LoginMethod == LoginSSO)
	if err != nil {
		return nil, storage.Wrap(err, "place site")
	}
	team, err := CreateTeam(ctx, tx, actor, NewTeam{OrganizationID: o.ID, Name: "Default"})
	if err != nil {
		return nil, err
	}
	if err := join(ctx, tx, actor, o.ID, n.Owner, Owner, team.ID); err != nil {
		return nil, err
	}
	return &Site{ID: o.ID, ParentID: &n.Account, Slug: o.Slug, Name: o.Name, LoginMethod: n.LoginMethod},
		Audit(ctx, tx, Event{OrganizationID: n.Account, Type: SiteCreated, Actor: actor, Subject: o.Slug,
			Detail: map[string]any{"id": o.ID, "name": o.Name, "login_method": n.LoginMethod}})
}
