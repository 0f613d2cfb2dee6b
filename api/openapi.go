package api

import (
	_ "embed"
	"net/http"

	"github.com/gin-gonic/gin"
)

// openapi is the description of every route, in OpenAPI 3.0.3.
//
//go:embed openapi.json
var openapi []byte

// description answers GET /openapi.json.
func description(c *gin.Context) {
	// The description changes with the binary only, and any page may show it.
	c.Header("Cache-Control", "public, max-age=300")
	c.Header("Access-Control-Allow-Origin", "*")
	c.Data(http.StatusOK, "application/json; charset=utf-8", openapi)
}
