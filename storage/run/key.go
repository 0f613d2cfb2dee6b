package run

import (
	"context"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/idempotency"
)

// RunOperation names what an Idempotency-Key makes unique for runs of a case: a key counts for
// one case.
func RunOperation(caseID string) string { return "testcase.run:" + caseID }

// SuiteRunOperation does likewise for runs of a suite.
func SuiteRunOperation(suiteID uuid.UUID) string { return "testsuite.run:" + suiteID.String() }

// claimKey is the first write of a transaction that starts a run;
// idempotency.ErrSeen when another request has the key.
func claimKey(ctx context.Context, tx *storage.Tx, organizationID int64, operation, key string, result uuid.UUID) error {
	if key == "" {
		return nil
	}
	return idempotency.Claim(ctx, tx, idempotency.Key{OrganizationID: organizationID, Operation: operation, Text: key}, result.String())
}

// SeenKey returns the id of the run that a request with the key started within the
// last 24 hours; storage.ErrNotFound when there is none. The operation is
// RunOperation or SuiteRunOperation.
func SeenKey(ctx context.Context, q storage.Querier, organizationID int64, operation, key string) (uuid.UUID, error) {
	return idempotency.RecentID(ctx, q, idempotency.Key{OrganizationID: organizationID, Operation: operation, Text: key})
}
