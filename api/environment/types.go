package environment

import "github.com/slipway-qa/slipway/api/route"

// Types are the types behind the schemas of openapi.yaml.
func Types() route.Types {
	return route.Types{
		Schemas: map[string]any{
			"testEnvironment": view{},
		},
		Requests: map[string]any{
			"testEnvironment_create": request{},
			"testEnvironment_update": request{},
		},
	}
}
