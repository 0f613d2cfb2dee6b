// Package routetest serves the routes of one room to the room's tests: the paths,
// actions and failures of the real list, without the bounds and log lines that
// package api puts around them.
//
// Who calls is for the guard to find out. Tests of what handlers do take ByContext
// and put a caller into the request's context; tests of who may do it take
// ByCredentials and send keys.
package routetest

import (
	"net/http"
	"net/http/httptest"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/connection"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
)

// Guard runs before a route's handler, which it keeps from running by Abort.
type Guard func(r route.Route) gin.HandlerFunc

// Engine serves the routes, HEAD wherever GET is. The guard stands before each route
// that has an action.
func Engine(guard Guard, routes ...route.Route) *gin.Engine {
	g := gin.New()
	g.ContextWithFallback = true
	for _, r := range routes {
		handlers := []gin.HandlerFunc{r.Serve}
		if r.Action != "" {
			handlers = []gin.HandlerFunc{guard(r), r.Serve}
		}
		g.Handle(r.Method, r.Path, handlers...)
		if r.Method == http.MethodGet {
			g.Handle(http.MethodHead, r.Path, handlers...)
		}
	}
	return g
}

// ByContext is the guard of tests that put the caller into the request's context by
// auth.WithCaller: it applies the rule of the action.
func ByContext(r route.Route) gin.HandlerFunc {
	rule, ok := auth.Table()[r.Action]
	if !ok {
		panic("no rule for the action " + string(r.Action))
	}
	return func(c *gin.Context) {
		ctx := c.Request.Context()
		caller := auth.CallerOf(ctx)
		if err := rule.Allow(caller); err != nil {
			respond.Error(c, r.Interface, err)
			return
		}
		c.Request = c.Request.WithContext(auth.WithCaller(ctx, caller, r.Action))
	}
}

// ByCredentials is the guard of tests that send credentials.
func ByCredentials(a *auth.Authenticator) Guard {
	return func(r route.Route) gin.HandlerFunc {
		guard, err := a.Require(r.Interface, r.Action)
		if err != nil {
			panic(err)
		}
		return guard
	}
}

// Listen serves a handler over TCP behind the listener that the program has, until end is
// called: a client that is still sending when it is refused reads the answer, for the rest
// of its body is read before the connection ends.
func Listen(handler http.Handler) (url string, end func()) {
	server := httptest.NewUnstartedServer(handler)
	listener := connection.Listen(server.Listener, connection.Config{})
	server.Listener, server.Config.ConnState, server.Config.ConnContext = listener, listener.State, listener.Context
	server.Start()
	return server.URL, func() {
		server.Close()
		listener.Stop()
	}
}
