package schedule

// BesideTheClock moves a time off the whole second.
var BesideTheClock = besideTheClock

// Statements whose plans tests look at.
const (
	NextDueStatement = nextDue
	ClaimStatement   = claimDue
	OrphansStatement = forgetOrphanFires
)
