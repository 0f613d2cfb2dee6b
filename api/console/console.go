// Package console is the face of the api: pages in which people see and steer what its
// routes do. Package frame has what all pages share; each area of the navigation is a
// package of its own, which lists its pages and forms as routes.
//
// The router serves the pages beside the routes of the api and leads them to these from
// inside: a page asks a route on behalf of who is signed in, so it shows and changes what
// that person's key would. Without a session a page leads to the sign-in.
package console

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/console/builds"
	"github.com/slipway-qa/slipway/api/console/crashes"
	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/api/console/operate"
	"github.com/slipway-qa/slipway/api/console/overview"
	"github.com/slipway-qa/slipway/api/console/people"
	"github.com/slipway-qa/slipway/api/console/search"
	"github.com/slipway-qa/slipway/api/console/settings"
	"github.com/slipway-qa/slipway/api/console/tests"
	"github.com/slipway-qa/slipway/api/route"
)

// Console serves all pages.
type Console struct {
	frame  *frame.Frame
	routes []route.Route
}

// New returns the console; it works once it is connected to the api.
func New(cfg frame.Config) (*Console, error) {
	f, err := frame.New(cfg)
	if err != nil {
		return nil, err
	}
	c := &Console{frame: f, routes: f.Routes()}
	if err := c.add(overview.New(f)); err != nil {
		return nil, err
	}
	for _, area := range []func(*frame.Frame) (pages, error){
		func(f *frame.Frame) (pages, error) { return crashes.New(f) },
		func(f *frame.Frame) (pages, error) { return tests.New(f) },
		func(f *frame.Frame) (pages, error) { return builds.New(f) },
		func(f *frame.Frame) (pages, error) { return people.New(f) },
		func(f *frame.Frame) (pages, error) { return operate.New(f) },
		func(f *frame.Frame) (pages, error) { return settings.New(f) },
		func(f *frame.Frame) (pages, error) { return search.New(f) },
	} {
		if err := c.add(area(f)); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// pages are the pages of one area.
type pages interface{ Routes() []route.Route }

func (c *Console) add(area pages, err error) error {
	if err != nil {
		return err
	}
	c.routes = append(c.routes, area.Routes()...)
	return nil
}

// Pages are the routes of all pages.
func (c *Console) Pages() []route.Route { return c.routes }

// Connect leads the pages to the api.
func (c *Console) Connect(api http.Handler) { c.frame.Connect(api) }

// Unmatched writes the page of an address that no page has.
func (c *Console) Unmatched(g *gin.Context, err error) { c.frame.Unmatched(g, err) }
