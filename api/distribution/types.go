package distribution

import (
	"github.com/slipway-qa/slipway/api/route"
)

// Types are the types behind the schemas of openapi.yaml.
func Types() route.Types {
	return route.Types{
		Schemas: map[string]any{
			"distribution_project":      ProjectView{},
			"distribution_build":        BuildView{},
			"distribution_announcement": announcementView{},
			"distribution_comparison":   comparisonView{},
			"distribution_link":         linkView{},
			"build_commits":             commitsView{},
			"build_commit":              commitView{},
			"distribution_project2":     project2{},
			"distribution_build2":       build2{},
			"distribution_project1":     project1{},
		},
		Requests: map[string]any{
			"distribution_project_body": projectBody{},
			"distribution_build_body":   buildBody{},
		},
		Bodies: map[string]any{
			"PUT /api/v3/builds/{id}/commits":               commitsBody{},
			"PATCH /api/1/projects/{id}/builds/{build}":     patchBody{},
			"POST /api/1/projects/{id}/builds/{build}/copy": copyBody{},
		},
	}
}
