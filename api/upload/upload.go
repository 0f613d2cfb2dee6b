// Package upload receives builds and symbols from CI jobs.
//
// A request is a multipart form whose parts come in any order, the API key often
// after the file. One loop on one goroutine reads it (receive.go): a text part
// becomes a field, a file part is hashed and written to an object that is not
// visible yet. After the last part everything is checked, and only then the
// objects are committed. A wrong key, a bad parameter or a connection that
// breaks anywhere in the form aborts the writes, and nothing is kept. A request
// that authenticates by its headers is refused before its body is read.
//
// Then the package is inspected by ranges of the stored object, its icon is
// stored, and one transaction inserts the build and the tasks that were requested
// (build.go). Objects of a build that is not created after all are deleted. When
// the outcome of the transaction is unknown, the build is looked up; if that
// fails too, the objects stay for the sweep of unnamed objects.
//
// Reading is lenient (alias.go): the clients are scripts that were written for
// another service years ago. Failures are 400 with a code in the upload
// interface, success is exactly 200. Symbols are best effort.
//
// Memory is bounded by the part buffers of the object store and, for each
// upload, 256 KiB and its texts (1 MiB at most). Admission bounds the number of uploads at once and, in all and for one
// address, the uploads that have not shown a key yet and their bytes; who is not
// admitted gets 429. An upload without a key must also keep to a least rate, or
// it gets 408.
package upload

import (
	"context"
	"errors"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/remote"
	"github.com/slipway-qa/slipway/api/respond"
)

// Handlers receive builds and symbols.
type Handlers struct {
	cfg       Config
	admission *admission
}

// New returns the handlers, or an error for a Config that lacks what is required.
func New(cfg Config) (*Handlers, error) {
	if cfg.Auth == nil || cfg.DB == nil || cfg.Objects == nil || cfg.BuildView == nil {
		return nil, errors.New("upload: authenticator, database, object store and build view are required")
	}
	cfg.setDefaults()
	if cfg.UnauthenticatedBytes < cfg.maxBody() {
		return nil, errors.New("upload: the bytes without a key must allow for the largest body")
	}
	return &Handlers{cfg: cfg, admission: newAdmission(&cfg)}, nil
}

// Upload serves POST /api/upload/, which receives a build.
func (h *Handlers) Upload(c *gin.Context) error {
	return h.begin(c, respond.InterfaceLegacy).serveBuild()
}

// V3 serves POST /api/v3/builds/upload, which receives a build.
func (h *Handlers) V3(c *gin.Context) error { return h.begin(c, respond.InterfaceV3).serveBuild() }

// Symbols serves POST /upload/dsym/, which receives a symbols file for builds that
// are there.
func (h *Handlers) Symbols(c *gin.Context) error {
	u := h.begin(c, respond.InterfaceLegacy)
	u.symbolsOnly = true
	return u.serveSymbols()
}

func (h *Handlers) begin(c *gin.Context, of respond.Interface) *upload {
	return &upload{receiver: receiver{cfg: &h.cfg, c: c, of: of,
		permit: permit{admission: h.admission, from: remote.Network(c.ClientIP())}}}
}

// upload is one request on its way: it is received, then checked, stored and
// responded to.
type upload struct {
	receiver
	keep bool // the stored objects, which are deleted otherwise
}

func (u *upload) serveBuild() error {
	defer u.removeObjects()
	done, err := u.createBuild()
	if err != nil {
		u.discardBody(discardBytes, discardTime)
		return explain(err)
	}
	if u.of == respond.InterfaceV3 {
		return respond.JSON(u.c, 201, u.responseV3(done))
	}
	return respond.JSON(u.c, 200, u.response(done))
}

func (u *upload) serveSymbols() error {
	defer u.removeObjects()
	builds, err := u.attachSymbols()
	if err != nil {
		u.discardBody(discardBytes, discardTime)
		return explain(err)
	}
	return respond.JSON(u.c, 200, symbolsResponse{Status: "ok", Builds: builds})
}

// removeTimeout bounds the deletion of objects, which goes on although the caller
// may be gone. The response to a refused upload waits for it; what stays is found by
// the sweep.
const removeTimeout = 5 * time.Second

// removeObjects deletes the objects that no row names.
func (u *upload) removeObjects() {
	keys := u.unused
	if !u.keep {
		keys = append(keys, u.objects...)
	}
	if len(keys) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(u.ctx()), removeTimeout)
	defer cancel()
	if err := u.cfg.Objects.Delete(ctx, keys...); err != nil {
		u.cfg.Log.WarnContext(ctx, "objects of a refused upload not deleted, the sweep will", "keys", keys, "error", err)
	}
}
