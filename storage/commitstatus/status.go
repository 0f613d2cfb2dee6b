package commitstatus

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
)

// Change is a status that a build gets.
type Change struct {
	OrganizationID int64
	ProjectID      int64
	BuildID        int64
	State          State
	Text           string // a line for people; longer ones are cut
	RequestID      string
}

// maxDescription is what GitHub takes, in characters; GitLab takes 255, Gitea any.
const maxDescription = 140

// maxCommit is what is kept of a commit: what is longer than a hash is none.
const maxCommit = 100

// setStatuses leaves a row alone that says so already: neither a task nor a request comes of
// it. One that was set under another setting is not left: it stands at another place, or
// nowhere. So is that of a build when a newer one of the app has a status for the commit.
const setStatuses = `
insert into commit_statuses as c (build_id, organization_id, project_id, commit, state, description, setting)
select b.id, b.organization_id, b.project_id, left(btrim(b.metadata ->> 'commit'), $6), n.state, n.description, s.revision
from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[]) as n(organization_id, project_id, build_id,
	state, description)
join commit_status_settings s on s.project_id = n.project_id and s.organization_id = n.organization_id
join builds b on b.id = n.build_id and b.project_id = s.project_id and b.organization_id = s.organization_id and b.deleted_at is null
where btrim(coalesce(b.metadata ->> 'commit', '')) <> '' and not exists (
	select from commit_statuses o join builds ob on ob.id = o.build_id and ob.deleted_at is null
	where o.project_id = b.project_id and lower(o.commit) = lower(left(btrim(b.metadata ->> 'commit'), $6)) and o.build_id > b.id)
order by b.id
on conflict (build_id) do update set commit = excluded.commit, state = excluded.state, description = excluded.description,
	setting = excluded.setting, sequence = c.sequence + 1, set_at = now()
where (c.commit, c.state, c.description, c.setting) is distinct from
	(excluded.commit, excluded.state, excluded.description, excluded.setting)
returning build_id, commit, sequence`

// Set is SetAll for one build.
func Set(ctx context.Context, tx *storage.Tx, c Change) error { return SetAll(ctx, tx, []Change{c}) }

// SetAll gives the commits of builds a status, in the transaction of its cause, and inserts the
// tasks that send them; a build stands in the list once. It does nothing for a build whose app
// has no setting, that has no commit in its metadata or the status already, or where a newer
// build of the app has a status for the commit. The statements do not depend on the number of
// builds, whose rows are locked by their ids until the transaction ends. Texts that change
// without the state are sent as well; GitHub takes at most a thousand statuses of a commit, so
// a text should not count on.
func SetAll(ctx context.Context, tx *storage.Tx, list []Change) error {
	if len(list) == 0 {
		return nil
	}
	var organizations, projects, builds []int64
	var states, texts []string
	byBuild := make(map[int64]*Change, len(list))
	for i := range list {
		c := &list[i]
		switch c.State {
		case Pending, Pass, Fail:
		default:
			return fmt.Errorf("set commit status of build %d: state %q", c.BuildID, c.State)
		}
		organizations, projects, builds = append(organizations, c.OrganizationID), append(projects, c.ProjectID), append(builds, c.BuildID)
		states, texts = append(states, string(c.State)), append(texts, shorten(storage.WithoutNUL(c.Text)))
		byBuild[c.BuildID] = c
	}
	var set []setRow
	err := tx.SelectContext(ctx, &set, setStatuses, pq.Array(organizations), pq.Array(projects), pq.Array(builds), pq.Array(states),
		pq.Array(texts), maxCommit)
	if err != nil || len(set) == 0 {
		return storage.Wrap(err, "set commit statuses")
	}
	slices.SortFunc(set, func(a, b setRow) int { return cmp.Compare(a.BuildID, b.BuildID) })
	var work []*ledger.NewTask
	for _, row := range set {
		work = append(work, newTask(byBuild[row.BuildID], row))
	}
	_, err = ledger.InsertAll(ctx, tx, work)
	return err
}

// setRow is a status that was set.
type setRow struct {
	BuildID  int64  `db:"build_id"`
	Commit   string `db:"commit"`
	Sequence int64  `db:"sequence"`
}

// shorten cuts a description, and marks where it was cut.
func shorten(text string) string {
	if cut := storage.Cut(text, maxDescription); cut == text {
		return text
	}
	return storage.Cut(text, maxDescription-1) + "…"
}

// taskPayload names a change of a build's status.
type taskPayload struct {
	BuildID  int64 `json:"build_id"`
	Sequence int64 `json:"sequence"`
}

// newTask returns the task that sends a change. Those of a commit and an app share a concurrency
// key, so that no older status overtakes a newer one.
func newTask(c *Change, row setRow) *ledger.NewTask {
	return &ledger.NewTask{Kind: TaskKind, Queue: Queue, OrganizationID: c.OrganizationID, RequestID: c.RequestID,
		Payload: taskPayload{BuildID: c.BuildID, Sequence: row.Sequence}, MaxAttempts: TaskAttempts,
		ConcurrencyKey: fmt.Sprintf("%s:%d:%s", TaskKind, c.ProjectID, strings.ToLower(row.Commit))}
}

// Work is a status that is to be sent, and where to.
type Work struct {
	Setting
	Status
	// Overtaken: a newer build of the app has a status for the commit.
	Overtaken bool `db:"overtaken"`
}

const workOf = `
select ` + columns + `, c.build_id, c.commit, c.state, c.description, c.sequence,
	exists (select from commit_statuses o join builds ob on ob.id = o.build_id and ob.deleted_at is null
		where o.project_id = b.project_id and lower(o.commit) = lower(c.commit) and o.build_id > c.build_id) as overtaken
from commit_statuses c
join builds b on b.id = c.build_id and b.deleted_at is null
join commit_status_settings s on s.project_id = b.project_id and s.organization_id = b.organization_id
where c.build_id = $1`

// Load reads the newest status of a build with the setting of its app; storage.ErrNotFound
// when one of them is gone.
func Load(ctx context.Context, q storage.Querier, buildID int64) (*Work, error) {
	var w Work
	if err := q.GetContext(ctx, &w, workOf, buildID); err != nil {
		return nil, storage.Wrap(err, fmt.Sprintf("commit status of build %d", buildID))
	}
	return &w, nil
}

// RecordSent stores that a status was sent, in the transaction that ends its task. A setting
// that was changed meanwhile stays as it is: it says nothing about another one.
func RecordSent(ctx context.Context, tx *storage.Tx, w *Work, at time.Time) error {
	return record(ctx, tx, w.ProjectID, w.Revision, "", at)
}

// RecordFailure stores why an attempt failed, with the setting that it was made by. The text is
// for people.
func RecordFailure(ctx context.Context, tx *storage.Tx, w *Work, text string, at time.Time) error {
	return record(ctx, tx, w.ProjectID, w.Revision, fmt.Sprintf("build %d: %s", w.BuildID, text), at)
}

const recordAttempt = `
update commit_status_settings set last_error = $3,
	last_sent_at = case when $3 = '' then $4 else last_sent_at end,
	last_error_at = case when $3 = '' then null else $4::timestamptz end
where project_id = $1 and revision = $2`

func record(ctx context.Context, tx *storage.Tx, projectID int64, revision uuid.UUID, text string, at time.Time) error {
	_, err := tx.ExecContext(ctx, recordAttempt, projectID, revision, text, at)
	return storage.Wrap(err, fmt.Sprintf("record commit status of project %d", projectID))
}
