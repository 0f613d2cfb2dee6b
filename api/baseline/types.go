package baseline

import (
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage/baseline"
)

// Types are the types behind the schemas of openapi.yaml.
func Types() route.Types {
	return route.Types{
		Schemas: map[string]any{
			"testBaseline":         baselineView{},
			"testFinding_accepted": findingView{},
			"testFindings_result":  acceptedView{},
		},
		Requests: map[string]any{"testFindings_accept": acceptBody{}},
		Words:    []any{baseline.States},
	}
}
