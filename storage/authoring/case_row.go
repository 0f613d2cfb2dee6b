package authoring

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/step"
)

// OwnerColumns and OwnerTables fill an Owner for the rows of c. Users may be gone.
const (
	OwnerColumns = `c.organization_id, o.uuid as organization_uuid, c.team_id, t.uuid as team_uuid,
	c.creator_uuid, coalesce(nullif(cu.name, ''), cu.username, '') as creator_name,
	c.modifier_uuid, coalesce(nullif(mu.name, ''), mu.username, '') as modifier_name,
	c.created_at, c.updated_at`
	OwnerTables = `
join organizations o on o.id = c.organization_id
join teams t on t.id = c.team_id
left join users cu on cu.uuid = c.creator_uuid
left join users mu on mu.uuid = c.modifier_uuid`
)

const caseColumns = `c.id, c.suite_id, c.name, c.tags, c.run_settings, (
	select jsonb_build_object('reason', q.reason, 'since', q.created_at, 'until', q.until)
	from test_quarantines q where q.case_id = c.id and q.until > now()) as quarantine, ` + OwnerColumns

type caseRow struct {
	Owner
	ID         string         `db:"id"`
	SuiteID    *uuid.UUID     `db:"suite_id"`
	Name       string         `db:"name"`
	Tags       pq.StringArray `db:"tags"`
	Settings   []byte         `db:"run_settings"`
	Quarantine []byte         `db:"quarantine"` // null: none
	Total      int            `db:"total"`      // of lists
}

func (r *caseRow) testCase() (Case, error) {
	c := Case{Owner: r.Owner, ID: r.ID, SuiteID: r.SuiteID, Name: r.Name, Tags: r.Tags}
	if c.Tags == nil {
		c.Tags = []string{}
	}
	if err := json.Unmarshal(r.Settings, &c.Settings); err != nil {
		return c, fmt.Errorf("settings of test case %s: %w", r.ID, err)
	}
	if r.Quarantine != nil {
		if err := json.Unmarshal(r.Quarantine, &c.Quarantine); err != nil {
			return c, fmt.Errorf("quarantine of test case %s: %w", r.ID, err)
		}
	}
	return c, nil
}

const revisionColumns = `id, case_id, number, intent, steps, discovered_intent, description, reasoning, data_id, created_at, ` +
	`set_up, tear_down`

type revisionRow struct {
	ID               string     `db:"id"`
	CaseID           string     `db:"case_id"`
	Number           int        `db:"number"`
	Intent           string     `db:"intent"`
	Steps            []byte     `db:"steps"`
	DiscoveredIntent string     `db:"discovered_intent"`
	Description      string     `db:"description"`
	Reasoning        []byte     `db:"reasoning"`
	DataID           *uuid.UUID `db:"data_id"`
	CreatedAt        time.Time  `db:"created_at"`
	SetUp            []byte     `db:"set_up"`
	TearDown         []byte     `db:"tear_down"`
}

func (r *revisionRow) revision() (Revision, error) {
	v := Revision{ID: r.ID, CaseID: r.CaseID, Number: r.Number, Intent: r.Intent, Steps: []step.Step{},
		DiscoveredIntent: r.DiscoveredIntent, Description: r.Description, Reasoning: []Reason{}, DataID: r.DataID, CreatedAt: r.CreatedAt}
	if err := json.Unmarshal(r.Steps, &v.Steps); err != nil {
		return v, fmt.Errorf("steps of revision %s: %w", r.ID, err)
	}
	for _, part := range []struct {
		doc   []byte
		steps *[]step.Step
	}{{r.SetUp, &v.SetUp}, {r.TearDown, &v.TearDown}} {
		if part.doc == nil {
			continue
		}
		if err := json.Unmarshal(part.doc, part.steps); err != nil {
			return v, fmt.Errorf("steps around revision %s: %w", r.ID, err)
		}
	}
	if err := json.Unmarshal(r.Reasoning, &v.Reasoning); err != nil {
		return v, fmt.Errorf("reasoning of revision %s: %w", r.ID, err)
	}
	return v, nil
}

// Team is a team of the writer's organization.
type Team struct {
	ID   int64     `db:"id"`
	UUID uuid.UUID `db:"uuid"`
}

const teamByUUID = `select id, uuid from teams where organization_id = $1 and uuid = $2`

// defaultTeam finds the team of a writer. One without a team writes for the organization's
// first one.
const defaultTeam = `
select id, uuid from teams where organization_id = $1 and ($2::bigint = 0 or id = $2::bigint)
order by id limit 1`

// TeamFor is the team that something new belongs to: the one asked for, else the
// writer's default team.
func TeamFor(ctx context.Context, q storage.Querier, w account.Writer, asked *uuid.UUID) (Team, error) {
	var list []Team
	var err error
	if asked != nil {
		err = q.SelectContext(ctx, &list, teamByUUID, w.OrganizationID, *asked)
	} else {
		var first int64
		if len(w.Teams) > 0 {
			first = w.Teams[0]
		}
		err = q.SelectContext(ctx, &list, defaultTeam, w.OrganizationID, first)
	}
	switch {
	case err != nil:
		return Team{}, storage.Wrap(err, "team of what is new")
	case len(list) == 0 && asked != nil:
		return Team{}, storage.Invalid("teamId", "is no team of the organization")
	case len(list) == 0:
		return Team{}, storage.Invalid("teamId", "is required: there is no default team")
	case !w.May(list[0].ID):
		return Team{}, ErrForbidden
	}
	return list[0], nil
}
