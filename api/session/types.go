package session

import (
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage/session"
)

// Types are the types behind the schemas of openapi.yaml.
func Types() route.Types {
	return route.Types{
		Schemas: map[string]any{
			"session_device":       session.Device{},
			"session":              sessionView{},
			"session1":             sessionItem1{},
			"feedback1":            feedback1{},
			"feedback":             feedbackView{},
			"session_event":        session.Event{},
			"session_device_model": session.DeviceModel{},
			"sdk_token":            session.TokenRow{},
		},
		Requests: map[string]any{
			"sdk_events":   eventsBody{},
			"sdk_start":    startBody{},
			"sdk_feedback": feedbackBody{},
		},
		Bodies: map[string]any{
			"POST /api/1/sdk/sessions/{session}/end": endBody{},
			"POST /api/v3/projects/{id}/sdk-tokens":  tokenBody{},
		},
	}
}
