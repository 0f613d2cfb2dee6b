package schedule

import "github.com/slipway-qa/slipway/storage/quota"

func organizationsOf(list []*claimedSchedule) []int64 {
	ids := make([]int64, len(list))
	for i, s := range list {
		ids[i] = s.OrganizationID
	}
	return ids
}

// startingRuns is how many runs of cases the suites that start have.
func (s *claimedSchedule) startingRuns() int64 {
	var n int64
	for _, suite := range s.starting {
		n += int64(suite.Runnable)
	}
	return n
}

// take counts what starts against the organization's day. Where that has no room the time is
// skipped with the reason: the schedule is as it was, and fires again tomorrow.
func (s *claimedSchedule) take(day *quota.Allowance) {
	if s.firing == nil || s.firing.Outcome != FiringStarted {
		return
	}
	if err := day.Take(s.OrganizationID, s.startingRuns()); err != nil {
		s.starting = nil
		s.firing = s.newFiring(s.firing.At, s.firing.Trigger, FiringSkipped, err.Error())
	}
}
