package run

import (
	"context"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/authoring"
)

// DeleteCaseWithRuns deletes a case with its revisions and variables, and cancels its
// open runs first. It returns the jobs whose ledger tasks the caller cancels in the
// same transaction.
func DeleteCaseWithRuns(ctx context.Context, tx *storage.Tx, w account.Writer, id string) ([]uuid.UUID, error) {
	if _, err := authoring.LockCase(ctx, tx, w, id, "update"); err != nil {
		return nil, err
	}
	open, err := CancelOfCases(ctx, tx, []string{id})
	if err != nil {
		return nil, err
	}
	return open, authoring.DeleteCase(ctx, tx, w, id)
}

// DeleteSuiteWithRuns deletes a suite, with its cases if they are to go too;
// otherwise they are in no suite afterwards. Open runs of what goes are cancelled
// first: the jobs and suite runs whose ledger tasks the caller cancels in the same
// transaction are returned.
func DeleteSuiteWithRuns(ctx context.Context, tx *storage.Tx, w account.Writer, id uuid.UUID, cases bool) ([]uuid.UUID, error) {
	suite, err := authoring.LockSuite(ctx, tx, w, id, cases)
	if err != nil {
		return nil, err
	}
	open, err := CancelOfSuite(ctx, tx, id)
	if err != nil {
		return nil, err
	}
	if cases {
		more, err := CancelOfCases(ctx, tx, suite.Cases)
		if err != nil {
			return nil, err
		}
		open = append(open, more...)
	}
	return open, authoring.DeleteSuite(ctx, tx, w, suite)
}
