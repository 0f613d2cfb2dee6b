package symbol

import (
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbolfile"
)

// Types are the types behind the schemas of openapi.yaml.
func Types() route.Types {
	return route.Types{
		Schemas: map[string]any{
			"symbol_failure":    failure{},
			"symbol_file":       fileView{},
			"symbol":            view{},
			"missing_symbol":    needView{},
			"symbol_identifier": symbol.Identifier{},
			"known_symbols":     knownResponse{},
		},
		Bodies: map[string]any{"POST /api/v3/symbols/known": knownRequest{}},
		Words:  []any{[]symbolfile.State{symbolfile.Pending, symbolfile.Indexed, symbolfile.Failed}},
	}
}
