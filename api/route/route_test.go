package route_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage"
)

func serve(r route.Route) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	c, _ := gin.CreateTestContext(rec)
	c.Request = httptest.NewRequest("GET", "/", nil)
	r.Serve(c)
	return rec
}

func TestServe(t *testing.T) {
	t.Parallel()
	missing := func(*gin.Context) error { return storage.ErrNotFound }
	rec := serve(route.Route{Handler: missing})
	require.Equal(t, 404, rec.Code)
	require.JSONEq(t, `{"error":"not found"}`, rec.Body.String())
	rec = serve(route.Route{Interface: respond.InterfaceLegacy, Handler: missing})
	require.JSONEq(t, `{"status":"fail","code":404,"message":"not found"}`, rec.Body.String())
	rec = serve(route.Route{Handler: missing, Fail: func(c *gin.Context, err error) { c.String(418, err.Error()) }})
	require.Equal(t, 418, rec.Code)
	rec = serve(route.Route{Handler: func(c *gin.Context) error { return respond.Empty(c, http.StatusNoContent) }})
	require.Equal(t, 204, rec.Code)
	rec = serve(route.Route{Handler: func(c *gin.Context) error {
		c.String(200, "half")
		return errors.New("broken")
	}})
	require.Equal(t, "half", rec.Body.String(), "an answer that has begun stays as it is")
}
