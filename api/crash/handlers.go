// Package crash serves crashes, their groups and crash projects over version 3 of
// the distribution interface: lists of groups and of a group's crashes, one group,
// one crash with its threads, the stored report, the attachments; attributes and their
// values; changing, merging, splitting and discussing groups; the removal of a person's
// reports; crash projects, which receive the reports, their versions with crash-free
// sessions and users, and their tokens, whose text is in the answer that created it
// and nowhere else.
//
// Everything is limited to the caller's organization: what belongs to another one
// is not found. The id of a group that was merged into another leads to that one; the
// group stays as a part of it, and can be taken out again.
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
	split, saved := &splitting{store: h.store}, &saving{store: h.store}
	return []route.Route{
		{Method: http.MethodGet, Path: "/api/v3/crash-groups", Interface: v3, Query: groupQuery(), Action: auth.ReadCrashes, Handler: h.Groups},
		{Method: http.MethodPost, Path: "/api/v3/crash-groups/change", Interface: v3, Query: append(selectQuery(),
			"dry_run", "made_until"), Action: auth.ChangeCrashes, Handler: h.ChangeGroups},
		{Method: http.MethodGet, Path: "/api/v3/crash-groups/facets", Interface: v3, Query: selectQuery(),
			Action: auth.ReadCrashes, Handler: h.Facets},
		{Method: http.MethodGet, Path: "/api/v3/crash-groups/:id", Interface: v3, Query: []string{"from", "to"},
			Action: auth.ReadCrashes, Handler: h.Group},
		{Method: http.MethodPatch, Path: "/api/v3/crash-groups/:id", Interface: v3, Query: route.NoQuery(),
			Action: auth.ChangeCrashes, Handler: h.ChangeGroup},
		{Method: http.MethodGet, Path: "/api/v3/crash-groups/:id/crashes", Interface: v3, Query: []string{"version[]",
			attributePrefix, "from", "to", "page", "per_page"}, Action: auth.ReadCrashes, Handler: h.GroupCrashes},
		{Method: http.MethodGet, Path: "/api/v3/crash-groups/:id/trend", Interface: v3, Query: []string{"by", "from", "to"},
			Action: auth.ReadCrashes, Handler: h.Trend},
		{Method: http.MethodGet, Path: "/api/v3/crash-groups/:id/similar", Interface: v3, Query: route.NoQuery(),
			Action: auth.ReadCrashes, Handler: h.Similar},
		{Method: http.MethodGet, Path: "/api/v3/crash-groups/:id/suspect-changes", Interface: v3, Query: route.NoQuery(),
			Action: auth.ReadCrashes, Handler: h.SuspectChanges},
		{Method: http.MethodGet, Path: "/api/v3/crash-groups/:id/stacks", Interface: v3, Query: route.NoQuery(),
			Action: auth.ReadCrashes, Handler: split.Stacks},
		{Method: http.MethodPost, Path: "/api/v3/crash-groups/:id/split", Interface: v3, Query: route.NoQuery(),
			Action: auth.ChangeCrashes, Handler: split.Split},
		{Method: http.MethodGet, Path: "/api/v3/crash-groups/:id/comments", Interface: v3, Query: []string{"page", "per_page"},
			Action: auth.ReadCrashes, Handler: h.Comments},
		{Method: http.MethodPost, Path: "/api/v3/crash-groups/:id/comments", Interface: v3, Query: route.NoQuery(),
			Action: auth.ChangeCrashes, Handler: h.CreateComment},
		{Method: http.MethodPatch, Path: "/api/v3/crash-groups/:id/comments/:comment", Interface: v3, Query: route.NoQuery(),
			Action: auth.ChangeCrashes, Handler: h.UpdateComment},
		{Method: http.MethodDelete, Path: "/api/v3/crash-groups/:id/comments/:comment", Interface: v3, Bare: true,
			Query: route.NoQuery(), Action: auth.ChangeCrashes, Handler: h.DeleteComment},
		{Method: http.MethodGet, Path: "/api/v3/crash-groups/:id/feedback", Interface: v3, Query: []string{"page", "per_page"},
			Action: auth.ReadCrashes, Handler: h.GroupFeedback},
		{Method: http.MethodGet, Path: "/api/v3/crash-groups/:id/history", Interface: v3, Query: []string{"page", "per_page"},
			Action: auth.ReadCrashes, Handler: h.History},
		{Method: http.MethodGet, Path: "/api/v3/crash-groups/:id/attributes", Interface: v3,
			Query: []string{"key", "reports", "from", "to"}, Action: auth.ReadCrashes, Handler: h.GroupAttributes},
		{Method: http.MethodGet, Path: "/api/v3/crash-attributes", Interface: v3, Query: []string{"key", "reports",
			"project[]", "from", "to"}, Action: auth.ReadCrashes, Handler: h.CrashAttributes},
		{Method: http.MethodGet, Path: "/api/v3/saved-searches", Interface: v3, Query: []string{"area", "page", "per_page"},
			Action: auth.SaveSearches, Handler: saved.List},
		{Method: http.MethodPost, Path: "/api/v3/saved-searches", Interface: v3, Query: route.NoQuery(), Action: auth.SaveSearches,
			Handler: saved.Save},
		{Method: http.MethodDelete, Path: "/api/v3/saved-searches/:id", Interface: v3, Bare: true, Query: route.NoQuery(),
			Action: auth.SaveSearches, Handler: saved.Delete},
		{Method: http.MethodGet, Path: "/api/v3/crashes", Interface: v3, Query: listQuery(), Action: auth.ReadCrashes, Handler: h.Crashes},
		{Method: http.MethodDelete, Path: "/api/v3/crashes", Interface: v3, Bare: true, Query: []string{"project", attributePrefix},
			Action: auth.PurgeCrashes, Handler: h.Purge},
		{Method: http.MethodGet, Path: "/api/v3/crashes/:id", Interface: v3, Query: route.NoQuery(), Action: auth.ReadCrashes, Handler: h.Crash},
		{Method: http.MethodGet, Path: "/api/v3/crashes/:id/raw", Interface: v3, Query: route.NoQuery(), Action: auth.ReadCrashes,
			Handler: h.Raw},
		{Method: http.MethodGet, Path: "/api/v3/crashes/:id/feedback", Interface: v3, Query: route.NoQuery(),
			Action: auth.ReadCrashes, Handler: h.Feedback},
		{Method: http.MethodGet, Path: "/api/v3/crashes/:id/attachments", Interface: v3, Query: route.NoQuery(),
			Action: auth.ReadCrashes, Handler: h.Attachments},
		{Method: http.MethodGet, Path: "/api/v3/crashes/:id/attachments/:attachment", Interface: v3, Query: route.NoQuery(),
			Action: auth.ReadCrashes, Handler: h.Attachment, Deadline: route.StreamDeadline},

		{Method: http.MethodGet, Path: "/api/v3/crash-projects", Interface: v3, Query: []string{"page", "per_page"},
			Action: auth.ManageCrashProjects, Handler: h.Projects},
		{Method: http.MethodPost, Path: "/api/v3/crash-projects", Interface: v3, Action: auth.ManageCrashProjects, Handler: h.CreateProject},
		{Method: http.MethodGet, Path: "/api/v3/crash-projects/:id", Interface: v3, Query: route.NoQuery(),
			Action: auth.ManageCrashProjects, Handler: h.Project},
		{Method: http.MethodPut, Path: "/api/v3/crash-projects/:id", Interface: v3, Action: auth.ManageCrashProjects, Handler: h.UpdateProject},
		{Method: http.MethodDelete, Path: "/api/v3/crash-projects/:id", Interface: v3, Bare: true, Query: route.NoQuery(),
			Action: auth.ManageCrashProjects, Handler: h.DeleteProject},
		{Method: http.MethodPost, Path: "/api/v3/crash-projects/:id/regroup", Interface: v3, Bare: true, Query: []string{"dry_run"},
			Action: auth.ManageCrashProjects, Handler: h.Regroup},
		{Method: http.MethodGet, Path: "/api/v3/crash-projects/:id/owners", Interface: v3, Query: route.NoQuery(),
			Action: auth.ManageCrashProjects, Handler: h.Owners},
		{Method: http.MethodPut, Path: "/api/v3/crash-projects/:id/owners", Interface: v3, Action: auth.ManageCrashProjects,
			Handler: h.SetOwners},
		{Method: http.MethodGet, Path: "/api/v3/crash-rules", Interface: v3, Query: []string{"project"},
			Action: auth.ManageCrashProjects, Handler: h.Rules},
		{Method: http.MethodPost, Path: "/api/v3/crash-rules", Interface: v3, Query: route.NoQuery(),
			Action: auth.ManageCrashProjects, Handler: h.CreateRule},
		{Method: http.MethodGet, Path: "/api/v3/crash-rules/:id", Interface: v3, Query: route.NoQuery(),
			Action: auth.ManageCrashProjects, Handler: h.Rule},
		{Method: http.MethodPut, Path: "/api/v3/crash-rules/:id", Interface: v3, Query: route.NoQuery(),
			Action: auth.ManageCrashProjects, Handler: h.UpdateRule},
		{Method: http.MethodDelete, Path: "/api/v3/crash-rules/:id", Interface: v3, Bare: true, Query: route.NoQuery(),
			Action: auth.ManageCrashProjects, Handler: h.DeleteRule},
		{Method: http.MethodGet, Path: "/api/v3/crash-projects/:id/versions", Interface: v3,
			Query: []string{"days", "from", "to", "page", "per_page"}, Action: auth.ReadCrashes, Handler: h.Versions},
		{Method: http.MethodGet, Path: "/api/v3/crash-projects/:id/tokens", Interface: v3, Query: route.NoQuery(),
			Action: auth.ManageCrashProjects, Handler: h.Tokens},
		{Method: http.MethodPost, Path: "/api/v3/crash-projects/:id/tokens", Interface: v3, Action: auth.ManageCrashProjects,
			Handler: h.CreateToken},
		{Method: http.MethodDelete, Path: "/api/v3/crash-projects/:id/tokens/:token", Interface: v3, Bare: true,
			Query: route.NoQuery(), Action: auth.ManageCrashProjects, Handler: h.RevokeToken},
	}
}

func pathUUID(c *gin.Context, name string) (uuid.UUID, error) {
	id, err := uuid.Parse(c.Param(name))
	if err != nil {
		return uuid.Nil, storage.ErrNotFound
	}
	return id, nil
}
