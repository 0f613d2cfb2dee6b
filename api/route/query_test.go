package route_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
)

func TestUnknownParameters(t *testing.T) {
	t.Parallel()
	served := func(known []string, query string) *httptest.ResponseRecorder {
		r := route.Route{Method: http.MethodGet, Path: "/", Interface: respond.InterfaceV3, Query: known,
			Handler: func(c *gin.Context) error { c.Status(http.StatusNoContent); return nil }}
		g := gin.New()
		g.Handle(r.Method, r.Path, r.Serve)
		rec := httptest.NewRecorder()
		g.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), r.Method, "/?"+query, http.NoBody))
		return rec
	}
	list := []string{"page", "state[]", "attribute."}
	for query, unknown := range map[string]string{
		"": "", "page=1": "", "state=a&state=b": "", "state[]=a": "", "state%5B0%5D=a&state[12]=b": "",
		"attribute.k=1&attribute.a.b[0]=1": "",
		"stat=a":                           "stat", "page[]=1": "page[]", "page[0]=1": "page[0]", "State=a": "State", "attribute=1": "attribute",
		"state[x]=a": "state[x]", "state[=a": "state[", "=a": "", "z=1&b=1&page=2": "b", "[]=1": "[]",
	} {
		rec := served(list, query)
		if unknown == "" && query != "=a" {
			require.Equal(t, http.StatusNoContent, rec.Code, query)
			continue
		}
		require.Equal(t, http.StatusBadRequest, rec.Code, query)
		require.Contains(t, rec.Body.String(), unknown+": is no parameter of this request; there are page, state, attribute.KEY", query)
	}
	require.Equal(t, http.StatusNoContent, served(nil, "any=1").Code)
	rec := served(route.NoQuery(), "any=1")
	require.Equal(t, http.StatusBadRequest, rec.Code)
	require.Contains(t, rec.Body.String(), "there are none")
}
