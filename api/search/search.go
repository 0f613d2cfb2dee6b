// Package search serves the search over everything: one text, and what of the organization
// has it in its name, its words or its id, by kinds. A caller sees the kinds whose own
// routes it may read. An operator, who belongs to no organization, finds tasks by their id.
//
// A text, kind, limit or page that breaks a rule is 400. That nothing is found is an empty list.
package search

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/pagination"
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
		{Method: http.MethodGet, Path: "/api/v3/search", Interface: respond.InterfaceV3, Query: []string{"q", "kind[]", "limit", "page"},
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
	URL            string      `json:"url"`
	UpdatedAt      time.Time   `json:"updated_at"`
}

type groupView struct {
	Kind    search.Kind  `json:"kind"`
	Results []resultView `json:"results"`
	More    bool         `json:"more"`
}

func viewOf(r *search.Result) resultView {
	return resultView{Kind: r.Kind, ID: r.ID, Title: r.Title, Detail: r.Detail, CrashProjectID: r.CrashProjectID, ParentID: r.ParentID,
		URL: address(r), UpdatedAt: r.UpdatedAt.UTC()}
}

// chosen are the kinds that a request names, of those that the caller may read; all of these
// when it names none.
func chosen(c *gin.Context, caller *auth.Caller) ([]search.Kind, error) {
	kinds := readable(caller)
	named, err := pagination.List(c.Request.URL.Query(), "kind")
	if err != nil || len(named) == 0 {
		return kinds, err
	}
	for _, name := range named {
		if !slices.Contains(search.Kinds(), search.Kind(name)) {
			return nil, storage.Invalid("kind", "must be one of %v", search.Kinds())
		}
	}
	return slices.DeleteFunc(kinds, func(k search.Kind) bool { return !slices.Contains(named, string(k)) }), nil
}

// whole reads a parameter that is a number.
func whole(c *gin.Context, name string, absent, most int) (int, error) {
	text := c.Query(name)
	if text == "" {
		return absent, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, storage.Invalid(name, "must be 1 to %d", most)
	}
	return n, nil
}

// Search serves GET /api/v3/search. Parameters: q, kind[], limit and page (of each kind).
func (h *Handlers) Search(c *gin.Context) error {
	caller := auth.CallerOf(c.Request.Context())
	limit, err := whole(c, "limit", defaultResults, search.MaxResults)
	if err != nil {
		return err
	}
	page, err := whole(c, "page", 1, search.MaxReach)
	if err != nil {
		return err
	}
	kinds, err := chosen(c, caller)
	if err != nil {
		return err
	}
	found, err := search.Find(c.Request.Context(), h.db, search.Query{OrganizationID: caller.OrganizationID, Text: c.Query("q"),
		Kinds: kinds, Limit: limit, Offset: (page - 1) * limit})
	if err != nil {
		return err
	}
	groups := make([]groupView, 0, len(found))
	for _, f := range found {
		group := groupView{Kind: f.Kind, Results: make([]resultView, 0, len(f.Results)), More: f.More}
		for i := range f.Results {
			group.Results = append(group.Results, viewOf(&f.Results[i]))
		}
		groups = append(groups, group)
	}
	return respond.JSON(c, http.StatusOK, gin.H{"groups": groups})
}
