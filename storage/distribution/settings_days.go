package distribution

import (
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage"
)

// DaysChange is a number of days, or null for what the installation says; the zero value
// changes nothing. A form says null in this word.
type DaysChange string

// maxDays is a hundred years, which the database's times bear in both directions.
const maxDays = 36500

// UnmarshalJSON reads a number or null.
func (d *DaysChange) UnmarshalJSON(text []byte) error {
	*d = DaysChange(strings.Trim(string(text), `"`))
	if *d == "" {
		*d = isNull
	}
	return nil
}

// over returns the number after the change.
func (d DaysChange) over(old *int) (*int, error) {
	switch d {
	case "":
		return old, nil
	case isNull:
		return nil, nil
	}
	n, err := strconv.Atoi(string(d))
	if err != nil || n < 0 || n > maxDays {
		return nil, storage.Invalid("audit_retention_days", "must be a whole number from 0 (for ever) to %d, or null", maxDays)
	}
	return &n, nil
}
