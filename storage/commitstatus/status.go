package commitstatus

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

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

// A row that says so already is left alone: neither a task nor a request comes of it. One that
// was set under another setting is not: it stands at another place, or nowhere.
const setStatus = `
insert into commit_statuses as c (build_id, organization_id, commit, state, description, setting)
select b.id, b.organization_id, left(btrim(b.metadata ->> 'commit'), $6), $4, $5, s.revision
from commit_status_settings s
join builds b on b.id = $3 and b.project_id = s.project_id and b.organization_id = s.organization_id and b.deleted_at is null
where s.project_id = $2 and s.organization_id = $1 and btrim(coalesce(b.metadata ->> 'commit', '')) <> ''
on conflict (build_id) do update set commit = excluded.commit, state = excluded.state, description = excluded.description,
	setting = excluded.setting, sequence = c.sequence + 1, set_at = now()
where (c.commit, c.state, c.description, c.setting) is distinct from
	(excluded.commit, excluded.state, excluded.description, excluded.setting)
returning sequence`

// Set gives the commit of a build a status, in the transaction of its cause, and inserts the
// task that sends it. It does nothing, in one statement, where the app has no setting, the
// build no commit in its metadata, or the status is the one that the build has. Who sets those
// of several builds goes by their ids: each is locked until the transaction ends. Texts that
// change without the state are sent as well; GitHub takes at most a thousand statuses of a
// commit, so a text should not count on.
func Set(ctx context.Context, tx *storage.Tx, c Change) error {
	switch c.State {
	case Pending, Pass, Fail:
	default:
		return fmt.Errorf("set commit status of build %d: state %q", c.BuildID, c.State)
	}
	var sequences []int64
	err := tx.SelectContext(ctx, &sequences, setStatus, c.OrganizationID, c.ProjectID, c.BuildID, c.State,
		shorten(storage.WithoutNUL(c.Text)), maxCommit)
	if err != nil || len(sequences) == 0 {
		return storage.Wrap(err, fmt.Sprintf("set commit status of build %d", c.BuildID))
	}
	_, err = ledger.Insert(ctx, tx, newTask(c, sequences[0]))
	return err
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

// newTask returns the task that sends a change. Those of a build share a concurrency key, so
// that no older status overtakes a newer one.
func newTask(c Change, sequence int64) *ledger.NewTask {
	return &ledger.NewTask{Kind: TaskKind, Queue: Queue, OrganizationID: c.OrganizationID, RequestID: c.RequestID,
		Payload: taskPayload{BuildID: c.BuildID, Sequence: sequence}, MaxAttempts: TaskAttempts,
		ConcurrencyKey: TaskKind + ":" + strconv.FormatInt(c.BuildID, 10)}
}

// Work is a status that is to be sent, and where to.
type Work struct {
	Setting
	Status
}

const workOf = `
select ` + columns + `, c.build_id, c.commit, c.state, c.description, c.sequence
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
