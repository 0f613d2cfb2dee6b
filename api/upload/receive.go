package upload

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/object"
)

const (
	// maxParts bounds the parts of a form; clients send some dozens.
	maxParts = 200
	// maxIdempotencyKey bounds the header; ids and commit names are shorter.
	maxIdempotencyKey = 200
	// idempotencyAge is how long an Idempotency-Key stands for its build.
	idempotencyAge = 24 * time.Hour
)

// upload is one request on its way.
type upload struct {
	cfg         *Config
	c           *gin.Context
	of          respond.Interface
	symbolsOnly bool

	idempotencyKey string
	caller         *auth.Caller        // nil until a key was shown
	earlier        *distribution.Build // that has the idempotency key already

	permit    permit
	body      *bodyReader
	form      *form
	fields    fields
	textBytes int
	params    *params // of the fields, once the form is complete

	file    *receivedFile
	symbols *receivedFile
	writers []object.Writer // of all files, also of those that are left out

	objects  []string // keys of stored objects, deleted unless keep
	unused   []string // keys of objects that are deleted in any case
	keep     bool
	warnings []string // of this response, beside the build's own
}

// errRepeated: a build with the idempotency key exists (upload.earlier).
var errRepeated = errors.New("the upload was received before")

// ctx carries the caller once it is known.
func (u *upload) ctx() context.Context { return u.c.Request.Context() }

// receive reads the request. When it returns nil, the caller is known, the
// parameters are valid and the objects are stored; after an error none is kept.
func (u *upload) receive() error {
	defer u.permit.release()
	defer u.abortWriters()
	if err := u.readHeader(); err != nil {
		return err
	}
	if err := u.readForm(); err != nil {
		return err
	}
	if err := u.checkForm(); err != nil {
		return err
	}
	return u.commitFiles()
}

// readHeader checks what is known before the body.
func (u *upload) readHeader() error {
	r := u.c.Request
	u.idempotencyKey = r.Header.Get(route.IdempotencyKey)
	if err := checkIdempotencyKey(u.idempotencyKey); err != nil {
		return err
	}
	caller, err := u.cfg.Auth.Identify(u.c, auth.UploadBuilds)
	if err != nil {
		return err
	}
	if caller != nil {
		if err := u.authenticated(caller); err != nil {
			return err
		}
	}
	boundary := boundaryOf(r.Header.Get("Content-Type"))
	if boundary == "" || len(boundary) > maxBoundary {
		return refuse(http.StatusBadRequest, 0, "the body must be multipart/form-data with a boundary; file is required as a part of it")
	}
	limit := u.cfg.maxBody()
	if r.ContentLength > limit {
		return &http.MaxBytesError{Limit: limit}
	}
	u.body = &bodyReader{r: r.Body, limit: limit}
	u.form = newForm(u.body, boundary)
	return nil
}

func checkIdempotencyKey(key string) error {
	if len(key) > maxIdempotencyKey {
		return invalid(route.IdempotencyKey, "is longer than "+strconv.Itoa(maxIdempotencyKey)+" bytes")
	}
	for i := range len(key) {
		if key[i] < 0x20 || key[i] > 0x7e {
			return invalid(route.IdempotencyKey, "may hold printable ASCII")
		}
	}
	return nil
}

// readForm reads the parts in the order in which they come.
func (u *upload) readForm() error {
	for parts := 1; ; parts++ {
		p, err := u.form.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return arrival(err)
		}
		if parts > maxParts {
			return problemTooLarge("the form has more than " + strconv.Itoa(maxParts) + " parts")
		}
		if err := u.readPart(p); err != nil {
			return err
		}
	}
}

// readPart leaves parts without a meaning unread: the form skips them.
func (u *upload) readPart(p *part) error {
	name := spell(p.name).name
	switch {
	case name == fieldFile, name == fieldSymbols && u.symbolsOnly:
		return u.readFile(p)
	case name == fieldSymbols:
		return u.readSymbols(p)
	case name == "", p.isFile:
		return nil
	}
	return u.readText(p, name)
}

// authenticated goes on with a known caller: the bounds for uploads without a key
// end here.
func (u *upload) authenticated(caller *auth.Caller) error {
	u.caller = caller
	u.permit.authenticated()
	if u.body != nil {
		u.body.liftRate()
	}
	if u.idempotencyKey == "" || u.symbolsOnly {
		return nil
	}
	return u.findEarlier()
}

// findEarlier returns errRepeated when the idempotency key stands for a build.
func (u *upload) findEarlier() error {
	since := u.cfg.Now().Add(-idempotencyAge)
	build, err := distribution.SeenUpload(u.ctx(), u.cfg.DB, u.caller.OrganizationID, u.idempotencyKey, since)
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	u.earlier = build
	return errRepeated
}

// admit waits for a slot. An admitted form gets its large buffer and, of a sender
// without a key, must arrive quickly.
func (u *upload) admit() error {
	if err := u.permit.acquire(u.ctx(), u.caller != nil); err != nil {
		return err
	}
	u.form.grow(formBuffer)
	if u.caller == nil {
		end, _ := u.ctx().Deadline()
		u.body.requireRate(&minimumRate{bytesPerSecond: u.cfg.UnauthenticatedRate, grace: u.cfg.UnauthenticatedGrace, end: end,
			setDeadline: http.NewResponseController(u.c.Writer).SetReadDeadline, now: time.Now})
	}
	return nil
}

// checkForm checks a form that was read to its end.
func (u *upload) checkForm() (err error) {
	if u.caller == nil {
		return problemNoKey(u.of)
	}
	if u.file == nil {
		return problemFile()
	}
	if u.params, err = u.fields.bind(u.of); err != nil {
		return err
	}
	if u.file.Size == 0 {
		return problemEmpty()
	}
	return nil
}

func (u *upload) warn(text string) { u.warnings = append(u.warnings, text) }

// removeTimeout bounds the deletion of objects, which goes on although the caller
// may be gone; what stays is found by the sweep.
const removeTimeout = 30 * time.Second

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
