package authoring

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/seal"
	"github.com/slipway-qa/slipway/storage/step"
)

// Value is what a reference stands for.
type Value struct {
	Text   string
	Secret bool
}

// maxReferences bounds the variables of one test. Those beyond have no value.
const maxReferences = 1000

// place is where a variable is: a scope with the id of its suite or case, and a name.
type place struct{ scope, id, name string }

// variableValues counts suites and cases only when they belong to the team of the case:
// whoever may write a step can make a page show the value of a variable, so a secret must not
// be within reach of other teams.
const variableValues = `
select v.scope, coalesce(v.suite_id::text, v.case_id, '') as id, v.name, v.is_secret, coalesce(v.value, '') as value, v.sealed
from test_variables v
left join test_suites s on s.id = v.suite_id
left join test_cases k on k.id = v.case_id
where v.organization_id = $1 and v.name = any($2) and (
	v.scope = 'org'
	or v.scope = 'team' and v.team_id = $3
	or v.scope = 'testSuite' and v.suite_id = any($4::uuid[]) and s.team_id = $3
	or v.scope = 'testCase' and v.case_id = any($5) and k.team_id = $3)`

type valueRow struct {
	Scope    string `db:"scope"`
	ID       string `db:"id"`
	Name     string `db:"name"`
	IsSecret bool   `db:"is_secret"`
	Value    string `db:"value"`
	Sealed   []byte `db:"sealed"`
}

// VariableScope is what the variables of a test belong to: its case, the suite that the case
// is in, if any, their team and organization.
type VariableScope struct {
	OrganizationID int64
	TeamID         int64
	SuiteID        *uuid.UUID
	CaseID         string
}

// Values returns the values of references as they stand for a case: a bare name is
// looked for at the case, its suite, its team and its organization, and
// {{team:name}} is that of the case's team. A suite or case that a reference names
// by its id must belong to the case's team too, otherwise one team could use the
// secrets of another; the same goes for the suite that the case is in. References
// without a value are not in the map.
func Values(ctx context.Context, q storage.Querier, keys seal.Ring, of VariableScope,
	references []step.Reference) (map[step.Reference]Value, error) {
	values := map[step.Reference]Value{}
	references = references[:min(len(references), maxReferences)]
	names, suites, cases := []string{}, []string{}, []string{}
	for _, r := range references {
		if !variableName.MatchString(r.Name) {
			continue
		}
		names = append(names, r.Name)
		for _, p := range places(of, r) {
			switch p.scope {
			case step.ScopeSuite:
				suites = append(suites, p.id)
			case step.ScopeCase:
				cases = append(cases, p.id)
			}
		}
	}
	if len(names) == 0 {
		return values, nil
	}
	var rows []valueRow
	err := q.SelectContext(ctx, &rows, variableValues, of.OrganizationID, pq.Array(names), of.TeamID, pq.Array(suites), pq.Array(cases))
	if err != nil {
		return nil, storage.Wrap(err, "values of variables")
	}
	found := make(map[place]*valueRow, len(rows))
	for i := range rows {
		found[place{rows[i].Scope, rows[i].ID, rows[i].Name}] = &rows[i]
	}
	for _, r := range references {
		for _, p := range places(of, r) {
			row := found[p]
			if row == nil {
				continue
			}
			if values[r], err = row.open(keys); err != nil {
				return nil, err
			}
			break
		}
	}
	return values, nil
}

// places are where a reference is looked for, the nearest first.
func places(of VariableScope, r step.Reference) []place {
	switch r.Scope {
	case "":
		list := []place{{step.ScopeCase, of.CaseID, r.Name}}
		if of.SuiteID != nil {
			list = append(list, place{step.ScopeSuite, of.SuiteID.String(), r.Name})
		}
		return append(list, place{step.ScopeTeam, "", r.Name}, place{step.ScopeOrg, "", r.Name})
	case step.ScopeOrg, step.ScopeTeam:
		return []place{{r.Scope, "", r.Name}}
	case step.ScopeSuite:
		if id, err := uuid.Parse(r.ID); err == nil {
			return []place{{r.Scope, id.String(), r.Name}}
		}
	case step.ScopeCase:
		if id := strings.ToLower(r.ID); isID(id) {
			return []place{{r.Scope, id, r.Name}}
		}
	}
	return nil
}

func (r *valueRow) open(keys seal.Ring) (Value, error) {
	if !r.IsSecret {
		return Value{Text: r.Value}, nil
	}
	text, err := seal.Unseal(keys, seal.Variable, r.Sealed)
	if err != nil {
		return Value{}, fmt.Errorf("variable %s: %w", r.Name, err)
	}
	return Value{Text: text, Secret: true}, nil
}
