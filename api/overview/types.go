package overview

import (
	"github.com/slipway-qa/slipway/api/route"
)

// Types are the types behind the schemas of openapi.yaml.
func Types() route.Types {
	return route.Types{
		Schemas: map[string]any{
			"overview_count":         countView{},
			"overview_crash_project": projectView{},
			"overview_crashes":       crashesView{},
			"overview_groups":        groupsView{},
			"overview_builds":        buildsView{},
			"overview_suite_runs":    suiteRunsView{},
			"overview_schedules":     schedulesView{},
			"overview_tasks":         tasksView{},
			"overview_webhooks":      webhooksView{},
		},
	}
}
