package tester

import (
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage/distribution/testergroup"
	"github.com/slipway-qa/slipway/storage/install"
	"github.com/slipway-qa/slipway/storage/tester"
)

// Types are the types behind the schemas of openapi.yaml.
func Types() route.Types {
	return route.Types{
		Schemas: map[string]any{
			"build_install":          installView{},
			"build_people":           install.People{},
			"tester_group_name":      testergroup.Name{},
			"tester_invite":          inviteView{},
			"tester":                 testerView{},
			"tester_invite_of_build": personInviteView{},
		},
		Bodies: map[string]any{
			"POST /api/v3/testers":                             addBody{},
			"POST /api/v3/builds/{id}/invites":                 inviteBody{},
			"POST /api/1/testers":                              addBody1{},
			"POST /api/1/projects/{id}/builds/{build}/invites": inviteBody{},
		},
		Words: []any{[]tester.Status{tester.Created, tester.Sent, tester.Opened, tester.Installed, tester.Revoked}, install.Channels()},
	}
}
