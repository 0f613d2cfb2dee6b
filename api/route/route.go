// Package route describes one line of the api's list of routes. A room exports its
// lines by a method Routes; package api serves them all, with authentication,
// deadline and bounds around each handler.
//
// A handler parses, validates, makes one call and writes the success by package
// respond. A failure it returns, and Serve writes it in the shape of the route's
// interface: no handler names the interface or writes a failure itself.
package route

import (
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/respond"
)

// Handler serves a request. What it returns is written as a failure, unless the
// answer has begun: then it is logged only.
type Handler func(c *gin.Context) error

// Route is a line of the list. Exactly one of Action and Public is set.
type Route struct {
	Method    string
	Path      string // gin's pattern
	Interface respond.Interface
	Action    auth.Action
	// Public is the reason why the api asks for no credentials.
	Public  string
	Handler Handler
	// Query are the names of the parameters that the query may have; others are 400.
	// One that ends in [] is an array, which has further spellings; one that ends in a
	// dot begins the names that it stands for. nil: any.
	Query []string
	// Bare routes have no body: what is sent in one is refused.
	Bare bool
	// Fail writes the failures of a route whose answers are pages; nil: they are
	// written in the shape of the interface.
	Fail func(c *gin.Context, err error)
	// Deadline is when the request's context ends; 0: the configured one.
	Deadline time.Duration
	// DeadlineOf, where it is there, says it by the request; 0: Deadline.
	DeadlineOf func(c *gin.Context) time.Duration
	// Body is the most bytes of a body; 0: the configured bound, OwnBound: the
	// handler keeps its own.
	Body int64
	// Quiet routes are hot: a success is logged at debug level.
	Quiet bool
}

// IdempotencyKey is the header of a request that is sent again: it names what the
// first one started, and is kept for 24 hours.
const IdempotencyKey = "Idempotency-Key"

// OwnBound in place of a number of bytes leaves the bound to the handler.
const OwnBound = -1

const (
	// StreamDeadline lets 512 MiB through at 1 MiB/s.
	StreamDeadline = 10 * time.Minute
	// UploadDeadline lets 4 GiB through at 0.6 MiB/s, in and out.
	UploadDeadline = 2 * time.Hour
)

// handle refuses what the route does not know, and runs the handler.
func (r *Route) handle(c *gin.Context) error {
	if err := r.checkQuery(c); err != nil {
		return err
	}
	if r.Bare {
		if err := body.ReadNone(c); err != nil {
			return err
		}
	}
	return r.Handler(c)
}

// Serve runs the handler and writes the failure that it returns.
func (r *Route) Serve(c *gin.Context) {
	if err := r.handle(c); err != nil {
		r.Refuse(c, err)
	}
}

// Refuse writes a failure as the route writes them.
func (r *Route) Refuse(c *gin.Context, err error) {
	if r.Fail != nil {
		r.Fail(c, err)
		return
	}
	respond.Error(c, r.Interface, err)
}
