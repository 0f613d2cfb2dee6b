package authoring

import (
	"github.com/slipway-qa/slipway/api/authoring/diagnosis"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage/failure"
	"github.com/slipway-qa/slipway/storage/generation"
	"github.com/slipway-qa/slipway/storage/login"
	"github.com/slipway-qa/slipway/storage/run"
	"github.com/slipway-qa/slipway/storage/schedule"
	"github.com/slipway-qa/slipway/storage/step"
)

// Types are the types behind the schemas of openapi.yaml.
func Types() route.Types {
	return route.Types{
		Schemas: map[string]any{
			"authoring_target":              targetView{},
			"authoring_run_settings":        settingsView{},
			"authoring_step":                stepView{},
			"authoring_revision":            revisionView{},
			"authoring_code_target":         targetItem{},
			"authoring_code":                codeView{},
			"testGeneration":                generationView{},
			"testHistory_run":               pastView{},
			"testRun_pinned":                pinView{},
			"testHistory_of":                pastOf{},
			"testMatrix":                    matrixView{},
			"testComparison":                comparedView{},
			"testGeneration_listed":         listedGeneration{},
			"testRun":                       runView{},
			"testRun_job":                   jobView{},
			"testRun_attempt":               attemptView{},
			"testRun_quarantine":            runQuarantine{},
			"authoring_quarantine":          quarantineView{},
			"authoring_quarantine_proposed": proposalView{},
			"testRun_error":                 failureView{},
			"testRun_step":                  recordView{},
			"testHealing":                   healingView{},
			"testRun_file":                  fileView{},
			"testSuiteRun":                  suiteRunView{},
			"testSuiteRun_counts":           countsView{},
			"testSuiteRun_shard":            shardView{},
			"authoring_suite_filter":        filterView{},
			"authoring_schedule_settings":   scheduleSettingsView{},
			"authoring_schedule_state":      scheduleStateView{},
			"authoring_schedule":            scheduleView{},
			"authoring_fire":                firingView{},
			"testVariable":                  variableView{},
			"tunnel":                        tunnelView{},
			"testRun_healed":                step.Healed{},
			"testRun_drifted":               step.Drifted{},
			"authoring_data":                dataView{},
			"authoring_data_page":           dataPage{},
			"testRun_row":                   rowView{},
			"testRun_findings":              step.Findings{},
			"testRun_failure":               step.Failure{},
			"testRun_candidate":             step.Candidate{},
			"testRun_comparison":            diagnosis.Comparison{},
			"testRun_changedPage":           failure.Page{},
			"testRun_failingRequest":        failure.Request{},
			"testRun_slower":                failure.Slower{},
			"testSuiteRun_failureGroup":     diagnosis.Group{},
			"testSuiteRun_failureCase":      diagnosis.Case{},
			"testRun_finding":               step.Finding{},
			"testRun_look":                  step.Look{},
			"testRun_group":                 step.InGroup{},
		},
		Requests: map[string]any{
			"authoring_suite_create":             suiteBody{},
			"testVariable_update":                variableBody{},
			"authoring_selector":                 step.Selector{},
			"authoring_fingerprint":              step.Fingerprint{},
			"authoring_surroundings":             step.Surroundings{},
			"authoring_condition":                step.Condition{},
			"authoring_login":                    login.Login{},
			"authoring_basic_auth":               step.BasicAuth{},
			"authoring_client_certificate":       step.ClientCertificate{},
			"authoring_tool":                     step.Tool{},
			"testRun_described":                  step.Described{},
			"authoring_run_settings_body":        settingsBody{},
			"authoring_import":                   importBody{},
			"authoring_case_update":              caseBody{},
			"testGeneration_start":               generateBody{},
			"testGeneration_refine":              refineBody{},
			"testRun_start":                      runBody{},
			"testRun_rerun":                      rerunBody{},
			"authoring_quarantine_start":         quarantineBody{},
			"testSuiteRun_start":                 suiteRunBody{},
			"authoring_schedule_settings_create": scheduleSettingsBody{},
			"authoring_schedule_create":          scheduleBody{},
			"authoring_suite_update":             suiteBody{},
			"authoring_step_body":                givenStep{},
			"testVariable_create":                variableBody{},
			"authoring_schedule_settings_update": scheduleSettingsBody{},
			"authoring_schedule_update":          scheduleBody{},
		},
		Words: []any{[]generation.State{generation.Queued, generation.InProgress, generation.Completed, generation.Failed},
			run.Statuses(), jobStatuses(), failure.Reasons(),
			[]schedule.State{schedule.Enabled, schedule.Disabled, schedule.Running, schedule.Errored}},
	}
}
