package suite

import (
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage/authoring"
	"github.com/slipway-qa/slipway/storage/login"
)

// Types are the types behind the schemas of openapi.yaml.
func Types() route.Types {
	return route.Types{
		Schemas: map[string]any{
			"authoring_suite_filter": filterView{},
		},
		Requests: map[string]any{
			"authoring_suite_create": suiteBody{},
			"authoring_suite_update": suiteBody{},
			"authoring_login":        login.Login{},
		},
	}
}

// Vocabulary are the bodies and answers whose members have a meaning elsewhere.
func Vocabulary() request.Vocabulary {
	return request.Vocabulary{
		Bodies:  []any{suiteBody{}, filterBody{}, login.Login{}, authoring.RunRetention{}},
		Answers: map[string][]any{"/testsuites": {suiteView{}}},
	}
}
