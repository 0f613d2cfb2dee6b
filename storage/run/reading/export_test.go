package reading

import (
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/run"
)

// HistoryStatements are those that histories are read with.
func HistoryStatements() map[string]string {
	all, _ := runPage("test_runs", "r", run.ShownColumns, run.Tables, "r.organization_id = $1", []any{1}, storage.Page{Limit: 20})
	ofState, _ := runPage("test_runs", "r", run.ShownColumns, run.Tables, "r.organization_id = $1 and r.state = $2", []any{1, 2},
		storage.Page{Limit: 20})
	return map[string]string{"of a build": newestOnBuild, "cases": casesHistory,
		"all": all, "of a state": ofState}
}
