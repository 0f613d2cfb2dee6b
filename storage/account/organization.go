package account

import (
	"context"
	"fmt"
	"regexp"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
)

// Organization is a tenant: all else belongs to one.
type Organization struct {
	ID        int64     `db:"id" json:"id"`
	UUID      uuid.UUID `db:"uuid" json:"uuid"`
	Slug      string    `db:"slug" json:"slug"` // its label in host names
	Name      string    `db:"name" json:"name"`
	CreatedAt time.Time `db:"created_at" json:"created_at"`
}

const organizationColumns = `id, uuid, slug, name, created_at`

// NewOrganization is an organization to create.
type NewOrganization struct {
	UUID uuid.UUID // zero: a new one
	Slug string    // a DNS label: lower-case letters, digits, inner hyphens, at most 63
	Name string    // "": the slug
}

var slugForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// CheckSlug refuses what cannot be a DNS label.
func CheckSlug(slug string) error {
	if !slugForm.MatchString(slug) {
		return &storage.InvalidError{Field: "slug", Msg: "must have 1 to 63 lower-case letters, digits and inner hyphens"}
	}
	return nil
}

const insertOrganization = `
insert into organizations (uuid, slug, name) values ($1, $2, $3)
returning ` + organizationColumns

// CreateOrganization creates an organization without teams or people. ErrConflict
// when the slug is taken.
func CreateOrganization(ctx context.Context, tx *storage.Tx, actor Actor, n NewOrganization) (*Organization, error) {
	if err := CheckSlug(n.Slug); err != nil {
		return nil, err
	}
	if n.Name == "" {
		n.Name = n.Slug
	}
	name, err := CleanName("name", n.Name)
	if err != nil {
		return nil, err
	}
	if n.UUID == uuid.Nil {
		if n.UUID, err = newUUID(); err != nil {
			return nil, err
		}
	}
	var o Organization
	if err := tx.GetContext(ctx, &o, insertOrganization, n.UUID, n.Slug, name); err != nil {
		return nil, storage.Wrap(err, "create organization "+n.Slug)
	}
	return &o, Audit(ctx, tx, Event{OrganizationID: o.ID, Type: OrganizationCreated, Actor: actor,
		Subject: o.Slug, Detail: map[string]any{"name": o.Name}})
}

const organizationBySlug = `select ` + organizationColumns + ` from organizations where slug = $1`

// OrganizationBySlug reads one organization.
func OrganizationBySlug(ctx context.Context, q storage.Querier, slug string) (*Organization, error) {
	var o Organization
	if err := q.GetContext(ctx, &o, organizationBySlug, slug); err != nil {
		return nil, storage.Wrap(err, fmt.Sprintf("organization %q", slug))
	}
	return &o, nil
}

const organizations = `select ` + organizationColumns + ` from organizations order by id limit $1 offset $2`

// Organizations lists organizations, oldest first.
func Organizations(ctx context.Context, q storage.Querier, p storage.Page) ([]Organization, error) {
	list := []Organization{}
	err := q.SelectContext(ctx, &list, organizations, p.RowLimit(), p.RowOffset())
	return list, storage.Wrap(err, "list organizations")
}

// OrganizationMembers is an organization with the number of its people who are not testers.
type OrganizationMembers struct {
	Organization
	Members int64 `db:"members"`
}

// organizationsWithMembers counts the memberships of a page's organizations by their unique
// index.
const organizationsWithMembers = `
select ` + organizationColumns + `, (select count(*) from memberships m where m.organization_id = o.id and m.role <> 'tester') as members
from organizations o order by id limit $1 offset $2`

// OrganizationPage lists organizations with their members, oldest first, and counts all.
func OrganizationPage(ctx context.Context, q storage.Querier, p storage.Page) ([]OrganizationMembers, int, error) {
	list, total := []OrganizationMembers{}, 0
	if err := q.GetContext(ctx, &total, `select count(*) from organizations`); err != nil {
		return nil, 0, storage.Wrap(err, "count organizations")
	}
	err := q.SelectContext(ctx, &list, organizationsWithMembers, p.RowLimit(), p.RowOffset())
	return list, total, storage.Wrap(err, "list organizations")
}

// LockOrganization serializes changes that must see each other: who is the last
// owner. It is also the check that the organization exists.
func LockOrganization(ctx context.Context, tx *storage.Tx, id int64) error {
	var found int64
	err := tx.GetContext(ctx, &found, `select id from organizations where id = $1 for no key update`, id)
	return storage.Wrap(err, fmt.Sprintf("organization %d", id))
}

// newUUID creates the uuid of an account row: random, for it is shown to outsiders
// and should not show when the account was created.
func newUUID() (uuid.UUID, error) {
	id, err := uuid.NewRandom()
	if err != nil {
		return uuid.Nil, fmt.Errorf("make a uuid: %w", err)
	}
	return id, nil
}
