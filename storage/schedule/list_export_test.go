package schedule

import "github.com/slipway-qa/slipway/storage/authoring"

// SchedulePage gives the statement of a list of schedules and its arguments.
func SchedulePage(f Filter) (string, []any) {
	return f.conditions().Page("test_schedules", scheduleColumns, authoring.OwnerTables, f.Page)
}
