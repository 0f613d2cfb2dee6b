package api

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage/account"
)

// crashFormat reports whether a text is a format of crash submission.
func crashFormat(format string) bool {
	switch format {
	case "json", "minidump", "proguard", "symbols", "sourcemap", "plcrash", "unreal", "unity":
		return true
	}
	return false
}

// ownSegment reports whether a first segment begins paths of the api itself.
func ownSegment(segment string) bool {
	switch segment {
	case "api", "v1", "ai-authoring", "objects", "ops", "post", "install", "session", "upload", "buildid", "debuginfod",
		"symbolserver", "console":
		return true
	}
	return false
}

// crashToken reports whether a segment has the form of a crash token: ours, or the 64
// hexadecimal digits that clients were configured with for other services.
func crashToken(segment string) bool {
	if key, err := account.ParseKey(segment); err == nil {
		return key.Kind == account.KindCrash
	}
	return len(segment) == 64 && !strings.ContainsFunc(segment, func(r rune) bool {
		return !(r >= '0' && r <= '9' || r >= 'a' && r <= 'f' || r >= 'A' && r <= 'F')
	})
}

// crashParams reads universe, token and format out of a path. Behind what looks
// like a token any format is for the receiver to refuse.
func crashParams(path string) (gin.Params, bool) {
	if strings.Count(path, "/") > 4 {
		return nil, false
	}
	parts := strings.Split(strings.TrimSuffix(strings.TrimPrefix(path, "/"), "/"), "/")
	if len(parts) != 3 || parts[0] == "" || parts[1] == "" || parts[2] == "" || ownSegment(parts[0]) {
		return nil, false
	}
	if !crashFormat(parts[2]) && !crashToken(parts[1]) {
		return nil, false
	}
	return gin.Params{{Key: "universe", Value: parts[0]}, {Key: "token", Value: parts[1]}, {Key: "format", Value: parts[2]}}, true
}

func (r *router) noRoute(c *gin.Context) {
	if params, ok := crashParams(c.Request.URL.Path); ok {
		handler, ok := r.late[c.Request.Method]
		if ok {
			c.Params = params
			c.Status(http.StatusOK) // gin has set 404
			handler(c)
			return
		}
		r.unmatched(c)
		c.Header("Allow", "OPTIONS, POST")
		respond.Error(c, respond.InterfaceCrash, methodNotAllowed())
		return
	}
	r.unmatched(c)
	r.refuse(c, &respond.Problem{Status: http.StatusNotFound, Text: "there is nothing at this address"})
}

// refuse writes why no route serves a request: as a page where pages are, else in the shape
// of the interface that the path is of.
func (r *router) refuse(c *gin.Context, err error) {
	path := c.Request.URL.Path
	if rest, ok := strings.CutPrefix(path, "/console"); ok && (rest == "" || rest[0] == '/') && r.cfg.Console != nil {
		r.cfg.Console.Unmatched(c, err)
		return
	}
	respond.Error(c, interfaceOf(path), err)
}

// unmatched bounds a request without a route. Its body is of no interest, so the
// connection is given up instead of reading on to the next request.
func (r *router) unmatched(c *gin.Context) {
	if c.Request.Body != nil && c.Request.ContentLength != 0 {
		c.Header("Connection", "close")
	}
	r.bound(c, served(c), r.cfg.RequestTimeout)
}

func (r *router) noMethod(c *gin.Context) {
	r.unmatched(c)
	r.refuse(c, methodNotAllowed())
}

func methodNotAllowed() error {
	return &respond.Problem{Status: http.StatusMethodNotAllowed, Text: "this method is not allowed at this address"}
}

// interfaceOf returns the interface by the path's prefix; v3's shape is the plain
// one, so what belongs to none gets it too.
func interfaceOf(path string) respond.Interface {
	for _, p := range []struct {
		prefix string
		of     respond.Interface
	}{
		{"/api/1", respond.InterfaceLegacy}, {"/api/2", respond.InterfaceLegacy},
		{"/api/upload", respond.InterfaceLegacy}, {"/upload", respond.InterfaceLegacy},
		{"/v1/ai-authoring", respond.InterfaceAuthoring}, {"/ai-authoring/v1", respond.InterfaceAuthoring},
		{"/post", respond.InterfaceCrash}, {"/api/post", respond.InterfaceCrash},
		{"/api/unique-events", respond.InterfaceCrash}, {"/api/summed-events", respond.InterfaceCrash}, {"/api/tunnel", respond.InterfaceCrash},
	} {
		if rest, ok := strings.CutPrefix(path, p.prefix); ok && (rest == "" || rest[0] == '/') {
			return p.of
		}
	}
	return respond.InterfaceV3
}
