package handler

import (
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage/step"
)

// Types are the types behind the schemas of openapi.yaml.
func Types() route.Types {
	return route.Types{
		Schemas: map[string]any{
			"authoring_step": StepView{},
		},
		Requests: map[string]any{
			"authoring_step_body":    givenStep{},
			"authoring_selector":     step.Selector{},
			"authoring_fingerprint":  step.Fingerprint{},
			"authoring_surroundings": step.Surroundings{},
			"authoring_condition":    step.Condition{},
			"authoring_tool":         step.Tool{},
		},
	}
}

// Vocabulary are the bodies and answers whose members have a meaning elsewhere.
func Vocabulary() request.Vocabulary { return request.Vocabulary{Bodies: []any{givenStep{}}} }
