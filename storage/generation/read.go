package generation

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
)

// lateAfter is how long a generation may still be shown as open after its deadline:
// the worker that writes it then writes down what it has.
const lateAfter = `interval '3 seconds'`

const (
	generationColumns = `g.id, g.organization_id, g.team_id, g.name, g.state, g.error_code, g.error, g.accepted_at, g.deadline,
	g.started_at, g.finished_at, coalesce(g.case_id, '') as case_id, coalesce(g.revision_id, '') as revision_id,
	coalesce(g.draft_case_id, '') as draft_case_id,
	g.state in ('QUEUED', 'IN_PROGRESS') and now() > g.deadline + ` + lateAfter + ` as late`
	generationByID = `select ` + generationColumns + ` from test_generations g where g.organization_id = $1 and g.id = $2`
)

type generationRow struct {
	ID             uuid.UUID  `db:"id"`
	OrganizationID int64      `db:"organization_id"`
	TeamID         int64      `db:"team_id"`
	Name           string     `db:"name"`
	State          State      `db:"state"`
	ErrorCode      string     `db:"error_code"`
	Error          string     `db:"error"`
	AcceptedAt     time.Time  `db:"accepted_at"`
	Deadline       time.Time  `db:"deadline"`
	StartedAt      *time.Time `db:"started_at"`
	FinishedAt     *time.Time `db:"finished_at"`
	CaseID         string     `db:"case_id"`
	RevisionID     string     `db:"revision_id"`
	DraftCaseID    string     `db:"draft_case_id"`
	Late           bool       `db:"late"`
}

// ByID reads one generation; ErrNotFound also for another organization's.
func ByID(ctx context.Context, q storage.Querier, organizationID int64, id uuid.UUID) (*Generation, error) {
	var row generationRow
	if err := q.GetContext(ctx, &row, generationByID, organizationID, id); err != nil {
		return nil, storage.Wrap(err, "generation "+id.String())
	}
	g := Generation(row)
	return &g, nil
}

const captured = `
select steps, reasoning, discovered_intent, description, changes, model, findings from test_generations where id = $1`

// CapturedOf reads what a generation has so far, or had at its end.
func CapturedOf(ctx context.Context, q storage.Querier, id uuid.UUID) (*Captured, error) {
	var row struct {
		Steps            []byte `db:"steps"`
		Reasoning        []byte `db:"reasoning"`
		DiscoveredIntent string `db:"discovered_intent"`
		Description      string `db:"description"`
		Changes          []byte `db:"changes"`
		Model            []byte `db:"model"`
		Findings         []byte `db:"findings"`
	}
	if err := q.GetContext(ctx, &row, captured, id); err != nil {
		return nil, storage.Wrap(err, "what generation "+id.String()+" captured")
	}
	c := &Captured{DiscoveredIntent: row.DiscoveredIntent, Description: row.Description,
		Changes: row.Changes, Model: row.Model, Findings: row.Findings}
	if err := json.Unmarshal(row.Steps, &c.Steps); err != nil {
		return nil, fmt.Errorf("steps of generation %s: %w", id, err)
	}
	if err := json.Unmarshal(row.Reasoning, &c.Reasoning); err != nil {
		return nil, fmt.Errorf("reasoning of generation %s: %w", id, err)
	}
	err := q.SelectContext(ctx, &c.Files, `select `+fileColumns+` from generation_files where generation_id = $1 order by step, id`, id)
	return c, storage.Wrap(err, "files of generation "+id.String())
}

const endedGenerations = `
select want.id from unnest($1::uuid[]) as want(id)
left join test_generations g on g.id = want.id
where g.id is null or g.state in ('COMPLETED', 'FAILED')`

// Ended returns those of the ids that name a generation which has ended, or that is not
// there: for the watcher of waiting requests.
func Ended(ctx context.Context, q storage.Querier, ids []uuid.UUID) ([]uuid.UUID, error) {
	ended := []uuid.UUID{}
	err := q.SelectContext(ctx, &ended, endedGenerations, storage.UUIDs(ids))
	return ended, storage.Wrap(err, "look at generations")
}
