package group

import (
	"github.com/slipway-qa/slipway/api/route"
)

// Types are the types behind the schemas of openapi.yaml.
func Types() route.Types {
	return route.Types{
		Schemas: map[string]any{
			"group":        groupView{},
			"group_whole":  wholeGroupView{},
			"group_tester": testerView{},
			"team":         teamView{},
			"team_member":  memberView{},
			"team_whole":   wholeTeamView{},
		},
		Requests: map[string]any{
			"group_body":        groupBody{},
			"group_people_body": peopleBody{},
			"team_member_body":  placeBody{},
			"team_body":         teamBody{},
		},
	}
}
