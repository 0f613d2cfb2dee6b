package capability

import "github.com/slipway-qa/slipway/storage/step"

// MaxRetries is how often a test that failed is played again at most: what needs more is not
// a test that tells anything.
const MaxRetries = 3

// CheckRetries refuses a number of retries that is none; nil leaves it to the next wider. The
// error is a *step.InvalidError with the path.
func CheckRetries(path string, n *int) error {
	if n != nil && (*n < 0 || *n > MaxRetries) {
		return step.Invalid(path, "must be 0 to %d, or null", MaxRetries)
	}
	return nil
}
