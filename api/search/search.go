// Package search serves the search over everything: one text, and what of the organization
// has it in its name, its words or its id, by kinds. A caller sees the kinds whose own
// routes it may read. An operator, who belongs to no organization, finds tasks by their id.
//
// A text or limit that breaks a rule is 400. That nothing is found is an empty list.
package search

import (
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/search"
)

// Handlers are the handlers of the room's routes.
type Handlers struct{ db *storage.DB }

// New returns the handlers.
func New(db *storage.DB) *Handlers { return &Handlers{db: db} }

// Routes are the room's routes.
func (h *Handlers) Routes() []route.Route {
	return []route.Route{
		{Method: http.MethodGet, Path: "/api/v3/search", Interface: respond.InterfaceV3, Query: []string{"q", "limit"},
			Action: auth.ReadTasks, Handler: h.Search},
	}
}

// defaultResults is how many results of a kind a person looks through.
const defaultResults = 10

// reads are the actions whose routes show the kinds.
func reads() map[search.Kind]auth.Action {
	return map[search.Kind]auth.Action{
		search.CrashGroup: auth.ReadCrashes,
		search.Crash:      auth.ReadCrashes,
		search.Version:    auth.ReadCrashes,
		search.App:        auth.ReadProjects,
		search.Build:      auth.ReadBuilds,
		search.TestCase:   auth.ReadTests,
		search.TestSuite:  auth.ReadTests,
		search.Schedule:   auth.ReadTests,
		search.Tester:     auth.ReadTesters,
		search.Task:       auth.ReadTasks,
		search.Webhook:    auth.ReadWebhooks,

		search.CrashComment: auth.ReadCrashes,
		search.Symbol:       auth.ReadSymbols,
		search.TestRun:      auth.ReadTests,
		search.SuiteRun:     auth.ReadTests,
		search.TesterGroup:  auth.ReadGroups,
		search.Team:         auth.ReadTeams,
		search.Device:       auth.ReadDevices,
	}
}

// readable are the kinds that a caller may read.
func readable(caller *auth.Caller) (kinds []search.Kind) {
	rules, actions := auth.Table(), reads()
	for _, kind := range search.Kinds() {
		rule, ok := rules[actions[kind]]
		if ok && rule.Allow(caller) == nil {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

type resultView struct {
	Kind           search.Kind `json:"kind"`
	ID             string      `json:"id"`
	Title          string      `json:"title"`
	Detail         string      `json:"detail"`
	CrashProjectID *int64      `json:"crash_project_id"` // of a version
	ParentID       *string     `json:"parent_id"`        // of a comment or run
}

type groupView struct {
	Kind    search.Kind  `json:"kind"`
	Results []resultView `json:"results"`
	More    bool         `json:"more"`
}

// Search serves GET /api/v3/search. Parameters: q, limit (of each kind).
func (h *Handlers) Search(c *gin.Context) error {
	caller, limit := auth.CallerOf(c.Request.Context()), defaultResults
	if text := c.Query("limit"); text != "" {
		var err error
		if limit, err = strconv.Atoi(text); err != nil {
			return storage.Invalid("limit", "must be 1 to %d", search.MaxResults)
		}
	}
	found, err := search.Find(c.Request.Context(), h.db, search.Query{OrganizationID: caller.OrganizationID, Text: c.Query("q"),
		Kinds: readable(caller), Limit: limit})
	if err != nil {
		return err
	}
	groups := make([]groupView, 0, len(found))
	for _, f := range found {
		group := groupView{Kind: f.Kind, Results: make([]resultView, 0, len(f.Results)), More: f.More}
		for _, r := range f.Results {
			group.Results = append(group.Results, resultView(r))
		}
		groups = append(groups, group)
	}
	return respond.JSON(c, http.StatusOK, gin.H{"groups": groups})
}
