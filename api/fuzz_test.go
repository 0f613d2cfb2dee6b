package api_test

import (
	"io"
	"log/slog"
	"net/http"
	"reflect"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api"
	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/storage"
)

// routerWithoutServices is a router whose database is never asked: requests
// without credentials end before that.
func routerWithoutServices() (http.Handler, error) {
	db, err := storage.Open(storage.Config{URL: "postgres://nobody:x@127.0.0.1:1/none"})
	if err != nil {
		return nil, err
	}
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	a, err := auth.New(auth.Config{DB: db, Region: "local", Log: log})
	if err != nil {
		return nil, err
	}
	cfg := api.Config{Log: log, Auth: a}
	fill(reflect.ValueOf(&cfg).Elem(), func(c *gin.Context) { c.Status(http.StatusOK) })
	return api.New(cfg)
}
