package api

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
)

// inside returns the handler of the routes for requests that pages, and the tools for agents,
// make on behalf of their caller: the same handlers, rules about rights and limits of searches as from outside, but
// no second look at credentials. The page's request has the deadline, the id and the log
// line; a panic goes up to it.
func (r *router) inside() http.Handler {
	g := gin.New()
	g.ContextWithFallback = true
	g.RedirectTrailingSlash = false
	_ = g.SetTrustedProxies(nil) // the page knows the remote address, and says it
	g.Use(func(c *gin.Context) { respond.SetLogger(c, r.cfg.Log) })
	for _, line := range r.cfg.Routes {
		if line.Action == "" && !inspectsCaller(line) {
			continue
		}
		line.Handler = r.cfg.Shared.around(line)
		var admit func(*gin.Context) error
		if line.Action != "" {
			admit = r.cfg.Auth.Inside(line.Action)
		}
		g.Handle(line.Method, line.Path, func(c *gin.Context) {
			if admit != nil {
				if err := admit(c); err != nil {
					line.Refuse(c, err)
					return
				}
			}
			line.Serve(c)
		})
	}
	g.NoRoute(func(c *gin.Context) {
		respond.Error(c, respond.InterfaceV3, &respond.Problem{Status: http.StatusNotFound, Text: "there is nothing at this address"})
	})
	return g
}

// inspectsCaller reports whether a route without an action finds its caller itself: uploads of
// builds and symbols, whose key may come behind the file.
func inspectsCaller(line route.Route) bool {
	return line.Method == http.MethodPost && (line.Path == "/api/v3/builds/upload" || line.Path == "/api/v3/symbols")
}
