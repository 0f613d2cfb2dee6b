package crash

import (
	"context"
	"iter"
	"maps"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

func mapKeys[K comparable, V any](m map[K]V) iter.Seq[K] { return maps.Keys(m) }

// makeAlias makes a new key of the group of an old one, whose crashes got it first, and
// calls the group after it.
func (r *rereading) makeAlias(ctx context.Context, from keyRow, g *Grouping) (keyRow, error) {
	to := from
	to.Key = append([]byte(nil), g.Key[:]...)
	err := r.tx.GetContext(ctx, &to.ID, `insert into crash_group_keys (crash_project_id, key, algorithm, group_id, checked_version)
		values ($1, $2, $3, $4, $3) returning id`, from.ProjectID, to.Key, g.Algorithm, from.GroupID)
	if err != nil {
		return to, storage.Wrap(err, "add a key to a crash group")
	}
	_, err = r.tx.ExecContext(ctx, `insert into crash_group_aliases (key_id, alias_key_id) values ($1, $2)`, from.ID, to.ID)
	if err != nil {
		return to, storage.Wrap(err, "note the alias of a key")
	}
	r.alias[from.ID] = to.ID
	r.byID[to.ID] = to
	return to, r.retitle(ctx, from, g)
}

// takeInYounger makes the group of a new key a part of that of an old one, if it is the
// younger one and nobody touched it; else it stays what it is. It returns the new key.
func (r *rereading) takeInYounger(ctx context.Context, from, to keyRow, g *Grouping) (keyRow, error) {
	taken, err := takeIn(ctx, r.tx, r.organization, from, g.Algorithm, to.Key, account.ActorSymbols)
	if err != nil || !taken {
		return to, err
	}
	_, err = r.tx.ExecContext(ctx, `insert into crash_group_aliases (key_id, alias_key_id) values ($1, $2)`, from.ID, to.ID)
	if err != nil {
		return to, storage.Wrap(err, "note the alias of a key")
	}
	r.alias[from.ID] = to.ID
	younger := to.RootID
	for at, k := range r.byKey {
		if k.RootID == younger {
			k.RootID = from.RootID
			r.byKey[at] = k
		}
	}
	for id, k := range r.byID {
		if k.RootID == younger {
			k.RootID = from.RootID
			r.byID[id] = k
		}
	}
	to.RootID = from.RootID
	return to, r.retitle(ctx, from, g)
}

// retitle calls the group of a key after frames that were symbolicated, which may show its owner.
func (r *rereading) retitle(ctx context.Context, of keyRow, g *Grouping) error {
	group := of.GroupID
	var was []struct {
		Title   string `db:"title"`
		Culprit string `db:"culprit"`
	}
	err := r.tx.SelectContext(ctx, &was, `
		with old as (select id, title, culprit from crash_groups where id = $1 for update)
		update crash_groups g set title = $2, culprit = $3, classifier = $4
		from old where g.id = old.id and (g.title, g.culprit, g.classifier) is distinct from ($2, $3, $4)
		returning old.title, old.culprit`, group, g.Title, g.Culprit, g.Classifier)
	if err != nil || len(was) == 0 {
		return storage.Wrap(err, "call a crash group after its symbols")
	}
	_, err = r.tx.ExecContext(ctx, `update crash_group_titles set functions = true,
		text = concat_ws(E'\n', $2::text, $3::text, $4::text, nullif($5::text, '')) where group_id = $1`,
		group, g.Title, g.Culprit, g.Classifier, g.functions())
	if err != nil {
		return storage.Wrap(err, "call a crash group after its symbols")
	}
	if err := assignOwners(ctx, r.tx, r.organization, []owned{{of.ProjectID, group, g.Places}}, true); err != nil {
		return err
	}
	return account.Audit(ctx, r.tx, account.Event{OrganizationID: r.organization, Type: account.CrashGroupSymbolicated,
		Actor: account.Actor{Name: account.ActorSymbols}, Subject: groupSubject(group),
		Detail: map[string]any{"title": g.Title, "culprit": g.Culprit, "former_title": was[0].Title, "former_culprit": was[0].Culprit}})
}

// makeGroup makes a group for a key that no group has.
func (r *rereading) makeGroup(ctx context.Context, project int64, g *Grouping) (keyRow, error) {
	crashes := []Crash{{ProjectID: project, Group: g}}
	keys, err := ensureKeys(ctx, r.tx, r.organization, crashes)
	if err != nil {
		return keyRow{}, err
	}
	return keys[projectKey{project, g.Key}], nil
}

// selectEmptied finds those of groups that are shown and have no crash of their own or of a part.
const selectEmptied = `
select g.id from unnest($1::bigint[]) as w(id) join crash_groups g on g.id = w.id
where g.merged_into is null and not exists (` + crashesOfGroup + `) order by g.id`

// emptied returns those of groups, in their order, that have no crash left.
func (r *rereading) emptied(ctx context.Context, groups []int64) ([]int64, error) {
	var ids []int64
	err := r.tx.SelectContext(ctx, &ids, selectEmptied, pq.Array(groups))
	return ids, storage.Wrap(err, "find emptied crash groups")
}

// absorb makes a group, which has no crash left (emptied), a part of the group to which its last ones
// went, with its comments, and passes its decisions on.
func (r *rereading) absorb(ctx context.Context, group, into int64, touched map[int64]bool) error {
	at, err := placeOf(ctx, r.tx, r.organization, into)
	if err != nil || at.RootID == group {
		return err
	}
	who := account.Actor{Name: account.ActorSymbols}
	if err := inherit(ctx, r.tx, who, group, at.RootID); err != nil {
		return err
	}
	if err := attach(ctx, r.tx, group, at.RootID, at.RootID); err != nil {
		return err
	}
	delete(touched, group)
	touched[at.RootID] = true
	return account.Audit(ctx, r.tx, account.Event{OrganizationID: r.organization, Type: account.CrashGroupMerged,
		Actor: who, Subject: groupSubject(group),
		Detail: map[string]any{"merged_into": at.RootID}})
}
