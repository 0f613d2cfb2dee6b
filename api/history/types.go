package history

import "github.com/slipway-qa/slipway/api/route"

// Types are the types behind the schemas of openapi.yaml.
func Types() route.Types {
	return route.Types{Schemas: map[string]any{
		"testHistory":           historyView{},
		"testHistory_summary":   summaryView{},
		"testHistory_item":      runView{},
		"testHistory_window":    windowView{},
		"testHistory_flakiness": flakinessView{},
		"testHistory_cases":     casesView{},
		"testHistory_case":      caseView{},
		"testHistory_counts":    countsView{},
		"testRun_pin":           pinnedView{},
	}}
}
