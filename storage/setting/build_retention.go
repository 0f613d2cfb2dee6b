package setting

import (
	"github.com/slipway-qa/slipway/storage/change"
)

// Retention is how long builds are kept: of an organization nil and 0 are without a
// bound; of an app nil is as the organization says.
type Retention struct {
	// RetentionBuilds is how many of the newest builds of an app and channel are kept.
	RetentionBuilds *int `db:"retention_builds" json:"retention_builds"`
	// RetentionDays is after how many days builds go.
	RetentionDays *int `db:"retention_days" json:"retention_days"`
}

// RetentionChange changes the members that are not empty.
type RetentionChange struct {
	RetentionBuilds NumberChange `json:"retention_builds"`
	RetentionDays   NumberChange `json:"retention_days"`
}

// Any reports whether something is to change.
func (c RetentionChange) Any() bool { return c.RetentionBuilds != "" || c.RetentionDays != "" }

// maxKept bounds the number of builds that are kept.
const maxKept = 1_000_000

// Over returns the retention after the change.
func (c RetentionChange) Over(old Retention) (r Retention, err error) {
	if r.RetentionBuilds, err = c.RetentionBuilds.over("retention_builds", maxKept, old.RetentionBuilds); err != nil {
		return r, err
	}
	r.RetentionDays, err = c.RetentionDays.over("retention_days", maxDays, old.RetentionDays)
	return r, err
}

// Note keeps for the audit log what differs.
func (r Retention) Note(c *change.Diff, from Retention) {
	c.Note("retention_builds", from.RetentionBuilds, r.RetentionBuilds)
	c.Note("retention_days", from.RetentionDays, r.RetentionDays)
}
