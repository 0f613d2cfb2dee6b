package distribution

import (
	"database/sql"

	"github.com/slipway-qa/slipway/storage"
)

// affected is the number of rows that a statement changed.
func affected(result sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, storage.Wrap(err, "change rows")
	}
	n, err := result.RowsAffected()
	return n, storage.Wrap(err, "count changed rows")
}
