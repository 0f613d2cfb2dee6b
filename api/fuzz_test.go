package api_test

import (
	"io"
	"log/slog"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api"
	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
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
	stub := func(c *gin.Context) error { return respond.Empty(c, http.StatusOK) }
	cfg := api.Config{Log: log, Auth: a, Routes: routes(nil, stub)}
	return api.New(cfg)
}
