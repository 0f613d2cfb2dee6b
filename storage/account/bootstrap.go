package account

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
)

// Bootstrap is what the first start creates, as bootstrap.json holds it: enough to
// use every interface at once. The caller writes the file with the secrets
// first and applies it then, so that no key is in the database that nobody
// knows; numeric ids are 0 until Apply filled them in.
type Bootstrap struct {
	BaseURL      string                `json:"base_url"`
	Organization BootstrapOrganization `json:"organization"`
	Team         BootstrapTeam         `json:"team"`
	Owner        BootstrapOwner        `json:"owner"`
	Crash        BootstrapCrash        `json:"crash"`
	Operator     BootstrapOperator     `json:"operator"`
}

// BootstrapOrganization names the organization.
type BootstrapOrganization struct {
	ID   int64     `json:"id"`
	UUID uuid.UUID `json:"uuid"`
	Slug string    `json:"slug"`
	Name string    `json:"name"`
}

// BootstrapTeam names its team.
type BootstrapTeam struct {
	ID   int64     `json:"id"`
	UUID uuid.UUID `json:"uuid"`
	Name string    `json:"name"`
}

// BootstrapOwner is the account owner with both keys.
type BootstrapOwner struct {
	ID        int64     `json:"id"`
	UUID      uuid.UUID `json:"uuid"`
	Email     string    `json:"email"`
	APIKey    string    `json:"api_key"`
	Username  string    `json:"username"`
	AccessKey string    `json:"access_key"`
}

// BootstrapCrash is the crash project's id and a token that may send reports and
// symbols.
type BootstrapCrash struct {
	Project     int64  `json:"project"`
	ProjectName string `json:"project_name"`
	Token       string `json:"token"`
}

// BootstrapOperator is the operator's Basic credentials.
type BootstrapOperator struct {
	Username string `json:"username"`
	Password string `json:"password"`
}

// NewBootstrap generates secrets and uuids; nothing is written.
func NewBootstrap(keys *Issuer, baseURL string) (*Bootstrap, error) {
	b := &Bootstrap{
		BaseURL:      baseURL,
		Organization: BootstrapOrganization{Slug: "main", Name: "Main"},
		Team:         BootstrapTeam{Name: "Default"},
		Owner:        BootstrapOwner{Email: "owner@slipway.local", Username: "owner"},
		Crash:        BootstrapCrash{ProjectName: "default"},
		Operator:     BootstrapOperator{Username: "operator"},
	}
	for _, id := range []*uuid.UUID{&b.Organization.UUID, &b.Team.UUID, &b.Owner.UUID} {
		made, err := newUUID()
		if err != nil {
			return nil, err
		}
		*id = made
	}
	for _, key := range []struct {
		kind KeyKind
		to   *string
	}{{KindAPI, &b.Owner.APIKey}, {KindAccess, &b.Owner.AccessKey}, {KindCrash, &b.Crash.Token}, {KindOperator, &b.Operator.Password}} {
		secret, err := keys.New(key.kind)
		if err != nil {
			return nil, err
		}
		*key.to = secret.Text
	}
	return b, nil
}

// Check refuses a file that Apply could not use: a secret of another kind or
// region, a broken address.
func (b *Bootstrap) Check(region string) error {
	for _, key := range []struct {
		field, text string
		kind        KeyKind
	}{
		{"owner.api_key", b.Owner.APIKey, KindAPI}, {"owner.access_key", b.Owner.AccessKey, KindAccess},
		{"crash.token", b.Crash.Token, KindCrash}, {"operator.password", b.Operator.Password, KindOperator},
	} {
		parsed, err := ParseKey(key.text)
		if err != nil || parsed.Kind != key.kind {
			return &storage.InvalidError{Field: key.field, Msg: fmt.Sprintf("must be a key of the kind %q", key.kind)}
		}
		if err := parsed.In(region); err != nil {
			return fmt.Errorf("%s: %w", key.field, err)
		}
	}
	if b.Organization.UUID == uuid.Nil || b.Team.UUID == uuid.Nil || b.Owner.UUID == uuid.Nil {
		return &storage.InvalidError{Field: "uuid", Msg: "organization, team and owner need one"}
	}
	return CheckEmail(b.Owner.Email)
}

// Apply creates the rows that are missing and fills in the ids and uuids of the
// rows that stand. What was changed or revoked since stays so: a rotated
// operator is not given the file's password back, a revoked key stays revoked.
// Rows of the same slug, name or mail address are adopted, so that a lost file
// can be replaced by a new one. Any number of processes may call it at once. The
// crash project is not among the rows: package crash applies the whole file.
func (b *Bootstrap) Apply(ctx context.Context, tx *storage.Tx, region string) error {
	if err := b.Check(region); err != nil {
		return err
	}
	// The lock makes "if missing" true against another process.
	if _, err := tx.ExecContext(ctx, `select pg_advisory_xact_lock(hashtextextended('slipway.bootstrap', 0))`); err != nil {
		return storage.Wrap(err, "lock bootstrap")
	}
	for _, step := range []func(context.Context, *storage.Tx) error{
		b.organization, b.team, b.owner, b.keys, b.operator,
	} {
		if err := step(ctx, tx); err != nil {
			return fmt.Errorf("bootstrap: %w", err)
		}
	}
	return nil
}

func bootstrapActor() Actor { return Actor{Name: ActorBootstrap} }

func (b *Bootstrap) organization(ctx context.Context, tx *storage.Tx) error {
	o, err := optionalRow[Organization](ctx, tx, organizationBySlug, b.Organization.Slug)
	if err != nil {
		return err
	}
	if o == nil {
		o, err = CreateOrganization(ctx, tx, bootstrapActor(), NewOrganization{
			UUID: b.Organization.UUID, Slug: b.Organization.Slug, Name: b.Organization.Name})
		if err != nil {
			return err
		}
	}
	b.Organization = BootstrapOrganization{ID: o.ID, UUID: o.UUID, Slug: o.Slug, Name: o.Name}
	return nil
}

func (b *Bootstrap) team(ctx context.Context, tx *storage.Tx) error {
	t, err := optionalRow[Team](ctx, tx, `select `+teamColumns+` from teams
		where organization_id = $1 and (uuid = $2 or name = $3) order by uuid = $2 desc limit 1`,
		b.Organization.ID, b.Team.UUID, b.Team.Name)
	if err != nil {
		return err
	}
	if t == nil {
		t, err = CreateTeam(ctx, tx, bootstrapActor(), NewTeam{UUID: b.Team.UUID,
			OrganizationID: b.Organization.ID, Name: b.Team.Name})
		if err != nil {
			return err
		}
	}
	b.Team = BootstrapTeam{ID: t.ID, UUID: t.UUID, Name: t.Name}
	return nil
}

func (b *Bootstrap) owner(ctx context.Context, tx *storage.Tx) error {
	u, err := optionalRow[User](ctx, tx, userByEmail, b.Owner.Email)
	if err != nil {
		return err
	}
	joined := false
	if u != nil {
		// A person of another organization becomes the owner of a new one only:
		// who was taken out of an old one stays out.
		joined, err = b.hasMembers(ctx, tx)
		if err != nil {
			return err
		}
	}
	if !joined {
		u, err = CreateUser(ctx, tx, bootstrapActor(), NewUser{UUID: b.Owner.UUID, OrganizationID: b.Organization.ID,
			Email: b.Owner.Email, Username: b.Owner.Username, Role: Owner, TeamID: b.Team.ID})
		if err != nil {
			return err
		}
	}
	b.Owner.ID, b.Owner.UUID, b.Owner.Username = u.ID, u.UUID, u.Username
	return nil
}

func (b *Bootstrap) hasMembers(ctx context.Context, tx *storage.Tx) (bool, error) {
	var any bool
	err := tx.GetContext(ctx, &any, `select exists (select from memberships where organization_id = $1)`, b.Organization.ID)
	return any, storage.Wrap(err, "look for members")
}

func (b *Bootstrap) keys(ctx context.Context, tx *storage.Tx) error {
	for _, key := range []struct {
		kind KeyKind
		text string
	}{{KindAPI, b.Owner.APIKey}, {KindAccess, b.Owner.AccessKey}} {
		secret := SecretOf(key.text)
		row, err := optionalRow[KeyRow](ctx, tx, `select `+keyColumns+` from api_keys where digest = $1`, secret.Digest[:])
		if err != nil {
			return err
		}
		if row != nil {
			continue
		}
		row, err = storeKey(ctx, tx, NewKey{OrganizationID: b.Organization.ID, UserID: b.Owner.ID, Kind: key.kind,
			Name: ActorBootstrap}, secret)
		if err != nil {
			return err
		}
		err = Audit(ctx, tx, Event{OrganizationID: b.Organization.ID, Type: KeyCreated, Actor: bootstrapActor(),
			Subject: b.Owner.Email, Detail: map[string]any{"key_id": row.ID, "kind": row.Kind, "hint": row.Hint}})
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *Bootstrap) operator(ctx context.Context, tx *storage.Tx) error {
	op, err := optionalRow[Operator](ctx, tx, `select `+operatorColumns+` from operators where username = $1`, b.Operator.Username)
	if err != nil || op != nil {
		return err
	}
	_, err = createOperator(ctx, tx, bootstrapActor(), b.Operator.Username, SecretOf(b.Operator.Password))
	return err
}

// optionalRow reads a row that may be missing: nil then.
func optionalRow[T any](ctx context.Context, tx *storage.Tx, query string, args ...any) (*T, error) {
	var rows []T
	if err := tx.SelectContext(ctx, &rows, query, args...); err != nil {
		return nil, storage.Wrap(err, "read")
	}
	if len(rows) == 0 {
		return nil, nil
	}
	return &rows[0], nil
}
