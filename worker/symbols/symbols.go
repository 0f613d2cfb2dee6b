// Package symbols reads uploaded symbol files into indexes: the tasks symbol:index and
// symbol:maintenance.
//
// Index copies the upload to a temporary file, has a child process find out what is in it
// and read each symbol file into an index (packages child and parse), stores the indexes as
// objects, and records files and identifiers in one transaction with the end of the task.
// Where crashes lack one of the files, that transaction has the task that symbolicates them.
//
// The same bytes have one index in an organization: files of known bytes take over
// the index and the facts of the ones before, and an upload of known bytes takes over all
// of its files without being read.
//
// Whatever is wrong with a file is a row that says so, and does not keep the other files of
// an archive from being read. Only troubles of the machine (no space, no store, no database)
// are errors of the task, which is tried again.
//
// Maintenance has uploads indexed anew whose indexes are of an older version, some of each
// organization at a time, and those that wait without a task.
package symbols

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbolfile"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker"
	"github.com/slipway-qa/slipway/worker/symbols/parse"
)

// Children runs an operation in a child process; *child.Pool is the one.
type Children interface {
	Do(ctx context.Context, operation string, args, result any) error
}

// Observer is called for each symbol file that was read, for metrics.
type Observer interface {
	// SymbolFileRead reports the kind, whether it was indexed, reused or failed, its
	// size in bytes and how long reading took.
	SymbolFileRead(kind, outcome string, bytes int64, took time.Duration)
}

// Index is the handler of symbol:index.
type Index struct {
	DB       *storage.DB
	Objects  object.Store
	Children Children
	// Folder is where temporary files are; "" is the system's.
	Folder   string
	Observer Observer // may be nil
	Log      *slog.Logger
}

// IndexResult is the task's result, and its progress.
type IndexResult struct {
	Files   int `json:"files"`   // symbol files in the upload
	Done    int `json:"done"`    // of these
	Failed  int `json:"failed"`  // of these
	Reused  int `json:"reused"`  // whose bytes had an index
	Ignored int `json:"ignored"` // files that are no symbol files
}

// folderPattern names the temporary folders of tasks.
const folderPattern = "slipway-symbols-"

// Handle indexes an upload.
func (h *Index) Handle(ctx context.Context, claim *worker.Claim) error {
	payload, err := worker.Payload[tasks.SymbolPayload](claim.Tasks[0])
	if err != nil {
		return err
	}
	u, err := symbolfile.UploadForTask(ctx, h.DB, payload.SymbolID)
	if errors.Is(err, storage.ErrNotFound) {
		return claim.Finish(ctx, nil, nil) // it was deleted
	}
	if err != nil {
		return err
	}
	before, err := symbolfile.FilesOf(ctx, h.DB, u.ID)
	if err != nil {
		return err
	}
	// Its own task reads an upload that is indexed, too: the sender has said something else of it
	// while an earlier task read it.
	own := u.TaskID != nil && *u.TaskID == claim.Tasks[0].ID
	if u.State == symbolfile.Indexed && current(before) && !own {
		return claim.Finish(ctx, nil, nil)
	}
	r := &run{Index: h, claim: claim, upload: u, before: before}
	if taken, err := r.takeOver(ctx); taken || err != nil {
		return err
	}
	return r.read(ctx)
}

// current reports whether the indexes of all files are of the newest version.
func current(files []symbolfile.File) bool {
	for _, f := range files {
		if f.State == symbolfile.Indexed && f.IndexVersion < parse.Version(f.Kind) {
			return false
		}
	}
	return true
}

// run is one attempt to index an upload.
type run struct {
	*Index
	claim  *worker.Claim
	upload *symbolfile.Upload
	before []symbolfile.File
	folder string

	unpacked parse.Unpacked
	// companions have parts of the debug information of members; fetched are the other
	// uploads that were searched for such.
	companions []parse.Companion
	fetched    map[int64]bool
	files      []symbolfile.File
	written    []string // keys of objects
	kept       []string // keys of indexes that are reused
	sum        IndexResult
	shown      time.Time
}

// takeOver records the files of another upload of the same bytes, if there is one and all of
// its indexes are of use.
func (r *run) takeOver(ctx context.Context) (bool, error) {
	id, err := symbolfile.SameUpload(ctx, r.DB, r.upload.OrganizationID, r.upload.SHA256, r.upload.ID)
	if errors.Is(err, storage.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	files, err := symbolfile.FilesOf(ctx, r.DB, id)
	if err != nil || len(files) == 0 || !current(files) {
		return false, err
	}
	for _, f := range files {
		script := slices.Contains([]symbol.Kind{symbol.SourceMap, symbol.Source, symbol.Wasm, symbol.PortablePDB}, f.Kind)
		_, lacks := links(f)
		if f.State != symbolfile.Indexed || script && f.Path != "" || len(lacks) > 0 {
			return false, nil // it may be read today; the archive may have a manifest
		}
	}
	names := newNames(r.upload, nil)
	for _, f := range files {
		r.reuse(f, f.Path, names)
	}
	r.nameMaps()
	r.sum.Files = len(files)
	return true, r.finish(ctx)
}

// read copies the upload to this machine, unpacks and indexes it.
func (r *run) read(ctx context.Context) (err error) {
	if r.folder, err = os.MkdirTemp(r.Folder, folderPattern); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.folder)) }()
	path, err := r.fetch(ctx)
	if errors.Is(err, object.ErrNotFound) {
		return r.refuse(ctx, symbol.Truncated, "the uploaded file is not in the object store any more")
	}
	if err != nil {
		return err
	}
	members := filepath.Join(r.folder, "members")
	if err := os.Mkdir(members, 0o700); err != nil {
		return err
	}
	room, err := r.room()
	if err != nil {
		return err
	}
	err = r.Children.Do(ctx, parse.Unpack, parse.UnpackArgs{Path: path, Folder: members, Name: r.upload.Name,
		Format: r.upload.Format, Bytes: room}, &r.unpacked)
	var wrong *symbol.InvalidError
	if errors.As(err, &wrong) {
		return r.refuse(ctx, wrong.Code, wrong.Reason)
	}
	if err != nil {
		return err
	}
	if err := r.members(ctx); err != nil {
		r.forget(ctx)
		return err
	}
	return r.finish(ctx)
}

// refuse ends an upload of which nothing can be read.
func (r *run) refuse(ctx context.Context, code, reason string) error {
	r.unpacked.Problem = &parse.Problem{Code: code, Reason: reason}
	return r.finish(ctx)
}

// fetch copies the upload into the folder and checks that it is as it was sent.
func (r *run) fetch(ctx context.Context) (path string, err error) {
	path = filepath.Join(r.folder, "upload")
	return path, r.copyUpload(ctx, r.upload, path)
}

// copyUpload copies an upload to a file.
func (r *run) copyUpload(ctx context.Context, u *symbolfile.Upload, path string) (err error) {
	if room, err := r.room(); err != nil {
		return err
	} else if u.Size > room {
		return &tasks.PublicError{Text: "the worker has too little space for temporary files",
			Err: fmt.Errorf("%d bytes of symbols, %d of space", u.Size, room)}
	}
	content, _, err := r.Objects.Open(ctx, u.ObjectKey, 0, -1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, content.Close()) }()
	sum, err := copyFile(path, content)
	if err != nil {
		return err
	}
	if sum != u.SHA256 {
		return fmt.Errorf("the object of symbols %d has the digest %s, not %s", u.ID, sum, u.SHA256)
	}
	return nil
}

// forget deletes the indexes of an attempt that failed: the next one writes its own.
func (r *run) forget(ctx context.Context) {
	cleaning, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	worker.DeleteObjects(cleaning, r.Objects, r.Log, r.written)
}

// finish records what was found, and ends the task.
func (r *run) finish(ctx context.Context) error {
	code, reason := r.outcome()
	err := r.claim.Finish(ctx, r.sum, func(tx *storage.Tx) error {
		if err := symbolfile.KeepIndexes(ctx, tx, r.upload.OrganizationID, r.kept); err != nil {
			return err
		}
		if err := symbolfile.RecordFiles(ctx, tx, r.upload.ID, r.files, code, reason); err != nil {
			return err
		}
		needed, err := symbolfile.Needed(ctx, tx, r.upload.OrganizationID, r.upload.ID)
		if err != nil {
			return err
		}
		if err := r.relink(ctx, tx); err != nil || !needed {
			return err
		}
		_, err = ledger.Insert(ctx, tx, tasks.NewCrashResymbolicate(r.upload.OrganizationID, r.claim.Tasks[0].RequestID, r.upload.ID))
		return err
	})
	if err != nil {
		r.forget(ctx)
	}
	if errors.Is(err, storage.ErrNotFound) {
		return r.claim.Finish(ctx, nil, nil) // it was deleted meanwhile
	}
	if err != nil {
		return err
	}
	r.removeReplaced(ctx)
	return nil
}

// removeReplaced deletes the indexes that nothing names any more since the upload was
// indexed anew.
func (r *run) removeReplaced(ctx context.Context) {
	var keys []string
	for _, f := range r.before {
		if f.IndexKey != "" {
			keys = append(keys, f.IndexKey)
		}
	}
	if len(keys) == 0 {
		return
	}
	unnamed, err := symbolfile.UnnamedIndexes(ctx, r.DB, keys)
	if err != nil {
		r.Log.WarnContext(ctx, "replaced indexes not deleted, the sweep will", "error", err)
		return
	}
	worker.DeleteObjects(ctx, r.Objects, r.Log, unnamed)
}

// outcome returns what is to be said about the upload as a whole.
func (r *run) outcome() (code, reason string) {
	if p := r.unpacked.Problem; p != nil {
		return p.Code, p.Reason
	}
	failed, first := 0, symbolfile.File{}
	for _, f := range r.files {
		if f.State == symbolfile.Indexed {
			return "", ""
		}
		if failed++; failed == 1 {
			first = f
		}
	}
	switch failed {
	case 0:
		return symbol.Unsupported, "there is no symbol file in this upload"
	case 1:
		return first.ErrorCode, first.Error
	}
	return first.ErrorCode, fmt.Sprintf("none of the %d symbol files can be read; %s: %s", failed, first.Path, first.Error)
}
