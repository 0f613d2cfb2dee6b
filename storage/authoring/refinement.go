package authoring

import (
	"context"
	"errors"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// ErrCaseChanged means that the case is in another state than the one that a new revision, or a
// change, was made from.
var ErrCaseChanged = errors.New("the test case was changed meanwhile")

// RefineCase stores a revision that was made from another one, as the latest.
// ErrCaseChanged when that one is not the latest any more: what others changed is not
// overwritten. base is "" for a case that had no revision.
func RefineCase(ctx context.Context, tx *storage.Tx, w account.Writer, id, base string, v Revision) (*Case, *Revision, error) {
	e, err := editCase(ctx, tx, w, id)
	if err != nil {
		return nil, nil, err
	}
	if e.latest.ID != base {
		return nil, nil, ErrCaseChanged
	}
	v.SetUp, v.TearDown = e.latest.SetUp, e.latest.TearDown
	v.DataID = e.latest.DataID
	if err := e.checkRows(ctx, tx, &v); err != nil {
		return nil, nil, err
	}
	if err := e.add(ctx, tx, v); err != nil {
		return nil, nil, err
	}
	c, err := e.save(ctx, tx, w, account.TestCaseUpdated)
	return c, e.latest, err
}
