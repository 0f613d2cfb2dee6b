package setting

import (
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage"
)

// NumberChange is a whole number, or null for what stands above it says; the zero value
// changes nothing. A form says null in this word.
type NumberChange string

// maxDays is a hundred years, which the database's times bear in both directions.
const maxDays = 36500

// UnmarshalJSON reads a number or null.
func (n *NumberChange) UnmarshalJSON(text []byte) error {
	*n = NumberChange(strings.Trim(string(text), `"`))
	if *n == "" {
		*n = isNull
	}
	return nil
}

// over returns the number of the field, from 0 to highest, after the change.
func (n NumberChange) over(field string, highest int, old *int) (*int, error) {
	switch n {
	case "":
		return old, nil
	case isNull:
		return nil, nil
	}
	number, err := strconv.Atoi(string(n))
	if err != nil || number < 0 || number > highest {
		return nil, storage.Invalid(field, "must be a whole number from 0 to %d, or null", highest)
	}
	return &number, nil
}
