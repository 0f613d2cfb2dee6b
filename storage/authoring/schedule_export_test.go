package authoring

// SchedulePage gives the statement of a list of schedules and its arguments.
func SchedulePage(f ScheduleFilter) (string, []any) {
	return f.matching().page("test_schedules", scheduleColumns, ownerTables, f.Page)
}
