package commitstatus

import (
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage/commitstatus"
)

// Types are the types behind the schemas of openapi.yaml.
func Types() route.Types {
	return route.Types{
		Schemas: map[string]any{
			"commit_status":      view{},
			"commit_status_test": testView{},
		},
		Bodies: map[string]any{
			"PUT /api/v3/projects/{id}/commit-status": request{},
		},
		Words: []any{commitstatus.Providers()},
	}
}
