package builds

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/frame"
)

// who may have an app, or a build by itself.
type who struct {
	Page    string // of the app or build, behind /console
	All     bool   // every tester may
	Have    []having
	Total   int     // of the groups that have it; those beyond the first are counted only
	Missing []named // groups that can be given it
}

// having is a group that has it.
type having struct {
	named
	Testers int `json:"testers_count"`
}

// Hidden is how many groups have it that are not listed.
func (w *who) Hidden() int { return w.Total - len(w.Have) }

// who reads who may have what the path of the api names.
func (p *Pages) who(c *gin.Context, path, page string, all bool) (*who, error) {
	var answer struct {
		Groups     []having     `json:"groups"`
		Pagination frame.Paging `json:"pagination"`
	}
	if err := p.API.Get(c, path+"/groups", url.Values{"per_page": {most}}, &answer); err != nil {
		return nil, err
	}
	every, err := p.groups(c)
	if err != nil {
		return nil, err
	}
	w := &who{Page: page, All: all, Have: answer.Groups, Total: answer.Pagination.Total}
	for _, g := range every {
		if !slices.ContainsFunc(w.Have, func(h having) bool { return h.ID == g.ID }) {
			w.Missing = append(w.Missing, g)
		}
	}
	return w, nil
}

func (p *Pages) giveApp(c *gin.Context) error {
	return p.give(c, appPath(frame.Segment(c, "id")), "The group was given the app.")
}

func (p *Pages) giveBuild(c *gin.Context) error {
	return p.give(c, buildPath(frame.Segment(c, "id")), "The group was given the build.")
}

func (p *Pages) give(c *gin.Context, path, done string) error {
	err := p.API.Send(c, http.MethodPut, path+"/groups/"+url.PathEscape(c.PostForm("group")), nil, nil)
	return p.End(c, p.Back(c, "/builds"), done, err)
}

func (p *Pages) takeApp(c *gin.Context) error {
	return p.take(c, appPath(frame.Segment(c, "id")), "The app was taken from the group.")
}

func (p *Pages) takeBuild(c *gin.Context) error {
	return p.take(c, buildPath(frame.Segment(c, "id")), "The build was taken from the group.")
}

func (p *Pages) take(c *gin.Context, path, done string) error {
	err := p.API.Send(c, http.MethodDelete, path+"/groups/"+frame.Segment(c, "group"), nil, nil)
	return p.End(c, p.Back(c, "/builds"), done, err)
}

func (p *Pages) openApp(c *gin.Context) error {
	return p.openTo(c, settingsPage, appPath(frame.Segment(c, "id")))
}

func (p *Pages) openBuild(c *gin.Context) error {
	return p.openTo(c, buildPage, buildPath(frame.Segment(c, "id")))
}

// openTo lets every tester have it, or its groups and testers alone. The groups stay.
func (p *Pages) openTo(c *gin.Context, page, path string) error {
	all, done := c.PostForm("all") != "", "Its groups and testers alone may have it now."
	if all {
		done = "Every tester may have it now."
	}
	return p.change(c, page, path, map[string]any{"all_testers": all}, done)
}
