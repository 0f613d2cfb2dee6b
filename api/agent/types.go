package agent

import "github.com/slipway-qa/slipway/api/route"

// Types are the types behind the bodies of openapi.yaml.
func Types() route.Types {
	return route.Types{Bodies: map[string]any{"POST /api/v3/agent-calls": callRequest{}}}
}
