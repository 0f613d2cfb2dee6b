package upload

import (
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/api/respond"
	parts "github.com/slipway-qa/slipway/api/upload/resumable"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/storedfile"
	quotas "github.com/slipway-qa/slipway/storage/quota"
	"github.com/slipway-qa/slipway/storage/resumable"
	"github.com/slipway-qa/slipway/storage/symbolfile"
)

// A form may name a file that came in parts before, in place of a file part. It is complete
// then, or completed here, and belongs to its upload until the transaction that stores the
// build or the symbols takes it: what is refused leaves it as it was, for another form.

// names reports whether the form names an upload in a field.
func (r *receiver) names(field string) bool { return r.fields.text(field) != "" }

// used reports whether something took the file before.
func (f *receivedFile) used() bool { return f.upload != nil && f.upload.State == resumable.Used }

// completeNamed completes the uploads that the form names, in a slot: their bytes may have
// to be read again. errRepeated when a build has the file already.
func (r *receiver) completeNamed() error {
	symbols := r.mode == build && r.names(fieldSymbolsUploadID)
	if !r.names(fieldUploadID) && !symbols {
		return nil
	}
	if r.permit.slot == nil {
		if err := r.permit.acquire(r.ctx(), r.caller); err != nil {
			return err
		}
	}
	if symbols {
		if err := r.completeSymbols(); err != nil {
			return err
		}
	}
	if !r.names(fieldUploadID) {
		return r.checkSymbolsUnused()
	}
	limit := r.cfg.MaxSymbols
	if r.mode == build {
		limit = r.cfg.MaxBytes
	}
	f, err := r.complete(fieldUploadID, limit)
	if err != nil {
		return err
	}
	if r.mode == symbolFiles {
		r.files = append(r.files, f)
		return nil
	}
	r.file = f
	switch {
	case !f.used():
		return r.checkSymbolsUnused()
	case r.mode == build:
		return r.findUsed(f.upload)
	}
	return nil // attachSymbols answers again
}

// checkSymbolsUnused refuses symbols that something took before, of a build that is none yet.
func (r *receiver) checkSymbolsUnused() error {
	if r.symbols == nil || !r.symbols.used() {
		return nil
	}
	return r.refuseUsed(fieldSymbolsUploadID, r.symbols.upload)
}

func (r *receiver) completeSymbols() (err error) {
	if r.symbols != nil {
		return invalid(fieldSymbolsUploadID, "stands in place of symbols_file: send one of the two")
	}
	r.symbols, err = r.complete(fieldSymbolsUploadID, r.cfg.MaxSymbols)
	return err
}

func (r *receiver) complete(field string, limit int64) (*receivedFile, error) {
	u, err := r.resumable.Complete(r.ctx(), parts.OwnerOf(r.caller), field, r.fields.text(field), limit)
	if err != nil {
		return nil, err
	}
	return &receivedFile{name: u.FileName, stored: true, upload: u, NewFile: storedfile.NewFile{Key: resumable.Key(u.ID), Size: u.Size,
		SHA256: u.SHA256, ContentType: "application/octet-stream"}}, nil
}

// refuseUsed refuses an upload that something took which cannot be answered with again. Its key
// stands for it no longer: the file can be uploaded again by the same job.
func (r *receiver) refuseUsed(field string, u *resumable.Upload) error {
	if err := resumable.Release(r.ctx(), r.cfg.DB, u.ID); err != nil {
		return err
	}
	return &respond.Problem{Status: http.StatusConflict, Text: field + ": the file was used before: upload it again"}
}

// findUsed returns errRepeated when a build has the file of an upload; nil when symbols
// have it.
func (r *receiver) findUsed(u *resumable.Upload) error {
	if u.SymbolID != nil {
		return nil
	}
	if u.BuildID == nil {
		return r.refuseUsed(fieldUploadID, u)
	}
	var err error
	r.earlier, err = distribution.BuildByID(r.ctx(), r.cfg.DB, r.caller.OrganizationID, 0, *u.BuildID)
	if errors.Is(err, storage.ErrNotFound) {
		return r.refuseUsed(fieldUploadID, u)
	}
	if err != nil {
		return err
	}
	return errRepeated
}

// usedMeanwhile is findUsed for a file that another request was quicker to take.
func (u *upload) usedMeanwhile() error {
	for _, f := range []*receivedFile{u.file, u.symbols} {
		if f == nil || f.upload == nil {
			continue
		}
		now, err := resumable.Head(u.ctx(), u.cfg.DB, parts.OwnerOf(u.caller), f.upload.ID)
		if err != nil {
			return err
		}
		if now.State == resumable.Used && f == u.file && now.BuildID != nil {
			return u.findUsed(now)
		}
	}
	return &respond.Problem{Status: http.StatusConflict, Text: "another request used the same upload"}
}

// named are the files of a build that came in parts.
func (u *upload) named(n *distribution.Upload) []*receivedFile {
	if n.Symbols == nil {
		return []*receivedFile{u.file}
	}
	return []*receivedFile{u.file, u.symbols}
}

// useNamed takes those of the files that came in parts, in the transaction of what takes
// them; resumable.ErrNotComplete when another request was quicker.
func (u *upload) useNamed(tx *storage.Tx, files ...*receivedFile) error {
	for _, f := range files {
		if f.upload == nil {
			continue
		}
		if err := resumable.Use(u.ctx(), tx, f.upload.ID); err != nil {
			return err
		}
	}
	return nil
}

// setResult notes what took those of the files that came in parts.
func (u *upload) setResult(tx *storage.Tx, result resumable.Result, files ...*receivedFile) error {
	for _, f := range files {
		if f.upload == nil {
			continue
		}
		if err := resumable.SetResult(u.ctx(), tx, f.upload.ID, result); err != nil {
			return err
		}
	}
	return nil
}

// addNamed is addSymbols for a file that came in parts.
func (u *upload) addNamed(f *receivedFile, n symbolfile.New) (stored *symbolfile.Stored, err error) {
	if f.used() {
		return u.usedSymbols(f.upload)
	}
	ctx := u.ctx()
	err = u.cfg.DB.InTx(ctx, func(tx *storage.Tx) error {
		if err := u.cfg.Quotas.Lock(ctx, tx, n.OrganizationID); err != nil {
			return err
		}
		if err := u.useNamed(tx, f); err != nil {
			return err
		}
		if stored, err = u.cfg.Symbols.Insert(ctx, tx, n); err != nil {
			return err
		}
		if err := u.setResult(tx, resumable.Result{SymbolID: stored.Upload.ID}, f); err != nil {
			return err
		}
		return u.cfg.Quotas.Check(ctx, tx, n.OrganizationID, 0, quotas.StoredBytes)
	})
	if errors.Is(err, resumable.ErrNotComplete) {
		now, err := resumable.Head(ctx, u.cfg.DB, parts.OwnerOf(u.caller), f.upload.ID)
		if err != nil {
			return nil, err
		}
		return u.usedSymbols(now)
	}
	if err != nil {
		return nil, err
	}
	u.settleObject(f.Key, stored)
	return stored, nil
}

// usedSymbols are the symbols that took the file of an upload before.
func (u *upload) usedSymbols(of *resumable.Upload) (*symbolfile.Stored, error) {
	if of.SymbolID == nil {
		return nil, u.refuseUsed(fieldUploadID, of)
	}
	have, err := symbolfile.UploadByID(u.ctx(), u.cfg.DB, u.caller.OrganizationID, *of.SymbolID)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, u.refuseUsed(fieldUploadID, of)
	}
	if err != nil {
		return nil, err
	}
	return &symbolfile.Stored{Upload: *have}, nil
}

// usedForSymbols is the outcome of a zip of native libraries that was kept before.
func (u *upload) usedForSymbols() (*outcome, error) {
	stored, err := u.usedSymbols(u.file.upload)
	if err != nil {
		return nil, err
	}
	return u.nativeOutcome(stored), nil
}

// maxUploadID bounds the text of an upload's id.
const maxUploadID = 64

// sumOfNamed is the SHA-256 of the upload that the current part of the form names; "" when
// that is none, or not complete.
func (r *receiver) sumOfNamed() string {
	text, err := io.ReadAll(io.LimitReader(r.form, maxUploadID))
	if err != nil {
		return ""
	}
	id, err := uuid.Parse(strings.TrimSpace(string(text)))
	if err != nil {
		return ""
	}
	u, err := resumable.Head(r.ctx(), r.cfg.DB, parts.OwnerOf(r.caller), id)
	if err != nil {
		return ""
	}
	return u.SHA256
}
