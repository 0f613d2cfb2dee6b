package stepgroup

import "github.com/slipway-qa/slipway/api/route"

// Types are the types behind the schemas of openapi.yaml.
func Types() route.Types {
	return route.Types{
		Schemas: map[string]any{
			"stepGroup":          groupView{},
			"stepGroup_detail":   groupDetail{},
			"stepGroup_users":    usersView{},
			"stepGroup_user":     userView{},
			"stepGroup_revision": revisionView{},
		},
		Requests: map[string]any{
			"stepGroup_create":    groupBody{},
			"stepGroup_update":    groupBody{},
			"stepGroup_parameter": parameterBody{},
		},
	}
}
