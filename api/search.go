package api

import (
	"cmp"
	"net/http"
	"runtime"
	"slices"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/tasks/admission"
)

// searches are the routes that read many rows to show some: each takes a processor of the database for
// as long as it runs. Organizations share how many run at once in a process.
func searches() []string {
	return []string{
		"/api/v3/crash-groups", "/api/v3/crash-groups/:id", "/api/v3/crash-groups/:id/crashes", "/api/v3/crash-groups/:id/stacks",
		"/api/v3/crash-groups/:id/attributes", "/api/v3/crash-groups/:id/history", "/api/v3/crash-groups/facets",
		"/api/v3/crash-attributes", "/api/v3/crashes", "/api/v3/crash-projects/:id/versions",
		"/api/v3/audits", "/api/2/audits", "/api/2/audits/admin-trail", "/api/2/audits/tester-trail", "/api/1/audits",
		"/api/v3/testers", "/api/1/testers", "/api/v3/builds/:id/invites",
		"/api/v3/symbols", "/api/v3/symbols/missing", "/api/v3/tasks", "/api/v3/devices",
		"/api/v3/projects/:id/sessions", "/api/v3/projects/:id/devices", "/api/v3/builds/:id/sessions", "/api/v3/builds/:id/devices",
		"/api/v3/sessions/:id/events", "/api/v3/feedbacks", "/api/1/feedbacks", "/api/v3/webhooks/:id/deliveries",
		"/api/v3/search", "/api/v3/overview",
	}
}

// changes are the routes that read many rows to change those that match: they take the places
// of searches.
func changes() []string {
	return []string{"/api/v3/tasks/retry", "/api/v3/tasks/cancel", "/api/v3/tasks/run", "/api/v3/crash-groups/change"}
}

// exports are the routes that write all rows to a client, as fast as that one reads: they do
// not take the places of searches.
func exports() []string { return []string{"/api/v3/audits.csv", "/api/v3/devices/export"} }

// exportsMost exports run at once, and exportsHeadroom more for organizations that have none.
const (
	exportsMost     = 4
	exportsHeadroom = 2
)

// Shared are the rooms of the requests that the router lets organizations share.
type Shared struct{ searches, exports *admission.Room }

// Rooms are the rooms, for metrics.
func (s *Shared) Rooms() []*admission.Room { return []*admission.Room{s.searches, s.exports} }

// of returns the room of a route; nil: it has none.
func (s *Shared) of(method, path string) *admission.Room {
	switch {
	case method == http.MethodGet && slices.Contains(searches(), path), method == http.MethodPost && slices.Contains(changes(), path):
		return s.searches
	case method == http.MethodGet && slices.Contains(exports(), path):
		return s.exports
	}
	return nil
}

// around returns the handler of a route behind its room, if it has one.
func (s *Shared) around(line route.Route) route.Handler {
	room := s.of(line.Method, line.Path)
	if room == nil {
		return line.Handler
	}
	return share(room, line.Handler, room == s.exports)
}

// NewShared returns the rooms, for most searches at once in a process; 0: as many as it
// has processors, at least two.
func NewShared(most int) *Shared {
	if most <= 0 {
		most = max(2, runtime.GOMAXPROCS(0))
	}
	return &Shared{
		searches: admission.New(admission.Config{Name: "searches", Capacity: int64(most), Headroom: int64(max(1, most/2))}),
		exports:  admission.New(admission.Config{Name: "exports", Capacity: exportsMost, Headroom: exportsHeadroom}),
	}
}

// share puts a room before a handler; streams: it reads rows while it writes its answer.
func share(room *admission.Room, handler route.Handler, streams bool) route.Handler {
	return func(c *gin.Context) error {
		caller := auth.CallerOf(c.Request.Context())
		if caller == nil {
			return handler(c)
		}
		place, err := room.Enter(c.Request.Context(), admission.Caller{Organization: caller.OrganizationID,
			Key: strconv.FormatInt(cmp.Or(caller.KeyID, -caller.SessionID), 10)}, 1)
		if err != nil {
			return err
		}
		defer place.Leave()
		if !streams {
			c.Writer = &leaving{c.Writer, place}
		}
		return handler(c)
	}
}

// leaving returns the place of a search when its answer begins: the rows are read by then, and
// a client that reads slowly is to hold nothing that others wait for.
type leaving struct {
	gin.ResponseWriter
	place *admission.Place
}

func (w *leaving) Write(p []byte) (int, error) {
	w.place.Leave()
	return w.ResponseWriter.Write(p)
}

func (w *leaving) WriteString(s string) (int, error) {
	w.place.Leave()
	return w.ResponseWriter.WriteString(s)
}

// Unwrap is for http.ResponseController.
func (w *leaving) Unwrap() http.ResponseWriter { return w.ResponseWriter }
