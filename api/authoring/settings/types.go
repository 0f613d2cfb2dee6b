package settings

import (
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage/step"
)

// Types are the types behind the schemas of openapi.yaml.
func Types() route.Types {
	return route.Types{
		Schemas: map[string]any{
			"authoring_target":       TargetView{},
			"authoring_run_settings": View{},
		},
		Requests: map[string]any{
			"authoring_basic_auth":         step.BasicAuth{},
			"authoring_client_certificate": step.ClientCertificate{},
			"authoring_run_settings_body":  Body{},
		},
	}
}

// Vocabulary are the bodies and answers whose members have a meaning elsewhere.
func Vocabulary() request.Vocabulary {
	return request.Vocabulary{Bodies: []any{Body{}, targetBody{}, step.BasicAuth{}, step.ClientCertificate{}}}
}
