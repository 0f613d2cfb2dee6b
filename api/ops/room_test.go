package ops

import (
	"net"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/api/connection"
	"github.com/slipway-qa/slipway/tasks/admission"
)

func TestMetricsOfRooms(t *testing.T) {
	t.Parallel()
	m := NewMetrics(MetricsConfig{Version: "test"})
	room := admission.New(admission.Config{Name: "uploads", Capacity: 19})
	for organization := range int64(5) {
		for range organization + 1 {
			_, err := room.Enter(t.Context(), admission.Caller{Organization: organization}, 1)
			require.NoError(t, err)
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	m.AddRooms(room)
	m.SetListener(connection.Listen(listener, connection.Config{}))
	rec := httptest.NewRecorder()
	m.Handler().ServeHTTP(rec, httptest.NewRequest("GET", "/metrics", nil))
	for _, line := range []string{`slipway_admission_capacity{room="uploads"} 19`, `slipway_admission_held{room="uploads"} 15`,
		`slipway_admission_waiting{room="uploads"} 0`, `slipway_admission_admitted_total{room="uploads"} 15`,
		`slipway_admission_refused_total{room="uploads"} 0`, `slipway_admission_evicted_total{room="uploads"} 0`,
		`slipway_admission_organization_held{organization="4",room="uploads"} 5`,
		`slipway_connections_open 0`, `slipway_connections_refused_total 0`, `slipway_connections_displaced_total 0`} {
		require.Contains(t, rec.Body.String(), line+"\n")
	}
	require.NotContains(t, rec.Body.String(), `organization="0"`, "the largest alone")
}
