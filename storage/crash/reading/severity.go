package reading

import (
	"slices"

	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/crash/condition"
)

// severities limits a list to some. The partial indexes crash_groups_severity and
// crashes_severity, of all that are no crashes, serve lists without crashes.
func severities(c *condition.List, column string, list []crash.Severity) {
	if len(list) == 0 {
		return
	}
	ranks := make([]int64, len(list))
	for i, s := range list {
		ranks[i] = s.Rank()
	}
	c.Add(column + " = any(" + c.Arg(pq.Array(ranks)) + ")")
	if !slices.ContainsFunc(list, crash.Severity.IsCrash) {
		c.Add(column + " < 4")
	}
}
