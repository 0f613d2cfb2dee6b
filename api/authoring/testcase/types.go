package testcase

import (
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/api/route"
)

// Types are the types behind the schemas of openapi.yaml.
func Types() route.Types {
	return route.Types{
		Schemas: map[string]any{
			"authoring_revision":            revisionView{},
			"authoring_code_target":         targetItem{},
			"authoring_code":                codeView{},
			"authoring_quarantine":          quarantineView{},
			"authoring_quarantine_proposed": proposalView{},
			"testHealing":                   healingView{},
			"authoring_data":                dataView{},
			"authoring_data_page":           dataPage{},
		},
		Requests: map[string]any{
			"authoring_import":           importBody{},
			"authoring_case_update":      caseBody{},
			"authoring_quarantine_start": quarantineBody{},
		},
	}
}

// Vocabulary are the bodies and answers whose members have a meaning elsewhere.
func Vocabulary() request.Vocabulary {
	return request.Vocabulary{
		Bodies:  []any{importBody{}, caseBody{}, quarantineBody{}},
		Answers: map[string][]any{"/testcases": {caseView{}, caseDetail{}}},
	}
}
