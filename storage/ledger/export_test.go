package ledger

import "context"

// LastSucceededQuery lets a test ask for the plan.
const LastSucceededQuery = lastSucceeded

// CountEndedBy counts at most so many tasks, but for those that ended at one instant.
func (s *Store) CountEndedBy(ctx context.Context, step int) (more bool, err error) {
	return s.countEnded(ctx, step)
}

// Statements of the sums let a test ask for their plans.
const (
	HoursEndQuery   = hoursEnd
	CountHoursQuery = countHours
	PastQuery       = past
)
