package authoring

import (
	"maps"

	"github.com/slipway-qa/slipway/api/authoring/generation"
	"github.com/slipway-qa/slipway/api/authoring/handler"
	"github.com/slipway-qa/slipway/api/authoring/request"
	"github.com/slipway-qa/slipway/api/authoring/schedule"
	"github.com/slipway-qa/slipway/api/authoring/settings"
	"github.com/slipway-qa/slipway/api/authoring/suite"
	"github.com/slipway-qa/slipway/api/authoring/testcase"
	"github.com/slipway-qa/slipway/api/authoring/testrun"
	"github.com/slipway-qa/slipway/api/authoring/tunnel"
	"github.com/slipway-qa/slipway/api/authoring/variable"
	"github.com/slipway-qa/slipway/api/route"
)

// Types are the types behind the schemas of openapi.yaml.
func Types() route.Types {
	all := route.Types{Schemas: map[string]any{}, Requests: map[string]any{}}
	for _, of := range []route.Types{settings.Types(), handler.Types(), testcase.Types(), suite.Types(), testrun.Types(), schedule.Types(),
		generation.Types(), variable.Types(), tunnel.Types()} {
		maps.Copy(all.Schemas, of.Schemas)
		maps.Copy(all.Requests, of.Requests)
		all.Words = append(all.Words, of.Words...)
	}
	return all
}

// shownGroup has the members of a step group that its answers show and that no request changes.
type shownGroup struct {
	CreatorUserID      string   `json:"creatorUserId"`
	LastModifierUserID string   `json:"lastModifierUserId"`
	TeamID             string   `json:"teamId"`
	RevisionID         string   `json:"revisionId"`
	Steps              []string `json:"steps"`
}

// words are the names that have a meaning in the interface.
func words() request.Words {
	return request.NewWords(settings.Vocabulary(), handler.Vocabulary(), testcase.Vocabulary(), suite.Vocabulary(), testrun.Vocabulary(),
		schedule.Vocabulary(), generation.Vocabulary(), variable.Vocabulary(), tunnel.Vocabulary(),
		request.Vocabulary{Answers: map[string][]any{"/step-groups": {shownGroup{}}}})
}
