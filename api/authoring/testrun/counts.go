package testrun

import "github.com/slipway-qa/slipway/storage/run"

// countsView counts case runs, or jobs, by their status.
type countsView struct {
	Total     int `json:"total"`
	Queued    int `json:"queued"`
	Running   int `json:"running"`
	Passed    int `json:"passed"`
	Failed    int `json:"failed"`
	Error     int `json:"error"`
	Cancelled int `json:"cancelled"`
	// Quarantined have failed and are in no other count; flaky ones have passed and count so too.
	Quarantined int `json:"quarantined"`
	Flaky       int `json:"flaky"`
}

func viewCounts(n map[run.Status]int) countsView {
	view := countsView{Queued: n[run.Queued], Running: n[run.Running], Passed: n[run.Passed],
		Failed: n[run.Failed], Error: n[run.Errored], Cancelled: n[run.Cancelled]}
	for _, count := range n {
		view.Total += count
	}
	return view
}
