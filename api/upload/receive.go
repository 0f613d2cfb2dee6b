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
	"github.com/slipway-qa/slipway/api/remote"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution"
)

const (
	// maxParts bounds the parts of a form; clients send some dozens.
	maxParts = 200
	// maxText bounds one text part, maxTexts all of them, in bytes.
	maxText  = 64 << 10
	maxTexts = 1 << 20
	// maxEarly is what is kept of texts before the sender has shown a key or
	// was let in by the gate.
	maxEarly = 64 << 10
	// maxIdempotencyKey bounds the header; ids and commit names are shorter.
	maxIdempotencyKey = 200
	// seenFor is how long an Idempotency-Key stands for its build.
	seenFor = 24 * time.Hour
)

// idempotencyHeader names an upload, so that sending it again makes no second
// build.
const idempotencyHeader = "Idempotency-Key"

// reception is one request on its way.
type reception struct {
	h           *Handlers
	c           *gin.Context
	of          respond.Interface
	symbolsOnly bool

	body   *source
	form   *form
	pass   pass
	caller *auth.Caller
	key    string // Idempotency-Key
	seen   *distribution.Build

	fields    fields
	parts     int
	textBytes int
	request   *request

	file     *stored
	symbols  *stored
	made     []string // keys of objects that go unless keep
	dropped  []string // keys of objects that go in any case
	keep     bool
	warnings []string // of this answer, beside the build's own
}

func (h *Handlers) begin(c *gin.Context, of respond.Interface) *reception {
	return &reception{h: h, c: c, of: of, pass: pass{gate: h.gate, from: remote.Network(c.ClientIP())}}
}

// errSeen ends a reception whose build is there already.
var errSeen = errors.New("the upload was seen before")

// ctx carries the caller once it is known.
func (in *reception) ctx() context.Context { return in.c.Request.Context() }

// receive reads the whole form. When it answers nil, the caller is known, the
// parameters are read and the objects are stored.
func (in *reception) receive() error {
	r := in.c.Request
	in.key = r.Header.Get(idempotencyHeader)
	if err := checkIdempotencyKey(in.key); err != nil {
		return err
	}
	caller, err := in.h.cfg.Auth.Identify(in.c, auth.UploadBuilds)
	if err != nil {
		return err
	}
	if caller != nil {
		if err := in.identified(caller); err != nil {
			return err
		}
	}
	boundary := boundaryOf(r.Header.Get("Content-Type"))
	if boundary == "" || len(boundary) > maxBoundary {
		return refuse(http.StatusBadRequest, 0, "the body must be multipart/form-data with a boundary; file is required as a part of it")
	}
	most := in.h.cfg.maxBody()
	if r.ContentLength > most {
		return &http.MaxBytesError{Limit: most}
	}
	in.body = &source{r: r.Body, limit: most}
	in.form = newForm(in.body, boundary)
	defer in.pass.leave()
	return in.rest()
}

func checkIdempotencyKey(key string) error {
	if len(key) > maxIdempotencyKey {
		return invalid(idempotencyHeader, "is longer than "+strconv.Itoa(maxIdempotencyKey)+" bytes")
	}
	for i := range len(key) {
		if key[i] < 0x20 || key[i] > 0x7e {
			return invalid(idempotencyHeader, "may hold printable ASCII")
		}
	}
	return nil
}

// rest reads the form from the next part on to its end. A file part is handed to
// the object store, whose reader comes back here for what follows it.
func (in *reception) rest() error {
	for {
		p, err := in.form.next()
		if err == io.EOF {
			return in.complete()
		}
		if err != nil {
			return arrival(err)
		}
		if in.parts++; in.parts > maxParts {
			return problemTooLarge("the form has more than " + strconv.Itoa(maxParts) + " parts")
		}
		name := spell(p.name).name
		if in.symbolsOnly && name == fieldSymbols {
			name = fieldFile
		}
		switch {
		case name == fieldFile:
			return in.takeFile(p)
		case name == fieldSymbols:
			if done, err := in.takeSymbols(p); done {
				return err
			}
		case !p.isFile:
			if err := in.text(p); err != nil {
				return err
			}
		}
	}
}

// text takes a text part. Those that say nothing here are read over.
func (in *reception) text(p *part) error {
	if spell(p.name).name == "" {
		return nil
	}
	in.textBytes += len(p.name)
	b, err := in.readText()
	if err != nil {
		return arrival(err)
	}
	in.textBytes += len(b)
	switch {
	case len(b) > maxText:
		return problemTooLarge(spell(p.name).name + ": is longer than " + strconv.Itoa(maxText) + " bytes")
	case in.textBytes > maxTexts:
		return problemTooLarge("the text parts are longer than " + strconv.Itoa(maxTexts) + " bytes")
	}
	in.fields.add(p.name, string(b))
	if spell(p.name).name != fieldKey || in.caller != nil {
		return nil
	}
	if key := in.fields.text(fieldKey); key != "" {
		caller, err := in.h.cfg.Auth.IdentifyKey(in.c, auth.UploadBuilds, key)
		if err != nil {
			return err
		}
		return in.identified(caller)
	}
	return nil
}

// readText reads up to a byte more than a text may have. What is more than
// maxEarly in all, of a sender that is not known, needs a place as a file does.
func (in *reception) readText() ([]byte, error) {
	var b []byte
	if in.caller == nil && !in.pass.turn {
		early := max(0, maxEarly-in.textBytes)
		var err error
		if b, err = io.ReadAll(io.LimitReader(in.form, int64(early)+1)); err != nil || len(b) <= early {
			return b, err
		}
		if err := in.enter(); err != nil {
			return nil, err
		}
	}
	more, err := io.ReadAll(io.LimitReader(in.form, int64(maxText+1-len(b))))
	return append(b, more...), err
}

// enter passes the gate, behind which a form has its large buffer and, of a
// sender that is not known, must arrive quickly.
func (in *reception) enter() error {
	if err := in.pass.enter(in.ctx(), in.caller != nil); err != nil {
		return err
	}
	in.form.grow(formBuffer)
	if in.caller == nil {
		end, _ := in.ctx().Deadline()
		in.body.hurry(&pace{rate: in.h.cfg.UnknownRate, grace: in.h.cfg.UnknownGrace, end: end,
			deadline: http.NewResponseController(in.c.Writer).SetReadDeadline, now: time.Now})
	}
	return nil
}

// identified goes on with a known caller.
func (in *reception) identified(caller *auth.Caller) error {
	in.caller = caller
	in.pass.identified()
	if in.body != nil {
		in.body.trust()
	}
	if in.key == "" || in.symbolsOnly {
		return nil
	}
	return in.lookForSeen()
}

// lookForSeen ends the reception when its key stands for a build.
func (in *reception) lookForSeen() error {
	build, err := distribution.SeenUpload(in.ctx(), in.h.cfg.DB, in.caller.OrganizationID, in.key, in.h.cfg.Now().Add(-seenFor))
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	in.seen = build
	return errSeen
}

// complete checks a form that was read to its end.
func (in *reception) complete() error {
	switch {
	case in.caller == nil:
		return problemNoKey(in.of)
	case in.file == nil:
		return problemFile()
	}
	var err error
	in.request, err = in.fields.bind(in.of)
	return err
}

// end deletes what belongs to nothing.
func (in *reception) end() {
	in.pass.leave()
	gone := in.dropped
	if !in.keep {
		gone = append(gone, in.made...)
	}
	in.remove(gone...)
}

// removeTimeout is what deleting may take although the caller may be gone; what
// stays is found by the sweep.
const removeTimeout = 30 * time.Second

func (in *reception) remove(keys ...string) {
	if len(keys) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(in.ctx()), removeTimeout)
	defer cancel()
	if err := in.h.cfg.Objects.Delete(ctx, keys...); err != nil {
		in.h.cfg.Log.WarnContext(ctx, "objects of a refused upload not deleted, the sweep will", "keys", keys, "error", err)
	}
}
