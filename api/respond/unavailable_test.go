package respond

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/object"
)

// A service that cannot serve is 503 in every interface, with the reason and the time to
// come again, and without a host.
func TestReasonInEveryInterface(t *testing.T) {
	t.Parallel()
	full := &object.UnavailableError{Store: "s3://inner.example/builds", Reason: "no space left", Full: true,
		Err: errors.New("XMinioStorageFull at inner.example")}
	const text = "the object store is not available at the moment: no space left"
	for of, want := range map[Interface]string{
		InterfaceV3:        `{"error":"` + text + `"}`,
		InterfaceLegacy:    `{"status":"fail","code":503,"message":"` + text + `"}`,
		InterfaceAuthoring: `{"error":{"code":"UNAVAILABLE","detail":"` + text + `"}}`,
		InterfaceCrash:     `{"error":{"code":10,"message":"` + text + `"}}`,
	} {
		recorder := httptest.NewRecorder()
		c, _ := gin.CreateTestContext(recorder)
		c.Request = httptest.NewRequest(http.MethodPost, "/", nil)
		Error(c, of, fmt.Errorf("store a file: %w", full))
		require.Equal(t, http.StatusServiceUnavailable, recorder.Code)
		require.Equal(t, "60", recorder.Header().Get("Retry-After"))
		require.JSONEq(t, want, recorder.Body.String())
	}
	p := Explain(&storage.ConnectError{Host: "inner.example:5432", Err: errors.New("refused")})
	require.Equal(t, http.StatusServiceUnavailable, p.Status)
	require.NotContains(t, p.Text, "inner.example")
	require.Equal(t, "no space left", Cause(fmt.Errorf("x: %w", full)))
	require.Empty(t, Cause(errors.New("a defect")))
}
