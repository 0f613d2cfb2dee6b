package resumable

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"hash/crc32"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/auth"
	"github.com/slipway-qa/slipway/api/pace"
	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/resumable"
	"github.com/slipway-qa/slipway/tasks/admission"
)

// headerSHA256 is the sender's SHA-256 of a part, in hexadecimal.
const headerSHA256 = "X-Part-SHA256"

const (
	// busyRetry is what a client should wait for others' uploads to end.
	busyRetry = 15 * time.Second
	// mostRetry is the most that it should wait for a place of an unfinished upload.
	mostRetry = 10 * time.Minute
	// partRetry is what it should wait for another sender of the same part.
	partRetry = 5 * time.Second
	// readBuffer is what is read at once: it fits the processor's second cache.
	readBuffer = 256 << 10
)

// uploadID reads the id of the path; what is none has no upload.
func uploadID(c *gin.Context) (uuid.UUID, error) {
	id, err := uuid.Parse(c.Param("id"))
	if err != nil {
		return id, storage.ErrNotFound
	}
	return id, nil
}

// digest reads a SHA-256 in hexadecimal.
func digest(field, text string) (string, error) {
	raw, err := hex.DecodeString(strings.TrimSpace(text))
	if err != nil || len(raw) != sha256.Size {
		return "", storage.Invalid(field, "must be a SHA-256 in hexadecimal, of 64 digits")
	}
	return hex.EncodeToString(raw), nil
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// incoming is a part on its way.
type incoming struct {
	upload *resumable.Upload
	number int
	given  string // SHA-256 by the header, "" without
	body   io.Reader
	sum    hash.Hash32 // CRC-32C of what was read of the body
}

// castagnoli is the polynomial of CRC-32C, for which processors have an instruction.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (in *incoming) checksum() string { return hex.EncodeToString(in.sum.Sum(nil)) }

// PutPart serves PUT /api/v3/uploads/{id}/parts/{number}, whose body are the bytes.
func (h *Handlers) PutPart(c *gin.Context) error {
	in, err := h.incoming(c)
	if err != nil {
		return err
	}
	ctx, paced := c.Request.Context(), pace.Of(c)
	if err := paced.First(); err != nil {
		return arrival(err)
	}
	caller := auth.CallerOf(ctx)
	slot, err := h.cfg.Slots.Enter(ctx, admission.Caller{Organization: caller.OrganizationID, Key: itoa(caller.KeyID)}, 1)
	if err != nil {
		return busy(err)
	}
	defer slot.Leave()
	paced.Hold(slot)
	defer paced.FreeAll()
	in.body = c.Request.Body
	part, err := h.receive(ctx, in)
	if err != nil {
		return err
	}
	return respond.JSON(c, http.StatusOK, gin.H{"part": partView{Number: part.Number, Size: part.Size, SHA256: part.SHA256,
		CRC32C: in.checksum()}})
}

// incoming checks what is known before the body.
func (h *Handlers) incoming(c *gin.Context) (*incoming, error) {
	id, err := uploadID(c)
	if err != nil {
		return nil, err
	}
	in := &incoming{sum: crc32.New(castagnoli)}
	if given := c.GetHeader(headerSHA256); given != "" {
		if in.given, err = digest(headerSHA256, given); err != nil {
			return nil, err
		}
	}
	if in.upload, err = resumable.Head(c.Request.Context(), h.cfg.DB, OwnerOf(auth.CallerOf(c.Request.Context())), id); err != nil {
		return nil, err
	}
	m := in.upload.Object()
	in.number, err = strconv.Atoi(c.Param("number"))
	if err != nil || in.number < 1 || in.number > m.Count() {
		return nil, storage.Invalid("number", "must be from 1 to %d", m.Count())
	}
	if want := m.Length(in.number); c.Request.ContentLength != want {
		return nil, storage.Invalid("Content-Length", "part %d has %d bytes", in.number, want)
	}
	return in, nil
}

// receive stores a part that is not there; of one that is it compares the bytes.
func (h *Handlers) receive(ctx context.Context, in *incoming) (*resumable.Part, error) {
	if in.upload.State != resumable.Open {
		have, err := resumable.PartOf(ctx, h.cfg.DB, in.upload.ID, in.number)
		if err != nil {
			return nil, err
		}
		return have, in.compare(have)
	}
	// A part whose bytes have all come is stored although its sender is gone, and need not be sent
	// again. When bytes are missing, the body says so.
	ctx, cancel := staying(ctx)
	defer cancel()
	w, err := h.cfg.Objects.WritePart(ctx, in.upload.Object(), in.number)
	if err != nil {
		return nil, h.explain(ctx, in.upload, err)
	}
	defer w.Close()
	// Not before: a sender that has just recorded the part must be seen.
	have, err := resumable.PartOf(ctx, h.cfg.DB, in.upload.ID, in.number)
	if !errors.Is(err, storage.ErrNotFound) {
		if err != nil {
			return nil, err
		}
		_ = w.Close() // now: others need its buffer
		return have, in.compare(have)
	}
	return h.write(ctx, in, w)
}

// staying is a context with the deadline of ctx that does not end with its connection.
func staying(ctx context.Context) (context.Context, context.CancelFunc) {
	stays := context.WithoutCancel(ctx)
	if deadline, ok := ctx.Deadline(); ok {
		return context.WithDeadline(stays, deadline)
	}
	return context.WithCancel(stays)
}

// compare reads a part that is there already.
func (in *incoming) compare(have *resumable.Part) error { return in.compareFrom(object.NewSum(), have) }

// compareFrom goes on with the sum of the bytes that were read.
func (in *incoming) compareFrom(sum *object.Sum, have *resumable.Part) error {
	if err := in.copy(sum); err != nil {
		return err
	}
	if got := sum.Hex(); got != have.SHA256 || in.given != "" && in.given != got {
		return otherPart(in.number)
	}
	return nil
}

func otherPart(number int) error {
	return &respond.Problem{Status: http.StatusConflict, Err: resumable.ErrOtherPart,
		Text: "part " + strconv.Itoa(number) + " is there with other bytes: is it the same file? To send another one, delete the upload"}
}

// write stores a part, then records it, and gives it free only then.
func (h *Handlers) write(ctx context.Context, in *incoming, w object.PartWriter) (*resumable.Part, error) {
	u := in.upload
	own := object.NewSum()
	to := []io.Writer{own}
	end := h.begin(u.ID, in.number)
	defer end(nil)
	whole, err := h.sumBefore(ctx, u, in.number)
	if err != nil {
		return nil, err
	}
	part := resumable.Part{Number: in.number}
	if whole != nil {
		part.SumBefore = whole.Hex()
		to = append(to, whole)
	}
	if err := in.copy(append(to, &storing{w})...); err != nil {
		return h.settle(ctx, in, own, err)
	}
	part.Size, part.SHA256 = own.N(), own.Hex()
	if in.given != "" && in.given != part.SHA256 {
		return nil, storage.Invalid(headerSHA256, "the part that came has %s", part.SHA256)
	}
	if whole != nil {
		part.SumAfter = whole.Hex()
		if part.SumState, err = whole.State(); err != nil {
			return nil, err
		}
		end(part.SumState)
	}
	if part.Tag, err = w.Commit(own); err != nil {
		return h.settle(ctx, in, own, &storeError{err})
	}
	err = h.cfg.DB.InTx(ctx, func(tx *storage.Tx) error { return resumable.Record(ctx, tx, u, part) })
	if errors.Is(err, resumable.ErrOtherPart) {
		return nil, otherPart(in.number)
	}
	if err != nil {
		return h.settle(ctx, in, own, err)
	}
	return &part, nil
}

// settle is for a part that could not be stored as its upload was not there any more: when
// another job has sent it meanwhile, and completed the upload, all is well. own has the
// bytes that came so far.
func (h *Handlers) settle(ctx context.Context, in *incoming, own *object.Sum, cause error) (*resumable.Part, error) {
	inStore := errors.Is(cause, object.ErrNotFound)
	if !inStore && !errors.Is(cause, storage.ErrNotFound) {
		return nil, h.explain(ctx, in.upload, cause)
	}
	have, err := resumable.PartOf(ctx, h.cfg.DB, in.upload.ID, in.number)
	switch {
	case errors.Is(err, storage.ErrNotFound) && inStore:
		return nil, h.explain(ctx, in.upload, cause)
	case err != nil:
		return nil, err
	}
	now, err := resumable.Head(ctx, h.cfg.DB, resumable.Owner{OrganizationID: in.upload.OrganizationID, UserID: in.upload.UserID},
		in.upload.ID)
	if err != nil {
		return nil, err
	}
	if inStore && now.State == resumable.Open {
		if err := h.lost(ctx, now); err != nil {
			return nil, err
		}
	}
	return have, in.compareFrom(own, have)
}

// storeError is a failure of the object store, not of the sender.
type storeError struct{ err error }

func (e *storeError) Error() string { return "store a part: " + e.err.Error() }
func (e *storeError) Unwrap() error { return e.err }

// storing tells errors of the store from those of the sender.
type storing struct{ w io.Writer }

func (s *storing) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	if err != nil {
		return n, &storeError{err}
	}
	return n, nil
}

// copy reads the body to its end, once for all of the writers.
func (in *incoming) copy(to ...io.Writer) error {
	buf := make([]byte, readBuffer)
	for idle := 0; ; {
		n, err := in.body.Read(buf)
		_, _ = in.sum.Write(buf[:n]) // never fails
		for _, w := range to {
			if n == 0 {
				break
			}
			if _, err := w.Write(buf[:n]); err != nil {
				return err
			}
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return arrival(err)
		case n > 0:
			idle = 0
		default:
			if idle++; idle == 100 {
				return io.ErrNoProgress
			}
		}
	}
}

// arrival returns why the body could not be read.
func arrival(err error) error {
	var slow *pace.SlowError
	switch {
	case errors.As(err, &slow), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &respond.Problem{Status: http.StatusRequestTimeout, Text: "the part arrived too slowly", Err: err}
	}
	return &respond.Problem{Status: http.StatusBadRequest, Text: "the part ended early: send it again", Err: err}
}

func busy(err error) error {
	var full *admission.FullError
	if errors.As(err, &full) {
		return &respond.Problem{Status: http.StatusTooManyRequests, Text: "too many uploads at once: try again later",
			RetryAfter: full.RetryAfter, Err: err}
	}
	return err
}
