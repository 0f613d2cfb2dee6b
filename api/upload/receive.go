package upload

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/pace"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/route"
	"github.com/slipway-qa/slipway/api/upload/resumable"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/idempotency"
	"github.com/slipway-qa/slipway/storage/object"
	quotas "github.com/slipway-qa/slipway/storage/quota"
)

const (
	// maxParts bounds the parts of a form; clients send some dozens, and one for each
	// key of metadata.
	maxParts = 2000
)

// mode is what a form is for.
type mode int

const (
	build        mode = iota // a build, with its symbols perhaps
	buildSymbols             // a symbols file for builds
	symbolFiles              // symbol files, one or several
)

// hasTexts reports whether the form has texts of a build.
func (m mode) hasTexts() bool { return m == build }

// receiver reads one request: its header, then the parts of its form as they come.
// What it has at the end is read by upload, which stores it.
type receiver struct {
	cfg       *Config
	resumable *resumable.Handlers
	c         *gin.Context
	of        respond.Interface
	mode      mode
	action    auth.Action

	idempotencyKey string
	caller         *auth.Caller        // nil until a key was shown
	earlier        *distribution.Build // that has the idempotency key already

	permit       permit
	pace         *pace.Body
	body         *bodyReader
	form         *form
	fields       fields
	textBytes    int     // of optional texts
	controlBytes int     // of other text parts
	params       *params // of the fields, once the form is complete

	file    *receivedFile
	files   []*receivedFile // of symbolFiles
	symbols *receivedFile
	writers []object.Writer // of all files, also of those that are left out

	objects  []string // keys of stored objects
	unused   []string // keys of objects that are deleted in any case
	warnings []string // of this response, beside the build's own
}

// errRepeated: a build with the idempotency key exists (receiver.earlier).
var errRepeated = errors.New("the upload was received before")

// ctx carries the caller once it is known.
func (r *receiver) ctx() context.Context { return r.c.Request.Context() }

// receive reads the request. When it returns nil, the caller is known, the
// parameters are valid and the objects are stored; after an error none is kept.
func (r *receiver) receive() error {
	defer r.permit.release()
	defer r.pace.FreeAll()
	defer r.abortWriters()
	if err := r.readHeader(); err != nil {
		return err
	}
	if err := r.readForm(); err != nil {
		return err
	}
	if err := r.checkForm(); err != nil {
		return err
	}
	if err := r.completeNamed(); err != nil {
		return err
	}
	return r.commitFiles()
}

// readHeader checks what is known before the body.
func (r *receiver) readHeader() error {
	request := r.c.Request
	var err error
	if r.idempotencyKey, err = route.IdempotencyKeyOf(request); err != nil {
		return err
	}
	caller, err := r.cfg.Auth.Identify(r.c, r.action)
	if err != nil {
		return err
	}
	if caller != nil {
		if err := r.authenticated(caller); err != nil {
			return err
		}
	}
	boundary := boundaryOf(request.Header.Get("Content-Type"))
	if boundary == "" || len(boundary) > maxBoundary {
		return refuse(http.StatusBadRequest, 0, "the body must be multipart/form-data with a boundary; file is required as a part of it")
	}
	limit := r.cfg.maxBody()
	if request.ContentLength > limit {
		return &http.MaxBytesError{Limit: limit}
	}
	r.body = &bodyReader{r: request.Body, limit: limit}
	r.form = newForm(r.body, boundary)
	return nil
}

// readForm reads the parts in the order in which they come.
func (r *receiver) readForm() error {
	for parts := 1; ; parts++ {
		p, err := r.form.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return arrival(err)
		}
		if parts > maxParts {
			return problemTooLarge("the form has more than " + strconv.Itoa(maxParts) + " parts")
		}
		if err := r.readPart(p); err != nil {
			return err
		}
	}
}

// readPart leaves parts without a meaning unread: the form skips them.
func (r *receiver) readPart(p *part) error {
	name := r.fields.spell(p.name).name
	switch {
	case r.mode == symbolFiles && name == fieldFile:
		return r.readSymbolFile(p)
	case name == fieldFile, name == fieldSymbols && r.mode == buildSymbols:
		return r.readFile(p)
	case name == fieldSymbols:
		return r.readSymbols(p)
	case name == "", p.isFile:
		return nil
	}
	return r.readText(p, name)
}

// authenticated goes on with a known caller: the bounds for uploads without a key
// end here.
func (r *receiver) authenticated(caller *auth.Caller) error {
	r.caller = caller
	if err := r.permit.authenticated(r.ctx(), caller); err != nil {
		return err
	}
	r.pace.Lift()
	if r.idempotencyKey != "" && r.mode == build {
		if err := r.findEarlier(); err != nil {
			return err
		}
	}
	return r.checkQuotas()
}

// checkQuotas refuses before the body what would not be stored after it. Whether all of it
// fits shows when it is stored.
func (r *receiver) checkQuotas() error {
	what := []quotas.Resource{quotas.StoredBytes}
	if r.mode == build {
		what = append(what, quotas.Builds)
	}
	return r.cfg.Quotas.Check(r.ctx(), r.cfg.DB, r.caller.OrganizationID, 1, what...)
}

// findEarlier returns errRepeated when the idempotency key stands for a build.
func (r *receiver) findEarlier() error {
	since := r.cfg.Now().Add(-idempotency.Age)
	build, err := distribution.SeenUpload(r.ctx(), r.cfg.DB, r.caller.OrganizationID, r.idempotencyKey, since)
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	r.earlier = build
	return errRepeated
}

// admit waits for a slot, once something has come. An admitted form gets its large buffer
// and, of a sender without a key, must arrive quickly.
func (r *receiver) admit() error {
	if err := r.pace.First(); err != nil {
		return arrival(err)
	}
	if r.permit.slot != nil {
		return nil
	}
	if err := r.permit.acquire(r.ctx(), r.caller); err != nil {
		return err
	}
	r.pace.Hold(r.permit.slot)
	r.form.grow(formBuffer)
	if r.caller == nil {
		r.pace.Require(r.cfg.UnauthenticatedRate, r.cfg.UnauthenticatedGrace, hintKey)
	}
	return nil
}

// hintKey is how a sender without a key may send more slowly.
const hintKey = "send the key in a header, or before the file"

// checkForm checks a form that was read to its end.
func (r *receiver) checkForm() (err error) {
	if r.caller == nil {
		return problemNoKey(r.of)
	}
	if r.mode == symbolFiles {
		if len(r.files) == 0 && !r.names(fieldUploadID) {
			return problemSymbolFile()
		}
		return nil
	}
	switch named := r.names(fieldUploadID); {
	case r.file == nil && !named:
		return problemFile()
	case r.file != nil && named:
		return invalid(fieldUploadID, "stands in place of file: send one of the two")
	}
	if r.params, err = r.fields.bind(r.of); err != nil {
		return err
	}
	if err := r.checkScoped(); err != nil {
		return err
	}
	if r.file != nil && r.file.Size == 0 {
		return problemEmpty()
	}
	return nil
}

// checkScoped keeps a key with scopes from what reaches people: it uploads builds, and does
// not send mail to testers, open pages, name them, or copy builds elsewhere.
func (r *receiver) checkScoped() error {
	if r.caller.Scopes() == nil {
		return nil
	}
	for _, member := range []struct {
		name  string
		given bool
	}{{fieldNotify, r.params.notify}, {fieldSync, r.params.sync}, {fieldMode, r.params.upload.LandingPageMode != ""},
		{fieldSlug, r.params.upload.Slug != ""}} {
		if member.given {
			return refuse(http.StatusForbidden, 0, member.name+": a key with scopes must not give it")
		}
	}
	return nil
}

func (r *receiver) warn(text string) { r.warnings = append(r.warnings, text) }
