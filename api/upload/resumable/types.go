package resumable

import (
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage/resumable"
)

// Types are the types behind the schemas of openapi.yaml.
func Types() route.Types {
	return route.Types{
		Schemas:  map[string]any{"upload": view{}, "upload_part": partView{}},
		Requests: map[string]any{"upload_request": beginRequest{}},
		Words:    []any{[]resumable.State{resumable.Open, resumable.Complete, resumable.Used}},
	}
}
