package account

import (
	"context"
	"fmt"
	"net/mail"
	"regexp"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
)

// User is a person or a service account; what it may do follows from its membership.
type User struct {
	ID        int64     `db:"id" json:"id"`
	UUID      uuid.UUID `db:"uuid" json:"uuid"`
	Kind      UserKind  `db:"kind" json:"kind"`
	Username  string    `db:"username" json:"username"`
	Email     *string   `db:"email" json:"email"` // nil for a service account
	Name      string    `db:"name" json:"name"`
	CreatedAt time.Time `db:"created_at" json:"created_at"`
}

// UserKind separates people from service accounts.
type UserKind string

// The kinds of users.
const (
	Person  UserKind = "person"
	Service UserKind = "service"
)

// Label is what the audit log and lists call the user.
func (u *User) Label() string {
	if u.Email != nil {
		return *u.Email
	}
	return u.Username
}

const userColumns = `id, uuid, kind, username, email, name, created_at`

// NewUser is a person to create or to take into a further organization.
type NewUser struct {
	UUID           uuid.UUID // zero: a new one
	OrganizationID int64
	Email          string
	Username       string // for authoring; "": derived from the mail address
	Name           string
	Role           Role
	TeamID         int64 // 0: for a member the only team, if there is one
}

// NewServiceAccount is a service account to create.
type NewServiceAccount struct {
	OrganizationID int64
	Username       string
	Name           string
	Role           Role // not tester, which has no key
	TeamID         int64
	MoreTeams      []int64 // beside TeamID
	// DefaultTeam is joined by a member for whom no team was named, where the
	// organization has several; 0: then one must be named.
	DefaultTeam int64
	Teamless    bool // its teams are chosen elsewhere, so that a member needs none
}

// maxEmail is the longest address that SMTP carries (RFC 5321, 4.5.3.1.3).
const maxEmail = 254

// CheckEmail refuses what is not one plain mail address.
func CheckEmail(email string) error {
	invalid := &storage.InvalidError{Field: "email", Msg: "must be one mail address of at most 254 characters"}
	// Format characters, such as those that turn the direction of writing, are not seen:
	// an address with them passes for another one.
	if len(email) > maxEmail || storage.Printable("email", email) != nil || strings.ContainsFunc(email, hidden) {
		return invalid
	}
	if a, err := mail.ParseAddress(email); err != nil || a.Address != email {
		return invalid
	}
	return nil
}

func hidden(r rune) bool { return unicode.Is(unicode.Cf, r) }

// usernameForm is that of the user part of Basic authentication, so it has no colon.
var usernameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)

func checkUsername(name string) error {
	if !usernameForm.MatchString(name) {
		return &storage.InvalidError{Field: "username",
			Msg: "must have 1 to 63 lower-case letters, digits, dots, hyphens and underscores and begin with a letter or digit"}
	}
	return nil
}

// CreateUser creates a person and the membership. A person known by the mail
// address from another organization keeps the user name and gets a further
// membership; ErrConflict when the membership stands already or the user name
// that was requested is taken.
func CreateUser(ctx context.Context, tx *storage.Tx, actor Actor, n NewUser) (*User, error) {
	if err := CheckEmail(n.Email); err != nil {
		return nil, err
	}
	if err := n.Role.check(); err != nil {
		return nil, err
	}
	if err := CheckDisplayName(n.Name); err != nil {
		return nil, err
	}
	u, err := personFor(ctx, tx, n)
	if err != nil {
		return nil, err
	}
	if err := join(ctx, tx, actor, n.OrganizationID, u.ID, n.Role, n.TeamID); err != nil {
		return nil, err
	}
	return u, Audit(ctx, tx, Event{OrganizationID: n.OrganizationID, Type: UserCreated, Actor: actor,
		Subject: u.Label(), Detail: map[string]any{"id": u.ID, "role": n.Role}})
}

// CheckDisplayName returns an InvalidError for a name of a person that is too long or does
// not print.
func CheckDisplayName(name string) error {
	if len(name) > 4*maxName {
		return &storage.InvalidError{Field: "name", Msg: "is too long"}
	}
	return storage.Printable("name", name)
}

const userByEmail = `select ` + userColumns + ` from users where lower(email) = lower($1)`

// insertPerson inserts a person. A user name that was derived may be taken: then no row comes
// back.
const insertPerson = `
insert into users (uuid, kind, username, email, name) values ($1, 'person', $2, $3, $4)
on conflict (username) do nothing
returning ` + userColumns

func personFor(ctx context.Context, tx *storage.Tx, n NewUser) (*User, error) {
	var found []User
	if err := tx.SelectContext(ctx, &found, userByEmail, n.Email); err != nil {
		return nil, storage.Wrap(err, "user by mail address")
	}
	if len(found) == 1 {
		return &found[0], nil
	}
	names := usernames(n)
	if err := checkUsername(names[0]); err != nil {
		return nil, err
	}
	var err error
	if n.UUID == uuid.Nil {
		if n.UUID, err = newUUID(); err != nil {
			return nil, err
		}
	}
	for _, name := range names {
		var made []User
		if err := tx.SelectContext(ctx, &made, insertPerson, n.UUID, name, n.Email, n.Name); err != nil {
			return nil, storage.Wrap(err, "create user")
		}
		if len(made) == 1 {
			return &made[0], nil
		}
	}
	return nil, fmt.Errorf("user name %q: %w", names[0], storage.ErrConflict)
}

// usernames are the names to try: the one requested, or the local part of the
// mail address, then with a piece of the uuid behind it, which is unique enough.
func usernames(n NewUser) []string {
	if n.Username != "" {
		return []string{n.Username}
	}
	local, _, _ := strings.Cut(strings.ToLower(n.Email), "@")
	base := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, local)
	base = strings.TrimLeft(base, ".-_")
	if base == "" {
		base = "user"
	}
	base = base[:min(len(base), 48)]
	suffix := uuid.NewString()
	return []string{base, base + "-" + suffix[:4], base + "-" + suffix[:12]}
}

const insertService = `
insert into users (uuid, kind, username, name) values ($1, 'service', $2, $3)
returning ` + userColumns

// CreateServiceAccount creates an identity for automation, without a key;
// CreateKey adds one. ErrConflict when the user name is taken.
func CreateServiceAccount(ctx context.Context, tx *storage.Tx, actor Actor, n NewServiceAccount) (*User, error) {
	if err := checkUsername(n.Username); err != nil {
		return nil, err
	}
	if err := n.Role.check(); err != nil {
		return nil, err
	}
	if n.Role == Tester {
		return nil, &storage.InvalidError{Field: "role", Msg: "a service account must not be a tester: testers have no key"}
	}
	if err := CheckDisplayName(n.Name); err != nil {
		return nil, err
	}
	id, err := newUUID()
	if err != nil {
		return nil, err
	}
	var u User
	if err := tx.GetContext(ctx, &u, insertService, id, n.Username, n.Name); err != nil {
		return nil, storage.Wrap(err, "create service account "+n.Username)
	}
	if err := placeService(ctx, tx, actor, n, u.ID); err != nil {
		return nil, err
	}
	return &u, Audit(ctx, tx, Event{OrganizationID: n.OrganizationID, Type: ServiceAccountCreated, Actor: actor,
		Subject: u.Label(), Detail: map[string]any{"id": u.ID, "role": n.Role}})
}

// placeService writes a service account's membership and team.
func placeService(ctx context.Context, tx *storage.Tx, actor Actor, n NewServiceAccount, userID int64) error {
	if n.Teamless {
		return enroll(ctx, tx, n.OrganizationID, userID, n.Role)
	}
	if n.TeamID == 0 && len(n.MoreTeams) > 0 {
		n.TeamID, n.MoreTeams = n.MoreTeams[0], n.MoreTeams[1:]
	}
	if err := join(ctx, tx, actor, n.OrganizationID, userID, n.Role, n.TeamID); err != nil {
		return err
	}
	for _, id := range n.MoreTeams {
		if err := joinTeam(ctx, tx, actor, n.OrganizationID, userID, id); err != nil {
			return err
		}
	}
	if n.Role != Member || n.TeamID != 0 {
		return nil
	}
	return inSomeTeam(ctx, tx, actor, n, userID)
}
