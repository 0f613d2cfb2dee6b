package api

import (
	_ "embed"
	"net/http"

	"github.com/gin-gonic/gin"
)

// openapi is the description of every route, in OpenAPI 3.1.
//
//go:embed openapi.json
var openapi []byte

// describe serves GET /openapi.json.
func describe(c *gin.Context) error {
	// The description changes with the binary only, and any page may show it.
	c.Header("Cache-Control", "public, max-age=300")
	c.Header("Access-Control-Allow-Origin", "*")
	c.Data(http.StatusOK, "application/json; charset=utf-8", openapi)
	return nil
}
