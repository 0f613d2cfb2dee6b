package authoring

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/login"
	"github.com/slipway-qa/slipway/storage/step"
)

// LoginChange is the login that a suite is to have.
type LoginChange struct{ To *login.Login } // nil: none

// changeLogin sets the login of a suite, which is new or locked, and reports whether that
// changes anything. The case must be one of the suite's team: what it signs in as is given to
// all tests of the suite.
func changeLogin(ctx context.Context, tx *storage.Tx, organizationID, team int64, id uuid.UUID, c *LoginChange) (changed bool, err error) {
	if c == nil {
		return false, nil
	}
	if c.To != nil {
		if err := c.To.Check("login"); err != nil {
			return false, err
		}
		// The lock keeps the case from being deleted until the suite has it.
		var has []bool
		err := tx.SelectContext(ctx, &has, `select true from test_cases where id = $1 and organization_id = $2 and team_id = $3 for key share`,
			storage.WithoutNUL(c.To.TestCaseID), organizationID, team)
		if err != nil {
			return false, storage.Wrap(err, "login of a test suite")
		}
		if len(has) == 0 {
			return false, storage.Invalid("login.testCaseId", "names no test case of the suite's team")
		}
	}
	before, err := loginOf(ctx, tx, id)
	if err != nil {
		return false, err
	}
	if step.SameJSON(before, c.To) {
		return false, nil
	}
	doc, err := login.Document(c.To)
	if err != nil {
		return false, err
	}
	_, err = tx.ExecContext(ctx, `update test_suites set login = $2 where id = $1`, id, doc)
	return true, storage.Wrap(err, "write the login of a test suite")
}

func loginOf(ctx context.Context, q storage.Querier, id uuid.UUID) (*login.Login, error) {
	var doc []byte
	if err := q.GetContext(ctx, &doc, `select login from test_suites where id = $1`, id); err != nil {
		return nil, storage.Wrap(err, "login of test suite "+id.String())
	}
	l, err := login.Read(doc)
	if err != nil {
		return nil, fmt.Errorf("test suite %s: %w", id, err)
	}
	return l, nil
}

// withLogin adds a login to the detail of an audit entry.
func withLogin(detail map[string]any, l *login.Login) map[string]any {
	detail["login"] = nil
	if l != nil {
		detail["login"] = l.TestCaseID
	}
	return detail
}

// createdDetail is the detail of the audit entry of a new suite.
func createdDetail(name string, cases int, l *login.Login) map[string]any {
	detail := map[string]any{"name": name, "cases": cases}
	if l != nil {
		detail = withLogin(detail, l)
	}
	return detail
}
