package upload

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"strconv"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage/distribution/storedfile"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/resumable"
)

// receivedFile is a file part in the object store, visible once its writer was
// committed.
type receivedFile struct {
	storedfile.NewFile
	name   string // as the sender calls it
	writer object.Writer
	stored bool // of symbolFiles: the writer was committed
	// upload is the upload in parts whose file this is; it has no writer.
	upload *resumable.Upload
}

// errTooLong ends a file part that is longer than its limit.
var errTooLong = errors.New("the file is too long")

// storeError is a failure of the object store, not of the sender.
type storeError struct{ err error }

func (e *storeError) Error() string { return "store a file: " + e.err.Error() }
func (e *storeError) Unwrap() error { return e.err }

func newKey() (string, error) {
	id, err := uuid.NewV7()
	return storedfile.Prefix + id.String(), err
}

// readFile receives the build's file.
func (r *receiver) readFile(p *part) error {
	if !p.isFile {
		return problemFile()
	}
	if r.file != nil {
		return invalid(fieldFile, "is given twice")
	}
	limit := r.cfg.MaxBytes
	if r.mode == buildSymbols {
		limit = r.cfg.MaxSymbols
	}
	f, err := r.receiveFile(p, limit)
	if errors.Is(err, errTooLong) {
		return problemTooLarge("the file is longer than " + strconv.FormatInt(limit, 10) + " bytes")
	}
	if err != nil {
		return err
	}
	if f.Size == 0 && f.name == "" {
		return problemFile() // an empty field of a page
	}
	r.file = f
	return nil
}

// readSymbols receives the symbols file of a build, best effort: the form goes on
// without it unless the sender fails.
func (r *receiver) readSymbols(p *part) error {
	if !p.isFile {
		return r.ignoreSymbolsText()
	}
	if r.symbols != nil {
		r.warn("symbols_file was ignored: it is given twice")
		return nil
	}
	f, err := r.receiveFile(p, r.cfg.MaxSymbols)
	var broken *storeError
	switch {
	case errors.Is(err, errTooLong):
		r.warn("symbols_file was ignored: it is longer than " + strconv.FormatInt(r.cfg.MaxSymbols, 10) + " bytes")
	case errors.As(err, &broken):
		r.symbolsNotStored(err)
	case err != nil:
		return err
	case f.Size == 0:
		r.abort(f.writer)
	default:
		r.symbols = f
	}
	return nil
}

// ignoreSymbolsText warns of a path that was sent as the symbols file.
func (r *receiver) ignoreSymbolsText() error {
	text, err := io.ReadAll(io.LimitReader(r.form, 1))
	if err != nil {
		return arrival(err)
	}
	if len(text) > 0 {
		r.warn("symbols_file was ignored: it is not a file part")
	}
	return nil
}

func (r *receiver) symbolsNotStored(err error) {
	r.symbols = nil
	r.cfg.Log.WarnContext(r.ctx(), "symbols of an upload could not be stored", "error", err)
	r.warn("symbols_file could not be stored")
}

// receiveFile writes a part of at most limit bytes to an object that is not
// visible yet. Errors are errTooLong, *storeError, or those of the sender.
func (r *receiver) receiveFile(p *part, limit int64) (*receivedFile, error) {
	if err := r.admit(); err != nil {
		return nil, err
	}
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	w, err := r.cfg.Objects.Create(r.ctx(), key, -1, object.WriteOptions{})
	if err != nil {
		return nil, &storeError{err}
	}
	r.writers = append(r.writers, w)
	size, sum, err := r.copyPart(w, limit)
	if err != nil {
		r.abort(w) // now: its buffer may be what the rest of the form needs
		return nil, err
	}
	return &receivedFile{name: p.fileName, writer: w, NewFile: storedfile.NewFile{Key: key, Size: size, SHA256: sum,
		ContentType: "application/octet-stream"}}, nil
}

// copyPart returns the number of bytes and their SHA-256.
func (r *receiver) copyPart(w object.Writer, limit int64) (size int64, sum string, err error) {
	digest := sha256.New()
	for {
		chunk, err := r.form.chunk()
		if err == io.EOF {
			return size, hex.EncodeToString(digest.Sum(nil)), nil
		}
		if err != nil {
			return 0, "", arrival(err)
		}
		if size += int64(len(chunk)); size > limit {
			return 0, "", errTooLong
		}
		if err := r.permit.reserveBytes(r.ctx(), r.body.n); err != nil {
			return 0, "", err
		}
		digest.Write(chunk)
		if _, err := w.Write(chunk); err != nil {
			return 0, "", &storeError{err}
		}
	}
}

// commitFiles stores the objects of an accepted form.
func (r *receiver) commitFiles() error {
	if r.mode == symbolFiles {
		return r.commitSymbolFiles()
	}
	if err := r.commit(r.file); err != nil {
		return err
	}
	if r.symbols == nil {
		return nil
	}
	if err := r.commit(r.symbols); err != nil {
		r.symbolsNotStored(err)
	}
	return nil
}

func (r *receiver) commit(f *receivedFile) error {
	if f.upload != nil {
		return nil
	}
	if _, err := f.writer.Commit(); err != nil {
		r.unused = append(r.unused, f.Key) // whether the store has it is not sure
		return &storeError{err}
	}
	r.objects = append(r.objects, f.Key)
	return nil
}

// abortWriters ends the writers that were not committed.
func (r *receiver) abortWriters() {
	for _, w := range r.writers {
		r.abort(w)
	}
}

func (r *receiver) abort(w object.Writer) {
	if err := w.Abort(); err != nil {
		r.cfg.Log.WarnContext(r.ctx(), "object of a refused upload not aborted, the sweep will", "error", err)
	}
}
