package testrun

import (
	"github.com/slipway-qa/slipway/api/authoring/datarow"
	"github.com/slipway-qa/slipway/api/authoring/diagnosis"
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage/failure"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
)

// Types are the types behind the schemas of openapi.yaml.
func Types() route.Types {
	return route.Types{
		Schemas: map[string]any{
			"testHistory_run":           PastView{},
			"testRun_pinned":            PinView{},
			"testHistory_of":            pastOf{},
			"testMatrix":                matrixView{},
			"testComparison":            comparedView{},
			"testRun":                   runView{},
			"testRun_job":               jobView{},
			"testRun_attempt":           attemptView{},
			"testRun_quarantine":        runQuarantine{},
			"testRun_error":             failureView{},
			"testRun_step":              recordView{},
			"testRun_file":              fileView{},
			"testSuiteRun":              SuiteRunView{},
			"testSuiteRun_counts":       countsView{},
			"testSuiteRun_shard":        shardView{},
			"testRun_healed":            playback.Healed{},
			"testRun_drifted":           playback.Drifted{},
			"testRun_row":               datarow.View{},
			"testRun_findings":          step.Findings{},
			"testRun_failure":           playback.Failure{},
			"testRun_candidate":         playback.Candidate{},
			"testRun_comparison":        diagnosis.Comparison{},
			"testRun_changedPage":       failure.Page{},
			"testRun_failingRequest":    failure.Request{},
			"testRun_slower":            failure.Slower{},
			"testSuiteRun_failureGroup": diagnosis.Group{},
			"testSuiteRun_failureCase":  diagnosis.Case{},
			"testRun_finding":           step.Finding{},
			"testRun_look":              step.Look{},
			"testRun_group":             step.InGroup{},
		},
		Requests: map[string]any{
			"testRun_described":  playback.Described{},
			"testRun_start":      runBody{},
			"testRun_rerun":      rerunBody{},
			"testSuiteRun_start": suiteRunBody{},
		},
		Words: []any{run.Statuses(), jobStatuses(), failure.Reasons()},
	}
}

// Vocabulary are the bodies and answers whose members have a meaning elsewhere.
func Vocabulary() request.Vocabulary {
	return request.Vocabulary{Bodies: []any{runBody{}, rerunBody{}, suiteRunBody{}, shardBody{}}}
}
