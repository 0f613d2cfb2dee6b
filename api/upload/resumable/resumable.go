// Package resumable receives files in parts, so that the upload of a large one goes on after
// a lost connection or a killed job.
//
// A sender begins an upload and learns the size of its parts, sends them by a request each,
// and completes the upload by naming it (upload_id) where a file would stand: with a build,
// or with symbols (package upload calls Complete). Begun again with the same Idempotency-Key
// it is the same upload, with the parts that are there.
//
// A part goes into the object store as it comes, hashed on its way, and takes a slot of
// uploads like a whole file. It counts once it is recorded. A part that is recorded stays:
// who sends it again has its bytes compared. Of two senders at once the first to end wins.
// Parts that come in order cost no second look at their bytes, also when a part begins while
// the one before it is being stored (order.go); what came otherwise is read when the parts
// are joined, for the SHA-256 of the whole, which is never the sender's word.
//
// What the object store has lost is forgotten and asked for again: 409 names the parts.
// Bytes of an upload that is not completed go after a day, or an hour when no part has come
// (task upload:expiry).
package resumable

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/body"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/quota"
	"github.com/slipway-qa/slipway/storage/resumable"
	"github.com/slipway-qa/slipway/tasks/admission"
)

const (
	// defaultLeastPart is what a part has at least: what one request to the object store
	// carries, which signs it by the digest that was taken of the part. A lost connection costs
	// that much.
	defaultLeastPart = object.PartUnit
	// mostPart bounds a part, and mostParts is how many a file has until that: each is a row.
	mostPart  = 128 << 20
	mostParts = 512
	// maxUnfinished uploads may be open in an organization: a hundred jobs at once.
	maxUnfinished = 100
	// unfinishedFiles of the largest size may be unfinished in an organization.
	unfinishedFiles = 16
	// maxFileName bounds a name in characters, as file systems do.
	maxFileName = 255
)

// Config is what the handlers work with. All but Quotas, LeastPart and Log are required.
type Config struct {
	DB      *storage.DB
	Objects object.Store
	// Slots is the room that uploads share; a part takes one slot of it.
	Slots *admission.Room
	// Quotas bound what the organization stores; nil: nothing does.
	Quotas *quota.Quotas
	// MaxBytes bounds a file.
	MaxBytes int64
	// LeastPart is the least size of parts, a multiple of object.PartUnit; default 16 MiB.
	LeastPart int64
	Log       *slog.Logger // nil: slog.Default
}

// Handlers receive files in parts.
type Handlers struct {
	cfg   Config
	order order
}

// New returns the handlers.
func New(cfg Config) (*Handlers, error) {
	if cfg.DB == nil || cfg.Objects == nil || cfg.Slots == nil || cfg.MaxBytes < 1 {
		return nil, errors.New("resumable uploads: database, object store, slots and the largest file are required")
	}
	if cfg.LeastPart == 0 {
		cfg.LeastPart = defaultLeastPart
	}
	if cfg.LeastPart < 0 || cfg.LeastPart%object.PartUnit != 0 {
		return nil, errors.New("resumable uploads: the least part must be a multiple of object.PartUnit")
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	return &Handlers{cfg: cfg, order: order{parts: map[partKey]*coming{}}}, nil
}

// Routes are the room's routes.
func (h *Handlers) Routes() []route.Route {
	const v3 = respond.InterfaceV3
	return []route.Route{
		{Method: http.MethodPost, Path: "/api/v3/uploads", Interface: v3, Query: route.NoQuery(), Action: auth.UploadBuilds, Handler: h.Begin},
		{Method: http.MethodGet, Path: "/api/v3/uploads/:id", Interface: v3, Query: route.NoQuery(), Action: auth.UploadBuilds, Handler: h.Get},
		{Method: http.MethodDelete, Path: "/api/v3/uploads/:id", Interface: v3, Bare: true, Query: route.NoQuery(),
			Action: auth.UploadBuilds, Handler: h.Delete},
		{Method: http.MethodPut, Path: "/api/v3/uploads/:id/parts/:number", Interface: v3, Query: route.NoQuery(), Action: auth.UploadBuilds,
			Handler: h.PutPart, Body: route.OwnBound, Deadline: route.UploadDeadline},
	}
}

// view is an upload as version 3 shows it.
type view struct {
	ID       uuid.UUID       `json:"id"`
	FileName string          `json:"file_name"`
	FileSize int64           `json:"file_size"`
	PartSize int64           `json:"part_size"`
	Parts    []partView      `json:"parts"`
	State    resumable.State `json:"state"`
	// SHA256 is the server's, "" while the upload is open.
	SHA256    string    `json:"sha256"`
	BuildID   *int64    `json:"build_id"`
	SymbolID  *int64    `json:"symbol_id"`
	ExpiresAt time.Time `json:"expires_at"`
}

type partView struct {
	Number int    `json:"number"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
	// CRC32C is of the bytes that the answered request sent, in hexadecimal.
	CRC32C string `json:"crc32c,omitempty"`
}

func viewOf(u *resumable.Upload) view {
	v := view{ID: u.ID, FileName: u.FileName, FileSize: u.Size, PartSize: u.PartSize, Parts: make([]partView, len(u.Parts)), State: u.State,
		SHA256: u.SHA256, BuildID: u.BuildID, SymbolID: u.SymbolID, ExpiresAt: u.ExpiresAt.UTC()}
	for i, p := range u.Parts {
		v.Parts[i] = partView{Number: p.Number, Size: p.Size, SHA256: p.SHA256}
	}
	return v
}

// OwnerOf is who uploads of a caller belong to.
func OwnerOf(c *auth.Caller) resumable.Owner {
	return resumable.Owner{OrganizationID: c.OrganizationID, UserID: c.UserID}
}

// beginRequest is the body of POST /api/v3/uploads.
type beginRequest struct {
	FileName string  `json:"file_name"`
	FileSize int64   `json:"file_size"`
	SHA256   *string `json:"sha256"`
}

// Begin serves POST /api/v3/uploads: 201 with a new upload, 200 with that of the same key.
func (h *Handlers) Begin(c *gin.Context) error {
	n, err := h.newUpload(c)
	if err != nil {
		return err
	}
	ctx := c.Request.Context()
	u, err := resumable.ByKey(ctx, h.cfg.DB, n)
	if !errors.Is(err, storage.ErrNotFound) {
		return h.begun(c, u, http.StatusOK, err)
	}
	if n.StoreID, err = h.cfg.Objects.BeginParts(ctx, resumable.Key(n.ID), object.WriteOptions{}); err != nil {
		return err
	}
	created := false
	err = h.cfg.DB.InTx(ctx, func(tx *storage.Tx) (err error) {
		if err := h.cfg.Quotas.Lock(ctx, tx, n.Owner.OrganizationID); err != nil {
			return err
		}
		bounds := resumable.Bounds{Uploads: maxUnfinished, Bytes: h.cfg.MaxBytes * unfinishedFiles}
		if u, created, err = resumable.Begin(ctx, tx, n, bounds); err != nil {
			return err
		}
		return h.cfg.Quotas.Check(ctx, tx, n.Owner.OrganizationID, 0, quota.StoredBytes)
	})
	if err != nil || !created {
		var unknown *storage.UnknownOutcomeError
		if !errors.As(err, &unknown) { // else the row may be there: the expiry, or the sweep, removes what is stored
			h.remove(ctx, &resumable.Upload{ID: n.ID, State: resumable.Open, StoreID: n.StoreID, Size: n.Size, PartSize: n.PartSize})
		}
		return h.begun(c, u, http.StatusOK, err)
	}
	return h.begun(c, u, http.StatusCreated, nil)
}

// problemTooMany says until when the places are taken at the longest. Most uploads are completed
// in minutes: a sender asks again meanwhile.
func problemTooMany(err *resumable.TooManyError, now time.Time) error {
	who := "the organization has"
	if err.User {
		who = "you have"
	}
	return &respond.Problem{Status: http.StatusTooManyRequests, RetryAfter: max(busyRetry, min(err.Ends.Sub(now), mostRetry)), Err: err,
		Text: who + " too many unfinished uploads: complete or delete some, or wait; the first of them ends at " +
			err.Ends.UTC().Format(time.RFC3339)}
}

func (h *Handlers) begun(c *gin.Context, u *resumable.Upload, status int, err error) error {
	var tooMany *resumable.TooManyError
	switch {
	case errors.Is(err, resumable.ErrOtherFile):
		return &respond.Problem{Status: http.StatusConflict, Err: err,
			Text: "this Idempotency-Key stands for an upload of another file name, size or SHA-256: take another key, or delete that upload"}
	case errors.As(err, &tooMany):
		return problemTooMany(tooMany, time.Now())
	case err != nil:
		return err
	}
	return respond.JSON(c, status, gin.H{"upload": viewOf(u)})
}

// newUpload reads what is to be uploaded.
func (h *Handlers) newUpload(c *gin.Context) (n resumable.New, err error) {
	if n.IdempotencyKey, err = route.IdempotencyKeyOf(c.Request); err != nil {
		return n, err
	}
	var in beginRequest
	if err := body.Read(c, &in); err != nil {
		return n, err
	}
	in.FileName = in.FileName[strings.LastIndexAny(in.FileName, `/\`)+1:] // build servers send whole paths
	if n.FileName, err = storage.Name("file_name", in.FileName, maxFileName); err != nil {
		return n, err
	}
	switch {
	case in.FileSize < 1:
		return n, storage.Invalid("file_size", "must be a number of bytes above 0")
	case in.FileSize > min(h.cfg.MaxBytes, object.MaxMultipart):
		return n, &respond.Problem{Status: http.StatusRequestEntityTooLarge,
			Text: "the file is longer than " + itoa(min(h.cfg.MaxBytes, object.MaxMultipart)) + " bytes"}
	}
	if in.SHA256 != nil && *in.SHA256 != "" {
		if n.SHA256, err = digest("sha256", *in.SHA256); err != nil {
			return n, err
		}
	}
	n.ID, n.Owner = storage.NewID(), OwnerOf(auth.CallerOf(c.Request.Context()))
	n.Size, n.PartSize = in.FileSize, h.partSize(in.FileSize)
	return n, nil
}

// partSize is the size of the parts of a file: the smallest that makes no more than mostParts of
// them, within bounds.
func (h *Handlers) partSize(size int64) int64 {
	units := (size + mostParts*object.PartUnit - 1) / (mostParts * object.PartUnit)
	return max(h.cfg.LeastPart, min(units*object.PartUnit, mostPart))
}

// Get serves GET /api/v3/uploads/{id}.
func (h *Handlers) Get(c *gin.Context) error {
	id, err := uploadID(c)
	if err != nil {
		return err
	}
	u, err := resumable.Get(c.Request.Context(), h.cfg.DB, OwnerOf(auth.CallerOf(c.Request.Context())), id)
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"upload": viewOf(u)})
}

// Delete serves DELETE /api/v3/uploads/{id}. What took the file of an upload stays.
func (h *Handlers) Delete(c *gin.Context) error {
	id, err := uploadID(c)
	if err != nil {
		return err
	}
	ctx := c.Request.Context()
	u, err := resumable.Delete(ctx, h.cfg.DB, OwnerOf(auth.CallerOf(ctx)), id)
	if err != nil {
		return err
	}
	h.remove(ctx, u)
	return respond.Empty(c, http.StatusNoContent)
}

// removeTimeout bounds the deletion of bytes, which goes on although the caller may be gone.
const removeTimeout = 15 * time.Second

// remove deletes what is stored of an upload whose row is gone.
func (h *Handlers) remove(ctx context.Context, u *resumable.Upload) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
	defer cancel()
	if err := u.Remove(ctx, h.cfg.Objects); err != nil {
		h.cfg.Log.WarnContext(ctx, "parts of an upload not deleted, the sweep will", "upload", u.ID, "error", err)
	}
}
