package schedule

import (
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage/schedule"
)

// Types are the types behind the schemas of openapi.yaml.
func Types() route.Types {
	return route.Types{
		Schemas: map[string]any{
			"authoring_schedule_settings": scheduleSettingsView{},
			"authoring_schedule_state":    scheduleStateView{},
			"authoring_schedule":          scheduleView{},
			"authoring_fire":              firingView{},
		},
		Requests: map[string]any{
			"authoring_schedule_settings_create": scheduleSettingsBody{},
			"authoring_schedule_create":          scheduleBody{},
			"authoring_schedule_settings_update": scheduleSettingsBody{},
			"authoring_schedule_update":          scheduleBody{},
		},
		Words: []any{[]schedule.State{schedule.Enabled, schedule.Disabled, schedule.Running, schedule.Errored}},
	}
}

// Vocabulary are the bodies and answers whose members have a meaning elsewhere.
func Vocabulary() request.Vocabulary {
	return request.Vocabulary{
		Bodies:  []any{scheduleBody{}, scheduleSettingsBody{}},
		Answers: map[string][]any{"/test-schedules": {scheduleView{}}},
	}
}
