// Package search has the page of the console that searches everything: a field, and what
// was found by kinds, each result with the way to its page.
//
// It asks GET /api/v3/search, which finds what the caller may read. Each result says where
// it leads; the page marks the text in titles and details. A text that the route refuses is
// said on the page, with the field as it was.
package search

import (
	"embed"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
)

//go:embed page
var files embed.FS

// Pages serves the pages of the area.
type Pages struct {
	*frame.Frame
	pages *frame.Templates
}

// New returns the pages of the area.
func New(f *frame.Frame) (*Pages, error) {
	templates, err := f.Templates(files)
	if err != nil {
		return nil, err
	}
	return &Pages{Frame: f, pages: templates}, nil
}

// Routes are the pages and forms.
func (p *Pages) Routes() []route.Route {
	return []route.Route{
		p.Open("/search", auth.ReadTasks, p.index),
	}
}

// result is what the api found.
type result struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	Detail    string    `json:"detail"`
	URL       string    `json:"url"`
	UpdatedAt time.Time `json:"updated_at"`
}

// group are the results of a kind.
type group struct {
	Kind    string   `json:"kind"`
	Results []result `json:"results"`
	More    bool     `json:"more"`
}

// row is a result as the page shows it.
type row struct {
	ID            string
	Path          string // behind /console
	Title, Detail []piece
	UpdatedAt     time.Time
}

// section is a group as the page shows it.
type section struct {
	Kind, Name string
	Rows       []row
	All        string // the list with the same search, where there are more results; "": none has it
	More       bool
}

// data is what the page shows. Fault is why the api did not search.
type data struct {
	Text, Fault string
	Sections    []section
	Count       int
	More        bool
	Operator    bool
}

// index serves GET /console/search. Parameter: q.
func (p *Pages) index(c *gin.Context) error {
	d := data{Text: strings.TrimSpace(c.Query("q")), Operator: auth.CallerOf(c.Request.Context()).Operator}
	if d.Text == "" {
		return p.show(c, http.StatusOK, d)
	}
	var found struct {
		Groups []group `json:"groups"`
	}
	err := p.API.Get(c, "/api/v3/search", url.Values{"q": {d.Text}}, &found)
	var refused *respond.Problem
	if errors.As(err, &refused) && refused.Status == http.StatusBadRequest {
		d.Fault = "The text " + strings.TrimPrefix(refused.Text, "q: ")
		return p.show(c, http.StatusBadRequest, d)
	}
	if err != nil {
		return err
	}
	for _, g := range found.Groups {
		s := sectionOf(g, d.Text)
		d.Sections = append(d.Sections, s)
		d.Count += len(s.Rows)
		d.More = d.More || s.More
	}
	return p.show(c, http.StatusOK, d)
}

func (p *Pages) show(c *gin.Context, status int, d data) error {
	return p.pages.Render(c, status, "index", frame.Page{Title: "Search", Area: "/search", Data: d})
}
