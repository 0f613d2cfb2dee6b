package tests

import "time"

// suiteFilter is which tests a suite runs in place of its own.
type suiteFilter struct {
	Tags     []string `json:"tags"`
	NotTags  []string `json:"notTags"`
	AllTeams bool     `json:"allTeams"`
}

// Bound is the most time of a run of the suite; "" without one.
func (s *suite) Bound() string { return bound(s.MaxDuration) }

func bound(seconds *int) string {
	if seconds == nil {
		return ""
	}
	return (time.Duration(*seconds) * time.Second).String()
}

// Bound is the most time of the run; "" without one.
func (r *suiteRun) Bound() string { return bound(r.MaxDuration) }
