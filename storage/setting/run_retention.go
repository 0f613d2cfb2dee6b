package setting

import (
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/change"
)

// RunRetention is how long the runs of tests are kept, unless their suite says so: nil days are
// those of the installation, nil runs are without a bound.
type RunRetention struct {
	RunDays *int `db:"run_retention_days" json:"run_retention_days"`
	// Runs is how many of the newest runs of each case and suite are kept.
	Runs *int `db:"run_retention_runs" json:"run_retention_runs"`
}

// RunRetentionChange changes the members that are not empty.
type RunRetentionChange struct {
	RunDays NumberChange `json:"run_retention_days"`
	Runs    NumberChange `json:"run_retention_runs"`
}

// over returns the retention after the change.
func (c RunRetentionChange) over(old RunRetention) (r RunRetention, err error) {
	if r.RunDays, err = c.RunDays.over("run_retention_days", authoring.MaxRunDays, old.RunDays); err != nil {
		return r, err
	}
	if r.Runs, err = c.Runs.over("run_retention_runs", authoring.MaxRunsKept, old.Runs); err != nil {
		return r, err
	}
	return r, authoring.CheckRunRetention(authoring.RunRetention{Days: r.RunDays, Runs: r.Runs}, "run_retention_days", "run_retention_runs")
}

func (r RunRetention) note(c *change.Diff, from RunRetention) {
	c.Note("run_retention_days", from.RunDays, r.RunDays)
	c.Note("run_retention_runs", from.Runs, r.Runs)
}
