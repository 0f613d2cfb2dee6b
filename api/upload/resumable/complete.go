package resumable

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/resumable"
)

// Complete joins the parts of the upload that a form names in a field, and returns it: its
// file is the object of its key, with the SHA-256 that the server has taken. One that is
// complete, or used, is returned as it is. A file of more than limit bytes is 413, missing
// parts are 409. A SHA-256 other than the one the sender announced is 400, and ends the
// upload. The caller holds a slot of uploads: bytes may have to be read again.
func (h *Handlers) Complete(ctx context.Context, o resumable.Owner, field, text string, limit int64) (*resumable.Upload, error) {
	id, err := uuid.Parse(text)
	if err != nil {
		return nil, noUpload(field)
	}
	u, err := resumable.Get(ctx, h.cfg.DB, o, id)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, noUpload(field)
	}
	if err != nil {
		return nil, err
	}
	if u.Size > limit {
		return nil, &respond.Problem{Status: http.StatusRequestEntityTooLarge, Text: field + ": the file is longer than " +
			itoa(limit) + " bytes"}
	}
	if u.State != resumable.Open {
		return u, nil
	}
	if missing := u.Missing(); len(missing) > 0 {
		return nil, problemMissing(missing, "are missing")
	}
	return h.join(ctx, o, u, field)
}

func noUpload(field string) error {
	return &respond.Problem{Status: http.StatusNotFound, Text: field + ": there is no such upload, or its time is over",
		Err: storage.ErrNotFound}
}

func (h *Handlers) join(ctx context.Context, o resumable.Owner, u *resumable.Upload, field string) (*resumable.Upload, error) {
	parts := make([]object.Part, len(u.Parts))
	for i, p := range u.Parts {
		parts[i] = object.Part{Number: p.Number, Tag: p.Tag}
	}
	sum := u.Sum()
	if _, err := h.cfg.Objects.CompleteParts(ctx, u.Object(), parts, sum); err != nil {
		return nil, h.explain(ctx, u, &storeError{err})
	}
	got := sum.Hex()
	if u.GivenSHA256 != "" && u.GivenSHA256 != got {
		return nil, h.refuse(ctx, o, u, got)
	}
	done, err := resumable.Finish(ctx, h.cfg.DB, u, got)
	if err != nil {
		return nil, err
	}
	if done {
		u.State, u.SHA256 = resumable.Complete, got
		return u, nil
	}
	// Another request has completed it, or deleted it while its parts were joined.
	now, err := resumable.Get(ctx, h.cfg.DB, o, u.ID)
	if errors.Is(err, storage.ErrNotFound) {
		h.remove(ctx, u)
		return nil, noUpload(field)
	}
	if err == nil && now.State == resumable.Open {
		return nil, changed()
	}
	return now, err
}

// refuse ends an upload whose bytes are not those that its sender has: which part is wrong,
// nobody knows.
func (h *Handlers) refuse(ctx context.Context, o resumable.Owner, u *resumable.Upload, got string) error {
	switch _, err := resumable.Delete(ctx, h.cfg.DB, o, u.ID); {
	case errors.Is(err, storage.ErrNotFound):
	case err != nil:
		return err
	default:
		h.remove(ctx, u)
	}
	return storage.Invalid("sha256", "the file that came has %s, not %s: the upload was deleted, begin it anew", got, u.GivenSHA256)
}

// explain returns what failures of the object store mean for the sender. What is lost there
// is forgotten, so that it can be sent again.
func (h *Handlers) explain(ctx context.Context, u *resumable.Upload, err error) error {
	var lost *object.LostPartsError
	var store *storeError
	switch {
	case errors.Is(err, object.ErrPartBusy):
		return &respond.Problem{Status: http.StatusConflict, RetryAfter: partRetry, Err: err,
			Text: "another request is at this part, or completes the upload: try again"}
	case errors.As(err, &lost) && !lost.All:
		if err := h.cfg.DB.InTx(ctx, func(tx *storage.Tx) error { return resumable.Lose(ctx, tx, u, lost.Numbers) }); err != nil {
			return err
		}
		return problemMissing(lost.Numbers, "were lost: send them again")
	case errors.As(err, &lost), errors.Is(err, object.ErrNotFound):
		if err := h.lost(ctx, u); err != nil {
			return err
		}
		return changed()
	case errors.As(err, &store):
		return store.err
	}
	return err
}

// changed is what a sender hears when others were at its upload.
func changed() error {
	return &respond.Problem{Status: http.StatusConflict, RetryAfter: partRetry, Text: "the upload changed meanwhile: try again"}
}

// lost begins the object of an upload anew, of whose parts the store knows nothing, and
// returns the error that says so; nil when the object is there: another request has just
// joined the parts.
func (h *Handlers) lost(ctx context.Context, u *resumable.Upload) error {
	m := u.Object()
	info, err := h.cfg.Objects.Stat(ctx, m.Key)
	if err == nil && info.Size == m.Size {
		return nil
	}
	if err != nil && !errors.Is(err, object.ErrNotFound) {
		return err
	}
	id, err := h.cfg.Objects.BeginParts(ctx, m.Key, object.WriteOptions{})
	if err != nil {
		return err
	}
	err = h.cfg.DB.InTx(ctx, func(tx *storage.Tx) error { return resumable.Restart(ctx, tx, u, id) })
	if err != nil {
		m.ID = id
		if abortErr := h.cfg.Objects.AbortParts(ctx, m); abortErr != nil {
			h.cfg.Log.WarnContext(ctx, "parts of an upload not deleted, the sweep will", "upload", u.ID, "error", abortErr)
		}
		if errors.Is(err, storage.ErrNotFound) {
			return changed() // completed or deleted, or begun anew by another request
		}
		return err
	}
	h.cfg.Log.WarnContext(ctx, "the object store lost the parts of an upload", "upload", u.ID)
	all := make([]int, m.Count())
	for i := range all {
		all[i] = i + 1
	}
	return problemMissing(all, "were lost: send them again")
}

// problemMissing names parts, those in a row by the first and the last.
func problemMissing(numbers []int, what string) error {
	const most = 50
	var names []string
	for i := 0; i < len(numbers) && len(names) < most; {
		end := i
		for end+1 < len(numbers) && numbers[end+1] == numbers[end]+1 {
			end++
		}
		name := strconv.Itoa(numbers[i])
		if end > i {
			name += " to " + strconv.Itoa(numbers[end])
		}
		names = append(names, name)
		i = end + 1
	}
	return &respond.Problem{Status: http.StatusConflict, Text: "parts " + strings.Join(names, ", ") + " " + what}
}
