package generation

import (
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage/generation"
)

// Types are the types behind the schemas of openapi.yaml.
func Types() route.Types {
	return route.Types{
		Schemas: map[string]any{
			"testGeneration":        generationView{},
			"testGeneration_listed": listedGeneration{},
		},
		Requests: map[string]any{
			"testGeneration_start":  generateBody{},
			"testGeneration_refine": refineBody{},
		},
		Words: []any{[]generation.State{generation.Queued, generation.InProgress, generation.Completed, generation.Failed}},
	}
}

// Vocabulary are the bodies and answers whose members have a meaning elsewhere.
func Vocabulary() request.Vocabulary {
	return request.Vocabulary{Bodies: []any{generateBody{}, promptBody{}}}
}
