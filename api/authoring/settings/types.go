package settings

import (
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage/step/capability"
)

// Types are the types behind the schemas of openapi.yaml.
func Types() route.Types {
	return route.Types{
		Schemas: map[string]any{
			"authoring_target":       TargetView{},
			"authoring_run_settings": View{},
		},
		Requests: map[string]any{
			"authoring_basic_auth":         capability.BasicAuth{},
			"authoring_client_certificate": capability.ClientCertificate{},
			"authoring_run_settings_body":  Body{},
		},
	}
}

// Vocabulary are the bodies and answers whose members have a meaning elsewhere.
func Vocabulary() request.Vocabulary {
	return request.Vocabulary{Bodies: []any{Body{}, targetBody{}, capability.BasicAuth{}, capability.ClientCertificate{}}}
}
