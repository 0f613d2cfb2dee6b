package schedule

// Statements whose plans tests read.
const (
	NextDueStatement = nextDue
	ClaimStatement   = claimDue
	OrphansStatement = forgetOrphanFirings
)
