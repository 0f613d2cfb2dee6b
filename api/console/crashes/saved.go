package crashes

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// savedSearch is a view of the list that somebody keeps.
type savedSearch struct {
	ID    int64  `json:"id"`
	Name  string `json:"name"`
	Query string `json:"query"`
	Team  *named `json:"team"`
	Owner named  `json:"owner"`
	Own   bool   `json:"own"`
}

// Link leads to the list. The api has checked that it is a query.
func (s *savedSearch) Link() string { return "?" + s.Query }

// savedList are the searches above the list of groups.
type savedList struct {
	Searches []savedSearch
	More     bool    // there are further ones
	Query    string  // of the list that is shown, to be saved
	Teams    []named // with which it can be shared
}

// savedSearches asks for the searches that the person sees.
func (p *Pages) savedSearches(c *gin.Context) (list savedList, err error) {
	var view struct {
		Searches   []savedSearch `json:"saved_searches"`
		Pagination envelope      `json:"pagination"`
	}
	q := url.Values{"area": {"crash-groups"}, "per_page": {wholePage}}
	if err := p.API.Get(c, "/api/v3/saved-searches", q, &view); err != nil {
		return list, err
	}
	list.Searches, list.More = view.Searches, view.Pagination.Total > len(view.Searches)
	list.Query = frame.Valued(c.Request.URL.Query(), "page", "per_page", "facet").Encode()
	var teams struct {
		Teams []named `json:"teams"`
	}
	if err := p.API.Get(c, "/api/v3/teams", url.Values{"per_page": {wholePage}}, &teams); err != nil {
		return list, err
	}
	caller := auth.CallerOf(c.Request.Context())
	list.Teams = slices.DeleteFunc(teams.Teams, func(t named) bool {
		return !caller.Admin() && !slices.ContainsFunc(caller.Teams, func(of account.TeamPlace) bool { return of.ID == t.ID })
	})
	return list, nil
}

// saveSearch serves POST /console/crashes/searches.
func (p *Pages) saveSearch(c *gin.Context) error {
	body := map[string]any{"area": "crash-groups", "name": c.PostForm("name"), "query": c.PostForm("query")}
	if c.PostForm("team") != "" {
		team, err := number(c, "team")
		if err != nil {
			return p.Refused(c, p.Back(c, area), storage.Invalid("team", "must be one of yours"))
		}
		body["team_id"] = team
	}
	err := p.API.Send(c, http.MethodPost, "/api/v3/saved-searches", body, nil)
	return p.End(c, p.Back(c, area), "The view "+storage.Cut(strings.TrimSpace(c.PostForm("name")), 60)+" is saved.", err)
}

// deleteSearch serves POST /console/crashes/searches/{search}/delete.
func (p *Pages) deleteSearch(c *gin.Context) error {
	err := p.API.Send(c, http.MethodDelete, "/api/v3/saved-searches/"+frame.Segment(c, "search"), nil, nil)
	return p.End(c, p.Back(c, area), "The saved view was deleted.", err)
}

// groupFacet are the values of one filter among the groups of the list.
type groupFacet struct {
	Name   string `json:"name"`
	Values []struct {
		Value  string `json:"value"`
		Label  string `json:"label"`
		Groups int    `json:"groups"`
		Link   string `json:"-"`
	} `json:"values"`
}

// groupFacets are the filters that have values, and what was counted.
type groupFacets struct {
	Facets  []groupFacet
	Counted struct {
		Groups   int  `json:"groups"`
		Complete bool `json:"complete"`
	}
}

// facetsView are the values among the groups of the list.
type facetsView struct {
	Facets  []groupFacet `json:"facets"`
	Counted struct {
		Groups   int  `json:"groups"`
		Complete bool `json:"complete"`
	} `json:"counted"`
}

// groupFacetsOf gives each value the address that filters by it.
func groupFacetsOf(c *gin.Context, view *facetsView) (f groupFacets) {
	f.Counted = view.Counted
	for _, facet := range view.Facets {
		for i := range facet.Values {
			v := &facet.Values[i]
			// A comma separates values, so that none can have one.
			if !strings.Contains(v.Value, ",") && len(v.Value) <= maxAttribute {
				v.Link = address(c, facet.Name, v.Value, facet.Name+"[]", "")
			}
			if facet.Name == "assignee" && v.Value == "none" {
				v.Label = "nobody"
			}
		}
		if len(facet.Values) > 0 {
			f.Facets = append(f.Facets, facet)
		}
	}
	return f
}
