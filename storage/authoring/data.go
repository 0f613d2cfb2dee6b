package authoring

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/rows"
	"github.com/slipway-qa/slipway/storage/step"
)

// DataChange are the data rows that a case is to have.
type DataChange struct{ Rows *rows.Sealed } // nil: none

func sameID(a, b *uuid.UUID) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// addData stores the data of a new case, and refuses steps that name other columns. A copy
// of a case has the data of its revision.
func (n *NewCase) addData(ctx context.Context, tx *storage.Tx, organizationID int64, id string) error {
	var columns []string
	var err error
	switch of := n.Revision.DataID; {
	case n.Data != nil:
		columns = n.Data.Columns
		n.Revision.DataID, err = insertData(ctx, tx, organizationID, id, n.Data)
	case of != nil:
		if columns, err = columnsOf(ctx, tx, of); err != nil || columns == nil {
			n.Revision.DataID = nil
			break
		}
		var made uuid.UUID
		made, err = rows.Copy(ctx, tx, *of, organizationID, id)
		n.Revision.DataID = &made
	}
	if err != nil {
		return err
	}
	return checkColumns(&n.Revision, n.Settings.TestURL, columns)
}

func insertData(ctx context.Context, tx *storage.Tx, organizationID int64, caseID string, s *rows.Sealed) (*uuid.UUID, error) {
	id, err := rows.Insert(ctx, tx, organizationID, caseID, s)
	if err != nil {
		return nil, err
	}
	return &id, nil
}

// columnsOf returns the columns of data; nil where there are none.
func columnsOf(ctx context.Context, q storage.Querier, id *uuid.UUID) ([]string, error) {
	if id == nil {
		return nil, nil
	}
	h, err := rows.HeaderOf(ctx, q, *id)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	return h.Columns, err
}

// changeData stores the data that a case is to have and sets those of its next revision. It
// returns their columns.
func (e *editedCase) changeData(ctx context.Context, tx *storage.Tx, c *DataChange, next *Revision) (columns []string, err error) {
	switch {
	case c == nil:
		return columnsOf(ctx, tx, next.DataID)
	case c.Rows == nil:
		next.DataID = nil
		return nil, nil
	}
	next.DataID, err = insertData(ctx, tx, e.OrganizationID, e.ID, c.Rows)
	return c.Rows.Columns, err
}

// checkRows refuses a revision whose steps name columns that its data do not have.
func (e *editedCase) checkRows(ctx context.Context, tx *storage.Tx, v *Revision) error {
	columns, err := columnsOf(ctx, tx, v.DataID)
	if err != nil {
		return err
	}
	return checkColumns(v, e.Settings.TestURL, columns)
}

// checkColumns refuses steps, those before and after them, and an address that name columns
// which there are not. Steps of step groups, and those around the cases of a suite, are not looked
// at: they belong to cases with data and without. There a column that a case lacks ends the job,
// before it has a browser, as a variable that there is none of.
func checkColumns(v *Revision, address string, columns []string) error {
	for _, part := range v.parts() {
		err := step.CheckRows(part.Path, part.Steps, address, columns)
		var wrong *step.InvalidError
		if errors.As(err, &wrong) {
			return storage.Invalid(wrong.Path, "%s", wrong.Msg)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
