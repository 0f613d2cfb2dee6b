package crash

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// Grouping the reports of a crash project anew, by the rules and the libraries of now, reads all
// that are stored, key by key and the newest of a key first. What becomes of the groups is what
// symbols that arrive late make of them: see reread.go.

// RegroupCursor is the report that was read last.
type RegroupCursor struct {
	Key int64     `json:"key"`
	At  time.Time `json:"at"`
	ID  uuid.UUID `json:"id"`
}

// RegroupCrash is a report with the group that is shown for it.
type RegroupCrash struct {
	ID         uuid.UUID `db:"id"`
	KeyID      int64     `db:"key_id"`
	OccurredAt time.Time `db:"occurred_at"`
	RootID     int64     `db:"root_id"`
}

// Cursor is the cursor behind the report.
func (c *RegroupCrash) Cursor() RegroupCursor {
	return RegroupCursor{Key: c.KeyID, At: c.OccurredAt, ID: c.ID}
}

// regroupable are the keys of crash project $1 that the rules made: neither a client nor a split
// chose them.
const regroupable = `k.crash_project_id = $1 and k.algorithm > 0
	and not exists (select from crash_group_splits s where s.target_key_id = k.id)`

// LastRegroupKey returns the newest key of a crash project: keys that are made later are of the rules
// of now. 0: there is none.
func LastRegroupKey(ctx context.Context, q storage.Querier, project int64) (int64, error) {
	var id int64
	err := q.GetContext(ctx, &id, `select coalesce(max(k.id), 0) from crash_group_keys k where `+regroupable, project)
	return id, storage.Wrap(err, "newest key of a crash project")
}

// selectRegroup reads on in the key of the cursor, and then the first reports of the keys behind it.
// Each part reads the index crashes_key_page.
const selectRegroup = `
with page as (
	(select c.id, c.key_id, c.occurred_at from crashes c join crash_group_keys k on k.id = c.key_id
	 where ` + regroupable + ` and c.key_id = $2 and (c.occurred_at, c.id) < ($3, $4)
	 order by c.occurred_at desc, c.id desc limit $6)
	union all
	(select c.id, c.key_id, c.occurred_at from (
		select k.id from crash_group_keys k where ` + regroupable + ` and k.id > $2 and k.id <= $5 order by k.id limit $6) k
	 cross join lateral (select id, key_id, occurred_at from crashes where key_id = k.id order by occurred_at desc, id desc limit $7) c)
)
select p.id, p.key_id, p.occurred_at, coalesce(g.root_id, g.id) as root_id
from page p join crash_group_keys k on k.id = p.key_id join crash_groups g on g.id = k.group_id
order by p.key_id, p.occurred_at desc, p.id desc limit $6`

// RegroupCrashes returns up to limit reports of a crash project behind a cursor, of keys up to one,
// at most perKey of each that begins.
func RegroupCrashes(ctx context.Context, q storage.Querier, project int64, after RegroupCursor, until int64,
	limit, perKey int) ([]RegroupCrash, error) {
	var rows []RegroupCrash
	err := q.SelectContext(ctx, &rows, selectRegroup, project, after.Key, after.At, after.ID, until, limit, perKey)
	return rows, storage.Wrap(err, "reports of a crash project")
}

// GroupsOfKeys returns the groups that are shown for those of some keys that a crash project has.
func GroupsOfKeys(ctx context.Context, q storage.Querier, project int64, keys [][32]byte) (map[[32]byte]int64, error) {
	texts := make([][]byte, len(keys))
	for i := range keys {
		texts[i] = keys[i][:]
	}
	var rows []struct {
		Key    []byte `db:"key"`
		RootID int64  `db:"root_id"`
	}
	err := q.SelectContext(ctx, &rows, `select k.key, coalesce(g.root_id, g.id) as root_id from crash_group_keys k
		join crash_groups g on g.id = k.group_id where k.crash_project_id = $1 and k.key = any($2)`, project, pq.ByteaArray(texts))
	groups := make(map[[32]byte]int64, len(rows))
	for _, r := range rows {
		groups[[32]byte(r.Key)] = r.RootID
	}
	return groups, storage.Wrap(err, "groups of keys")
}
