package localservice

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMinioStartsAgain(t *testing.T) {
	t.Parallel()
	dir := scratch(t)
	var former string
	for range 2 {
		folder := open(t, dir)
		began := time.Now()
		server, err := folder.Minio(t.Context(), MinioConfig{})
		require.NoError(t, err)
		t.Logf("ready after %v", time.Since(began).Round(time.Millisecond))
		require.Regexp(t, `^s3://slipway:[0-9a-f]{48}@127\.0\.0\.1:\d+\?region=us-east-1&tls=0$`, server.URL())
		if former != "" {
			require.Equal(t, former, server.URL())
		}
		former = server.URL()

		// A request without a signature is refused.
		response, err := http.Get("http://" + server.Addr() + "/")
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, http.StatusForbidden, response.StatusCode)
		require.NoError(t, folder.Close(t.Context()))
	}
	_, err := open(t, dir).Minio(t.Context(), MinioConfig{Region: "../etc"})
	require.ErrorContains(t, err, "no region")
}
