package device

import (
	"github.com/slipway-qa/slipway/api/route"
)

// Types are the types behind the schemas of openapi.yaml.
func Types() route.Types {
	return route.Types{
		Schemas: map[string]any{
			"device": view{},
		},
		Bodies: map[string]any{
			"POST /api/v3/devices": request{},
		},
	}
}
