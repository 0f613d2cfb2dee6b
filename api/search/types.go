package search

import (
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage/search"
)

// Types are the types behind the schemas of openapi.yaml.
func Types() route.Types {
	return route.Types{
		Schemas: map[string]any{
			"search_result": resultView{},
			"search_group":  groupView{},
			"search_kind":   search.Kind(""),
		},
		Words: []any{search.Kinds()},
	}
}
