package crash

import "time"

// minDrift is how far a client's clock must be off before its times are corrected: what is
// less may be the time that the report was on its way.
const minDrift = 5 * time.Minute

// ClockDrift is how far the clock of a client is behind that of the server, by when it sent
// the report (seconds since 1970 by its clock; 0: it did not say) and when that arrived. 0:
// it is right, or nothing is known.
func ClockDrift(sent int64, received time.Time) time.Duration {
	if sent <= 0 {
		return 0
	}
	drift := received.Truncate(time.Second).Sub(time.Unix(sent, 0))
	if drift.Abs() < minDrift {
		return 0
	}
	return drift
}
