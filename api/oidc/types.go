package oidc

import (
	"github.com/slipway-qa/slipway/api/route"
)

// Types are the types behind the schemas of openapi.yaml.
func Types() route.Types {
	return route.Types{
		Schemas: map[string]any{
			"oidc_configuration": view{},
		},
		Bodies: map[string]any{
			"POST /api/v3/settings/oidc":      request{},
			"POST /api/v3/settings/oidc/test": testRequest{},
		},
	}
}
