package api_test

import (
	"net/http/httptest"
	"testing"
)

// BenchmarkRouter is what the router costs around a handler of the hot intake.
func BenchmarkRouter(b *testing.B) {
	h, err := routerWithoutServices()
	if err != nil {
		b.Fatal(err)
	}
	for name, path := range map[string]string{"post": "/post?token=x", "path": "/universe/token/json"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", path, nil))
			}
		})
	}
}
