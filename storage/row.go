package storage

import (
	"database/sql"

	"github.com/google/uuid"
	"github.com/lib/pq"
)

// MaxPage is the most rows of one read, so that no caller reads a table whole.
const MaxPage = 1000

// Page bounds a list: rows Offset to Offset+Limit. Without a limit no row is read,
// only the number of all where a list returns it.
type Page struct{ Limit, Offset int }

// FirstPage is the first page of the greatest size.
func FirstPage() Page { return Page{Limit: MaxPage} }

// RowLimit is the limit as statements take it: from 0 to MaxPage.
func (p Page) RowLimit() int { return min(max(0, p.Limit), MaxPage) }

// RowOffset is the offset as statements take it: not below zero.
func (p Page) RowOffset() int { return max(0, p.Offset) }

// Affected returns the number of rows that a statement changed.
func Affected(result sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, Wrap(err, "change rows")
	}
	n, err := result.RowsAffected()
	return n, Wrap(err, "count changed rows")
}

// UUIDs is an argument for a parameter of type uuid[]. It goes out as texts, which
// the statement casts: the driver's arrays have no binary form of uuid.
func UUIDs(list []uuid.UUID) any {
	texts := make([]string, len(list))
	for i, id := range list {
		texts[i] = id.String()
	}
	return pq.Array(texts)
}

// NewID returns an id of version 7, whose order is time. It panics when the
// machine has no randomness: nothing can go on then.
func NewID() uuid.UUID { return uuid.Must(uuid.NewV7()) }
