package crash

import (
	"context"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/array"
	"github.com/slipway-qa/slipway/storage/crash/usage"
)

// A dump is stored unread until a task has read it. Then it is a crash like any other, and
// counts as one that arrives. Version and build, which the fields sent with the dump may have
// named, were counted when it was stored: they stay.

const updateUnread = `
update crashes c set state = new.state, error = nullif(new.error, ''), key_id = nullif(new.key_id, 0), processed_at = now(),
	lang = new.lang, agent = new.agent, classifier = new.classifier, message = new.message,
	version = case when c.version = '' then new.version else c.version end,
	host = case when c.host = '' then new.host else c.host end,
	attributes = new.attributes, stack_key = nullif(new.stack_key, ''),
	build_id = coalesce(c.build_id, nullif(new.build, 0)), severity = new.severity
from unnest($2::uuid[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
	$11::text[], $12::jsonb[], $13::bytea[], $14::bigint[], $15::smallint[])
	as new(id, state, error, key_id, lang, agent, classifier, message, version, host, attributes, stack_key, build, severity)
where c.id = new.id and c.organization_id = $1`

// recordUnread writes crashes that were stored unread as what was read out of them, and
// counts them. The projects are locked alone.
func recordUnread(ctx context.Context, tx *storage.Tx, organization int64, crashes []Crash) error {
	Facets(organization, crashes)
	if err := lockReportedBuilds(ctx, tx, crashes); err != nil {
		return err
	}
	keys, err := ensureKeys(ctx, tx, organization, crashes)
	if err != nil {
		return err
	}
	if err := splitOff(ctx, tx, keys, crashes); err != nil {
		return err
	}
	fresh, err := keepCounted(ctx, tx, organization, crashes)
	if err != nil {
		return err
	}
	if err := updateUnreadRows(ctx, tx, organization, keys, crashes); err != nil {
		return err
	}
	if _, err := countBuilds(ctx, tx, fresh.builds); err != nil {
		return err
	}
	if err := count(ctx, tx, organization, keys, crashes); err != nil {
		return err
	}
	if err := writeFacets(ctx, tx, nil, keys, crashes); err != nil {
		return err
	}
	used := usageOf(fresh.versions)
	if err := usage.CountVersions(ctx, tx, used); err != nil {
		return err
	}
	return usage.CountSessions(ctx, tx, used)
}

// freshCounts are the crashes whose build, and whose version, were not counted yet.
type freshCounts struct{ builds, versions []Crash }

// keepCounted gives crashes the version, host and build that their rows have, which
// their groups count, too.
func keepCounted(ctx context.Context, tx *storage.Tx, organization int64, crashes []Crash) (freshCounts, error) {
	var fresh freshCounts
	ids := make([]string, len(crashes))
	for i := range crashes {
		ids[i] = crashes[i].ID.String()
	}
	var rows []deletedCrash
	err := tx.SelectContext(ctx, &rows, `select `+goneColumns+` from crashes
		where id = any($1::uuid[]) and organization_id = $2 order by id for update`, pq.Array(ids), organization)
	if err != nil {
		return fresh, storage.Wrap(err, "lock crashes that were stored unread")
	}
	for i := range crashes {
		c := &crashes[i]
		for j := range rows {
			if rows[j].ID != c.ID {
				continue
			}
			c.OccurredAt, c.ReceivedAt, c.Duplicates = rows[j].OccurredAt, rows[j].ReceivedAt, rows[j].Duplicates
			if rows[j].Host != "" {
				c.Host = rows[j].Host
			}
			if rows[j].Version == "" {
				fresh.versions = append(fresh.versions, *c)
			} else {
				c.Version = rows[j].Version
			}
			if rows[j].BuildID == nil {
				fresh.builds = append(fresh.builds, *c)
			}
		}
	}
	return fresh, nil
}

func updateUnreadRows(ctx context.Context, tx *storage.Tx, organization int64, keys map[projectKey]keyRow, crashes []Crash) error {
	texts := func(get func(c *Crash) string) any {
		out := make([]string, len(crashes))
		for i := range crashes {
			out[i] = get(&crashes[i])
		}
		return pq.Array(out)
	}
	keyIDs, builds, severities := make([]int64, len(crashes)), make([]int64, len(crashes)), make([]int64, len(crashes))
	for i := range crashes {
		c := &crashes[i]
		builds[i], severities[i] = c.build, c.Severity.Rank()
		if c.Group != nil {
			keyIDs[i] = keys[projectKey{c.ProjectID, c.Group.Key}].ID
		}
	}
	_, err := tx.ExecContext(ctx, updateUnread, organization,
		texts(func(c *Crash) string { return c.ID.String() }),
		texts(func(c *Crash) string { return string(c.State) }),
		texts(func(c *Crash) string { return c.Error }),
		pq.Array(keyIDs),
		texts(func(c *Crash) string { return c.Lang }),
		texts(func(c *Crash) string { return c.Agent }),
		texts(func(c *Crash) string { return c.Classifier }),
		texts(func(c *Crash) string { return c.Message }),
		texts(func(c *Crash) string { return c.Version }),
		texts(func(c *Crash) string { return c.Host }),
		texts(func(c *Crash) string { return c.Attributes }),
		texts(func(c *Crash) string { return array.Bytea(c.StackKey) }),
		pq.Array(builds), pq.Array(severities))
	return storage.Wrap(err, "record crashes that were stored unread")
}
