package upload

import (
	"net/http"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
)

const publicForm = "the key may come in the form, also after the file; the handler authenticates"

// Routes are the room's routes.
func (h *Handlers) Routes() []route.Route {
	const v3, v1 = respond.InterfaceV3, respond.InterfaceLegacy
	return []route.Route{
		{Method: http.MethodPost, Path: "/api/v3/symbols", Interface: v3, Public: publicForm, Handler: h.V3Symbols,
			Query: route.NoQuery(), Body: route.OwnBound, Deadline: route.UploadDeadline},
		{Method: http.MethodPost, Path: "/api/upload", Interface: v1, Public: publicForm, Handler: h.Upload,
			Body: route.OwnBound, Deadline: route.UploadDeadline},
		{Method: http.MethodPost, Path: "/upload", Interface: v1, Public: publicForm, Handler: h.Upload, Body: route.OwnBound,
			Deadline: route.UploadDeadline},
		{Method: http.MethodPost, Path: "/api/upload/dsym", Interface: v1, Public: publicForm, Handler: h.Symbols,
			Body: route.OwnBound, Deadline: route.UploadDeadline},
		{Method: http.MethodPost, Path: "/upload/dsym", Interface: v1, Public: publicForm, Handler: h.Symbols,
			Body: route.OwnBound, Deadline: route.UploadDeadline},
		{Method: http.MethodPost, Path: "/api/v3/builds/upload", Interface: v3, Public: publicForm, Handler: h.V3,
			Body: route.OwnBound, Deadline: route.UploadDeadline},
	}
}
