// Package crash serves crashes, their groups and crash projects over version 3 of
// the distribution interface: lists of groups and of a group's crashes, one group,
// one crash with its threads, the stored report, the attachments; changing and
// merging groups; the removal of a person's reports; crash projects, which receive
// the reports, and their tokens, whose text is in the answer that created it and
// nowhere else.
//
// Everything is limited to the caller's organization: what belongs to another one
// is not found. The id of a group that was merged away leads to the group that has
// its reports now.
//
// A report that was accepted and not processed yet is there as pending. Threads
// are read from the stored report when a crash is asked for, and bounded: a
// report may hold a million frames, which nobody reads in an answer. The report
// itself is served whole.
//
// Bytes that came from outside (reports, attachments) are always delivered as
// attachments, never sniffed and under a policy that lets nothing run, so that a
// browser that is led there shows no page of a stranger.
//
// Failures are 400 for a parameter or member that breaks a rule, 404, and 409 for
// groups that cannot be merged.
package crash

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/object"
)

// Handlers are the handlers of the room's routes.
type Handlers struct {
	store   *crash.Store
	objects object.Store
	keys    *account.Issuer // of crash tokens
}

// New returns the handlers.
func New(store *crash.Store, objects object.Store, keys *account.Issuer) *Handlers {
	return &Handlers{store: store, objects: objects, keys: keys}
}

// Routes are the room's routes.
func (h *Handlers) Routes() []route.Route {
	const v3 = respond.InterfaceV3
	return []route.Route{
		{Method: http.MethodGet, Path: "/api/v3/crash-groups", Interface: v3, Action: auth.ReadCrashes, Handler: h.Groups},
		{Method: http.MethodGet, Path: "/api/v3/crash-groups/:id", Interface: v3, Action: auth.ReadCrashes, Handler: h.Group},
		{Method: http.MethodPatch, Path: "/api/v3/crash-groups/:id", Interface: v3, Action: auth.ChangeCrashes, Handler: h.ChangeGroup},
		{Method: http.MethodGet, Path: "/api/v3/crash-groups/:id/crashes", Interface: v3, Action: auth.ReadCrashes, Handler: h.GroupCrashes},
		{Method: http.MethodGet, Path: "/api/v3/crashes", Interface: v3, Action: auth.ReadCrashes, Handler: h.Crashes},
		{Method: http.MethodDelete, Path: "/api/v3/crashes", Interface: v3, Action: auth.PurgeCrashes, Handler: h.Purge},
		{Method: http.MethodGet, Path: "/api/v3/crashes/:id", Interface: v3, Action: auth.ReadCrashes, Handler: h.Crash},
		{Method: http.MethodGet, Path: "/api/v3/crashes/:id/raw", Interface: v3, Action: auth.ReadCrashes, Handler: h.Raw},
		{Method: http.MethodGet, Path: "/api/v3/crashes/:id/attachments", Interface: v3, Action: auth.ReadCrashes, Handler: h.Attachments},
		{Method: http.MethodGet, Path: "/api/v3/crashes/:id/attachments/:attachment", Interface: v3, Action: auth.ReadCrashes, Handler: h.Attachment, Deadline: route.StreamDeadline},

		{Method: http.MethodGet, Path: "/api/v3/crash-projects", Interface: v3, Action: auth.ManageCrashProjects, Handler: h.Projects},
		{Method: http.MethodPost, Path: "/api/v3/crash-projects", Interface: v3, Action: auth.ManageCrashProjects, Handler: h.CreateProject},
		{Method: http.MethodGet, Path: "/api/v3/crash-projects/:id", Interface: v3, Action: auth.ManageCrashProjects, Handler: h.Project},
		{Method: http.MethodPut, Path: "/api/v3/crash-projects/:id", Interface: v3, Action: auth.ManageCrashProjects, Handler: h.UpdateProject},
		{Method: http.MethodDelete, Path: "/api/v3/crash-projects/:id", Interface: v3, Action: auth.ManageCrashProjects, Handler: h.DeleteProject},
		{Method: http.MethodGet, Path: "/api/v3/crash-projects/:id/tokens", Interface: v3, Action: auth.ManageCrashProjects, Handler: h.Tokens},
		{Method: http.MethodPost, Path: "/api/v3/crash-projects/:id/tokens", Interface: v3, Action: auth.ManageCrashProjects, Handler: h.CreateToken},
		{Method: http.MethodDelete, Path: "/api/v3/crash-projects/:id/tokens/:token", Interface: v3, Action: auth.ManageCrashProjects, Handler: h.RevokeToken},
	}
}

func pathUUID(c *gin.Context, name string) (uuid.UUID, error) {
	id, err := uuid.Parse(c.Param(name))
	if err != nil {
		return uuid.Nil, storage.ErrNotFound
	}
	return id, nil
}

const (
	attributePrefix = "attribute."
	// maxAttributes bounds the conditions of one list.
	maxAttributes = 10
	// maxSearch bounds a search text in bytes: titles are not longer.
	maxSearch = 500
)

// attributes reads the filters attribute.KEY=VALUE; all of them must hold. The
// key may contain dots.
func attributes(q url.Values) ([]crash.AttributeFilter, error) {
	var filters []crash.AttributeFilter
	for name, values := range q {
		key, ok := strings.CutPrefix(name, attributePrefix)
		if !ok {
			continue
		}
		for _, value := range values {
			f := crash.AttributeFilter{Key: key, Value: value}
			if err := f.Validate(); err != nil {
				return nil, err
			}
			if filters = append(filters, f); len(filters) > maxAttributes {
				return nil, &storage.InvalidError{Field: "attribute", Msg: "at most 10 attributes"}
			}
		}
	}
	return filters, nil
}

// projectFilter reads the optional parameter project, a numeric id.
func projectFilter(q url.Values) (int64, error) {
	text := strings.TrimSpace(q.Get("project"))
	if text == "" {
		return 0, nil
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return 0, &storage.InvalidError{Field: "project", Msg: "must be the number of a crash project"}
	}
	return id, nil
}
