package account

import (
	"context"
	"fmt"
	"time"

	"github.com/slipway-qa/slipway/storage"
)

const (
	// ConsoleLife is how long a session of the console lasts after its last use, up to 90 days.
	ConsoleLife = 14 * 24 * time.Hour
	// consoleMost is how long a session lasts at most, however often it is used.
	consoleMost = 90 * 24 * time.Hour
	// maxDevice bounds what is kept of a browser's own name, in characters.
	maxDevice = 200
)

// NewConsoleSession is a session of the console to begin: of a member in one
// organization, or of an operator, whose OperatorID is set and nothing else of the two.
type NewConsoleSession struct {
	OrganizationID int64
	UserID         int64
	OperatorID     int64
	KeyID          int64 // the key that was shown; 0 for a link
	Device         string
	Address        string // the remote address
}

const insertConsoleSession = `
insert into console_sessions (digest, organization_id, user_id, operator_id, key_id, device, address, created_at, last_used_at, expires_at)
values ($1, nullif($2::bigint, 0), nullif($3::bigint, 0), nullif($4::bigint, 0), nullif($5::bigint, 0), $6, $7, $8, $8, $9)`

// BeginConsoleSession begins a session that the digest of its secret names, and writes the
// sign-in into the audit log: of the member's organization, or of the installation.
func BeginConsoleSession(ctx context.Context, tx *storage.Tx, actor Actor, digest Digest, n NewConsoleSession, now time.Time) error {
	device, err := storage.Line("device", storage.Cut(n.Device, maxDevice), maxDevice)
	if err != nil {
		device = "" // a browser's name is no reason to keep a person out
	}
	_, err = tx.ExecContext(ctx, insertConsoleSession, digest[:], n.OrganizationID, n.UserID, n.OperatorID, n.KeyID,
		device, n.Address, now, now.Add(ConsoleLife))
	if err != nil {
		return storage.Wrap(err, "begin a session of the console")
	}
	return Audit(ctx, tx, Event{OrganizationID: n.OrganizationID, Type: ConsoleSignedIn, Actor: actor, Subject: device})
}

// ConsoleIdentity is who a session of the console stands for: a member, or an operator.
type ConsoleIdentity struct {
	SessionID int64
	Member    *Identity // nil for an operator
	Operator  string    // the user name; "" for a member
	Stale     bool      // the session's last use should be stored again
}

// consoleMember reads console_sessions_digest_key.
const consoleMember = `
select s.id as session_id, coalesce(s.key_id, 0) as key_id, s.digest, s.organization_id, o.uuid as organization_uuid, o.slug,
	u.id as user_id, u.uuid as user_uuid, u.kind, coalesce(u.email, '') as email, u.username,
	m.role, m.blocked_at is not null as blocked, s.last_used_at < $2::timestamptz - interval '5 minutes' as stale,
	` + oidcOnly + `,
	tt.ids, tt.uuids, tt.admins
from console_sessions s
join organizations o on o.id = s.organization_id
join users u on u.id = s.user_id
join memberships m on m.organization_id = s.organization_id and m.user_id = s.user_id
left join api_keys k on k.id = s.key_id
` + joinTeams + `
where s.digest = $1 and s.expires_at > $2 and k.revoked_at is null`

const consoleOperator = `
select s.id as session_id, s.digest, p.username, s.last_used_at < $2::timestamptz - interval '5 minutes' as stale
from console_sessions s join operators p on p.id = s.operator_id
where s.digest = $1 and s.expires_at > $2 and p.revoked_at is null`

type consoleRow struct {
	identityRow
	SessionID int64 `db:"session_id"`
}

// IdentityByConsole finds the member or, with operator, the operator that a session stands
// for; ErrNotFound when there is no such session, it has ended, or what it began with: the
// key, the membership, the operator's password. A blocked member is found.
func IdentityByConsole(ctx context.Context, q storage.Querier, digest Digest, operator bool, now time.Time) (*ConsoleIdentity, error) {
	if operator {
		return consoleOperatorBy(ctx, q, digest, now)
	}
	var row consoleRow
	if err := q.GetContext(ctx, &row, consoleMember, digest[:], now); err != nil {
		return nil, storage.Wrap(err, "session of the console")
	}
	if !digest.Equal(row.Digest) {
		return nil, fmt.Errorf("session of the console: %w", storage.ErrNotFound)
	}
	id, err := row.identity()
	if err != nil {
		return nil, err
	}
	id.Stale = false // the session is written, not the key
	return &ConsoleIdentity{SessionID: row.SessionID, Member: id, Stale: row.Stale}, nil
}

func consoleOperatorBy(ctx context.Context, q storage.Querier, digest Digest, now time.Time) (*ConsoleIdentity, error) {
	var row struct {
		SessionID int64  `db:"session_id"`
		Digest    []byte `db:"digest"`
		Username  string `db:"username"`
		Stale     bool   `db:"stale"`
	}
	if err := q.GetContext(ctx, &row, consoleOperator, digest[:], now); err != nil {
		return nil, storage.Wrap(err, "session of the console")
	}
	if !digest.Equal(row.Digest) {
		return nil, fmt.Errorf("session of the console: %w", storage.ErrNotFound)
	}
	return &ConsoleIdentity{SessionID: row.SessionID, Operator: row.Username, Stale: row.Stale}, nil
}

// touchConsole has the condition once more, so that of many requests at once one writes.
const touchConsole = `
update console_sessions set last_used_at = $2, expires_at = least($3::timestamptz, created_at + $4 * interval '1 second')
where id = $1 and last_used_at < $2::timestamptz - interval '5 minutes'`

// TouchConsole stores that a session was used just now, and lets it last from now on.
func TouchConsole(ctx context.Context, q storage.Querier, sessionID int64, now time.Time) error {
	_, err := q.ExecContext(ctx, touchConsole, sessionID, now, now.Add(ConsoleLife), int64(consoleMost.Seconds()))
	return storage.Wrap(err, "store a session's last use")
}

// EndConsole ends a session; one that has ended already is no error.
func EndConsole(ctx context.Context, q storage.Querier, digest Digest) error {
	_, err := q.ExecContext(ctx, `delete from console_sessions where digest = $1`, digest[:])
	return storage.Wrap(err, "end a session of the console")
}

// ConsoleSession is a session as its owner sees it.
type ConsoleSession struct {
	ID         int64     `db:"id" json:"id"`
	Device     string    `db:"device" json:"device"`
	Address    string    `db:"address" json:"address"`
	CreatedAt  time.Time `db:"created_at" json:"created_at"`
	LastUsedAt time.Time `db:"last_used_at" json:"last_used_at"`
	ExpiresAt  time.Time `db:"expires_at" json:"expires_at"`
}

// maxConsoleSessions bounds the list of a person's sessions.
const maxConsoleSessions = 100

// consoleSessions reads console_sessions_member.
const consoleSessions = `
select id, device, address, created_at, last_used_at, expires_at from console_sessions
where organization_id = $1 and user_id = $2 and expires_at > $3
order by last_used_at desc, id desc limit $4`

// ConsoleSessions returns the sessions of a member that have not ended, the one used last
// first, at most 100.
func ConsoleSessions(ctx context.Context, q storage.Querier, organizationID, userID int64, now time.Time) ([]ConsoleSession, error) {
	list := []ConsoleSession{}
	err := q.SelectContext(ctx, &list, consoleSessions, organizationID, userID, now, maxConsoleSessions)
	return list, storage.Wrap(err, "sessions of the console")
}

// EndConsoleSession ends one session of a member, by its id; ErrNotFound when the member
// has none such.
func EndConsoleSession(ctx context.Context, q storage.Querier, organizationID, userID, id int64) error {
	var ended int64
	err := q.GetContext(ctx, &ended, `delete from console_sessions where id = $3 and organization_id = $1 and user_id = $2 returning id`,
		organizationID, userID, id)
	return storage.Wrap(err, fmt.Sprintf("session %d of the console", id))
}

const insertConsoleLink = `
insert into console_links (digest, organization_id, user_id, expires_at) values ($1, $2, $3, $4)`

// CreateConsoleLink stores a link that opens the console once as the member.
func CreateConsoleLink(ctx context.Context, q storage.Querier, digest Digest, organizationID, userID int64, expires time.Time) error {
	_, err := q.ExecContext(ctx, insertConsoleLink, digest[:], organizationID, userID, expires)
	return storage.Wrap(err, "create a link to the console")
}

// ConsoleLinkStands reports whether a link can still be used.
func ConsoleLinkStands(ctx context.Context, q storage.Querier, digest Digest, now time.Time) (stands bool, err error) {
	err = q.GetContext(ctx, &stands, `select exists (select from console_links where digest = $1 and expires_at > $2)`, digest[:], now)
	return stands, storage.Wrap(err, "link to the console")
}

// UseConsoleLink ends a link and returns the member it is for; ErrNotFound when it was
// used, has ended, or never was.
func UseConsoleLink(ctx context.Context, tx *storage.Tx, digest Digest, now time.Time) (organizationID, userID int64, err error) {
	var row struct {
		OrganizationID int64 `db:"organization_id"`
		UserID         int64 `db:"user_id"`
	}
	err = tx.GetContext(ctx, &row,
		`delete from console_links where digest = $1 and expires_at > $2 returning organization_id, user_id`, digest[:], now)
	return row.OrganizationID, row.UserID, storage.Wrap(err, "link to the console")
}

const forgetConsole = `
with links as (
	delete from console_links where digest in (
		select digest from console_links where expires_at < $1 order by expires_at limit $2)
	returning 1
), sessions as (
	delete from console_sessions where id in (
		select id from console_sessions where expires_at < $1 order by expires_at limit $2)
	returning 1
)
select (select count(*) from links) + (select count(*) from sessions)`

// ForgetConsole deletes sessions and links that ended before, at most limit of each, and
// returns how many.
func ForgetConsole(ctx context.Context, q storage.Querier, before time.Time, limit int) (n int64, err error) {
	err = q.GetContext(ctx, &n, forgetConsole, before, limit)
	return n, storage.Wrap(err, "forget sessions of the console")
}
