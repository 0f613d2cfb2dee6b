package task

import (
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage/ledger"
)

// Types are the types behind the schemas of openapi.yaml.
func Types() route.Types {
	return route.Types{
		Schemas: map[string]any{
			"task":        view{},
			"taskSubject": subject{},
			"taskFailure": failure{},
			"taskState":   ledger.State(""),
		},
		Words: []any{ledger.States()},
	}
}
