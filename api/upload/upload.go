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
// (build.go). A file that came in parts before (package resumable) is named by a field
// upload_id (named.go); the same transaction takes it. Objects of a build that is not created after all are deleted. When
// the outcome of the transaction is unknown, the build is looked up; if that
// fails too, the objects stay for the sweep of unnamed objects.
//
// Reading is lenient (alias.go): the clients are scripts that were written for
// another service years ago. Failures are 400 with a code in the upload
// interface, success is exactly 200. Symbols are best effort.
//
// Memory is bounded by the part buffers of the object store and, for each
// upload, 256 KiB and its texts (1 MiB at most). Organizations share the slots of uploads
// (admission.go): who waits for one in vain gets 429. A slot is taken once the first KiB
// has come. An upload that has not shown its key yet counts for its address; its bytes are
// bounded, and it must keep to a least rate. Who is too slow, for that or because others
// wait for its slot, gets 408.
package upload

import (
	"context"
	"errors"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/pace"
	"github.com/slipway-qa/slipway/api/remote"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/upload/resumable"
	"github.com/slipway-qa/slipway/tasks/admission"
)

// Handlers receive builds and symbols.
type Handlers struct {
	cfg       Config
	rooms     *rooms
	resumable *resumable.Handlers
}

// New returns the handlers, or an error for a Config that lacks what is required.
func New(cfg Config) (*Handlers, error) {
	if cfg.Auth == nil || cfg.DB == nil || cfg.Objects == nil || cfg.BuildView == nil || cfg.Symbols == nil || cfg.SymbolView == nil ||
		cfg.Inspect == nil || cfg.InspectSymbols == nil {
		return nil, errors.New("upload: authenticator, database, stores of objects and symbols, views and inspections are required")
	}
	cfg.setDefaults()
	if cfg.UnauthenticatedBytes < cfg.maxBody() {
		return nil, errors.New("upload: the bytes without a key must allow for the largest body")
	}
	h := &Handlers{cfg: cfg, rooms: newRooms(&cfg)}
	var err error
	h.resumable, err = resumable.New(resumable.Config{DB: cfg.DB, Objects: cfg.Objects, Slots: h.rooms.slots, Quotas: cfg.Quotas,
		MaxBytes: max(cfg.MaxBytes, cfg.MaxSymbols), LeastPart: cfg.LeastPart, Log: cfg.Log})
	return h, err
}

// Resumable are the handlers of files that come in parts, which share the slots.
func (h *Handlers) Resumable() *resumable.Handlers { return h.resumable }

// Rooms are the rooms of uploads, for metrics.
func (h *Handlers) Rooms() []*admission.Room {
	return []*admission.Room{h.rooms.slots, h.rooms.bytes}
}

// Upload serves POST /api/upload/, which receives a build.
func (h *Handlers) Upload(c *gin.Context) error {
	return h.begin(c, respond.InterfaceLegacy).serveBuild()
}

// V3 serves POST /api/v3/builds/upload, which receives a build.
func (h *Handlers) V3(c *gin.Context) error { return h.begin(c, respond.InterfaceV3).serveBuild() }

// V3Symbols serves POST /api/v3/symbols, which receives symbol files.
func (h *Handlers) V3Symbols(c *gin.Context) error {
	u := h.begin(c, respond.InterfaceV3)
	u.mode, u.action = symbolFiles, auth.UploadSymbols
	u.fields.spell = spellSymbols
	return u.serveSymbolFiles()
}

// Symbols serves POST /upload/dsym/, which receives a symbols file for builds that
// are there, or will come.
func (h *Handlers) Symbols(c *gin.Context) error {
	u := h.begin(c, respond.InterfaceLegacy)
	u.mode = buildSymbols
	return u.serveSymbols()
}

func (h *Handlers) begin(c *gin.Context, of respond.Interface) *upload {
	return &upload{receiver: receiver{cfg: &h.cfg, resumable: h.resumable, c: c, of: of, action: auth.UploadBuilds,
		fields: fields{spell: spell}, pace: pace.Of(c),
		permit: permit{rooms: h.rooms, from: remote.Network(c.ClientIP())}}}
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
		return explain(err)
	}
	switch {
	case u.of == respond.InterfaceV3 && done.symbols != nil:
		return respond.JSON(u.c, 201, v3NativeResponse{Status: "ok", Symbol: u.cfg.SymbolView(done.symbols), Warnings: list(done.warnings)})
	case u.of == respond.InterfaceV3:
		return respond.JSON(u.c, 201, u.responseV3(done))
	case done.symbols != nil:
		return respond.JSON(u.c, 200, u.nativeResponse(done))
	}
	return respond.JSON(u.c, 200, u.response(done))
}

func (u *upload) serveSymbols() error {
	defer u.removeObjects()
	attached, err := u.attachSymbols()
	if err != nil {
		return explain(err)
	}
	return respond.JSON(u.c, 200, attached)
}

func (u *upload) serveSymbolFiles() error {
	defer u.removeObjects()
	stored, err := u.storeSymbolFiles()
	if err != nil {
		return explain(err)
	}
	status, views := 200, make([]any, len(stored))
	for i, s := range stored {
		views[i] = u.cfg.SymbolView(&s.Upload)
		if s.Created {
			status = 201
		}
	}
	return respond.JSON(u.c, status, symbolFilesResponse{Symbol: views[0], Symbols: views})
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
