package authoring

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
)

// InUseError means that something cannot be deleted because suites need it.
type InUseError struct {
	What   string       // what it is to the suites: login, default environment
	Suites []NeededName // the first of them by name
	Count  int          // of all
}

// NeededName is a suite that needs what is to be deleted.
type NeededName struct {
	ID    uuid.UUID `db:"id"`
	Name  string    `db:"name"`
	Count int       `db:"count"` // of all such suites
}

func (e *InUseError) Error() string {
	var names []string
	for _, s := range e.Suites {
		names = append(names, fmt.Sprintf("%q (%s)", s.Name, s.ID))
	}
	text := "it is the " + e.What + " of " + strings.Join(names, ", ")
	if more := e.Count - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// maxNeeded is how many suites a refusal names.
const maxNeeded = 10

const suitesThatNeed = `
select id, name, count(*) over () as count from test_suites
where organization_id = $1 and id is distinct from $3 and `

// needed returns an *InUseError when suites need the values, those of the organization but one
// that goes with them.
func needed(ctx context.Context, q storage.Querier, what, condition string, organizationID int64, values any, going *uuid.UUID) error {
	var suites []NeededName
	query := suitesThatNeed + condition + fmt.Sprintf(` order by name, id limit %d`, maxNeeded)
	if err := q.SelectContext(ctx, &suites, query, organizationID, values, going); err != nil {
		return storage.Wrap(err, "suites whose "+what+" is to be deleted")
	}
	if len(suites) == 0 {
		return nil
	}
	return &InUseError{What: what, Suites: suites, Count: suites[0].Count}
}

// checkNoLogin refuses to delete cases that are logins of suites. The caller has locked them,
// so that none becomes one meanwhile.
func checkNoLogin(ctx context.Context, q storage.Querier, organizationID int64, cases []string, going *uuid.UUID) error {
	return needed(ctx, q, "login", `login ->> 'testCaseId' = any($2)`, organizationID, pq.Array(cases), going)
}

// CheckNoDefault refuses to delete an environment that suites have as their default:
// *InUseError. The caller has locked it for update, so that it does not become one meanwhile.
func CheckNoDefault(ctx context.Context, q storage.Querier, organizationID int64, name string) error {
	return needed(ctx, q, "default environment", `default_environment = $2`, organizationID, name, nil)
}
