package api

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/tasks/admission"
)

// Searches of one organization at a time leave room for another one.
func TestSearchesAreShared(t *testing.T) {
	t.Parallel()
	shared := NewShared(3)
	require.Nil(t, shared.of("POST", "/post"))
	require.Nil(t, shared.of("POST", "/api/v3/symbols"), "an upload")
	require.NotNil(t, shared.of("GET", "/api/v3/audits.csv"))
	room := shared.of("GET", "/api/v3/crashes")
	for _, path := range []string{"tasks/retry", "tasks/cancel", "tasks/run", "crash-groups/change"} {
		require.Same(t, room, shared.of("POST", "/api/v3/"+path), path)
	}
	for _, path := range []string{"crash-groups/facets", "crash-groups/:id/history"} {
		require.Same(t, room, shared.of("GET", "/api/v3/"+path), path)
	}
	release := make(chan struct{})
	handler := share(room, func(*gin.Context) error { <-release; return nil }, false)
	call := func(organization int64) <-chan error {
		c, _ := gin.CreateTestContext(httptest.NewRecorder())
		c.Request = httptest.NewRequestWithContext(auth.WithCaller(t.Context(), &auth.Caller{OrganizationID: organization},
			auth.ReadCrashes), "GET", "/", nil)
		done := make(chan error, 1)
		go func() { done <- handler(c) }()
		return done
	}
	var running []<-chan error
	for range 5 {
		running = append(running, call(1))
	}
	require.Eventually(t, func() bool { s := room.Stats(0); return s.Held == 3 && s.Waiting == 2 }, time.Minute, time.Millisecond)
	running = append(running, call(2))
	require.Eventually(t, func() bool { return room.Stats(0).Held == 4 }, time.Minute, time.Millisecond)
	close(release)
	for _, done := range running {
		require.NoError(t, <-done)
	}
	p := respond.Explain(&admission.FullError{Room: "searches", RetryAfter: 7 * time.Second})
	require.Equal(t, 429, p.Status)
	require.Equal(t, 7*time.Second, p.RetryAfter)
}

// A client that does not read its answer keeps no other search waiting.
func TestAnswersHoldNoPlaceOfSearches(t *testing.T) {
	t.Parallel()
	room := NewShared(2).of("GET", "/api/v3/crashes")
	for _, streams := range []bool{false, true} {
		handler := share(room, func(c *gin.Context) error {
			require.EqualValues(t, 1, room.Stats(0).Held)
			c.JSON(200, []int{1})
			if streams {
				require.EqualValues(t, 1, room.Stats(0).Held)
			} else {
				require.Zero(t, room.Stats(0).Held)
			}
			return nil
		}, streams)
		rec := httptest.NewRecorder()
		c, _ := gin.CreateTestContext(rec)
		c.Request = httptest.NewRequestWithContext(auth.WithCaller(t.Context(), &auth.Caller{OrganizationID: 1}, auth.ReadCrashes),
			"GET", "/", nil)
		require.NoError(t, handler(c))
		require.Equal(t, "[1]", rec.Body.String())
		require.Zero(t, room.Stats(0).Held)
	}
}

// Every path of the lists is a route that the description has.
func TestSharedRoutesExist(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("openapi.json")
	require.NoError(t, err)
	var doc struct {
		Paths map[string]struct {
			Get, Post *struct {
				Responses map[string]any
			}
		}
	}
	require.NoError(t, json.Unmarshal(raw, &doc))
	for _, path := range slices.Concat(searches(), changes(), exports()) {
		methods := doc.Paths[regexp.MustCompile(`:(\w+)`).ReplaceAllString(path, "{$1}")]
		described := methods.Get
		if slices.Contains(changes(), path) {
			described = methods.Post
		}
		require.NotNil(t, described, path)
		require.Contains(t, described.Responses, "429", path)
	}
}

// Changes of all that match take a place; uploads beside them take none.
func TestChangesOfManyAreShared(t *testing.T) {
	t.Parallel()
	for path, held := range map[string]int{"/api/v3/tasks/cancel": 1, "/api/v3/symbols": 0} {
		shared := NewShared(2)
		line := route.Route{Method: "POST", Path: path, Handler: func(*gin.Context) error {
			require.EqualValues(t, held, shared.searches.Stats(0).Held, path)
			return nil
		}}
		c, _ := gin.CreateTestContext(httptest.NewRecorder())
		c.Request = httptest.NewRequestWithContext(auth.WithCaller(t.Context(), &auth.Caller{OrganizationID: 1}, auth.ReadCrashes),
			"POST", "/", nil)
		require.NoError(t, shared.around(line)(c))
	}
}
