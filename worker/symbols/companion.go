package symbols

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/ledger"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbolfile"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker/symbols/parse"
)

// maxFetched bounds the other uploads that are fetched to index one: an executable has one
// package, or some archives of split units.
const maxFetched = 8

// fetchCompanions fetches the uploads that have what a member lacks, and reports whether
// there are companions that were not there before.
func (r *run) fetchCompanions(ctx context.Context, lacks []symbol.Link) (bool, error) {
	if len(r.fetched) >= maxFetched {
		return false, nil
	}
	uploads, err := symbolfile.Suppliers(ctx, r.DB, r.upload, lacks, maxFetched)
	if err != nil {
		return false, err
	}
	more := false
	for _, id := range uploads {
		if r.fetched[id] || len(r.fetched) >= maxFetched {
			continue
		}
		if r.fetched == nil {
			r.fetched = map[int64]bool{}
		}
		r.fetched[id] = true
		added, err := r.fetchCompanion(ctx, id)
		if err != nil {
			return false, err
		}
		more = more || added
	}
	return more, nil
}

// fetchCompanion unpacks another upload. One that is gone or cannot be read has nothing.
func (r *run) fetchCompanion(ctx context.Context, id int64) (bool, error) {
	u, err := symbolfile.UploadForTask(ctx, r.DB, id)
	if errors.Is(err, storage.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	folder := filepath.Join(r.folder, "companion-"+strconv.FormatInt(id, 10))
	members := filepath.Join(folder, "members")
	if err := os.MkdirAll(members, 0o700); err != nil {
		return false, err
	}
	path := filepath.Join(folder, "upload")
	if err := r.copyUpload(ctx, u, path); err != nil {
		if errors.Is(err, object.ErrNotFound) {
			return false, nil
		}
		return false, err
	}
	room, err := r.room()
	if err != nil {
		return false, err
	}
	var unpacked parse.Unpacked
	err = r.Children.Do(ctx, parse.Unpack, parse.UnpackArgs{Path: path, Folder: members, Name: u.Name, Format: u.Format,
		Bytes: room}, &unpacked)
	var wrong *symbol.InvalidError
	if errors.As(err, &wrong) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return r.addCompanions(unpacked.Members)
}

// links returns what a file supplies and lacks, of those that its facts name.
func links(f symbolfile.File) (supplies, lacks []symbol.Link) {
	var facts parse.Facts
	_ = json.Unmarshal(f.Facts, &facts) // our own
	return facts.Supplies, facts.Lacks
}

// relink has the uploads indexed anew that lacked what this one has, and this one when what
// it lacks has come while it was read. The lock of needs, which the caller holds, orders
// the two.
func (r *run) relink(ctx context.Context, tx *storage.Tx) error {
	var lacks []symbol.Link
	for i, f := range r.files {
		var lacked []symbol.Link
		r.files[i].Supplies, lacked = links(f)
		r.files[i].Lacks = lacked
		lacks = append(lacks, lacked...)
	}
	if err := symbolfile.RecordLinks(ctx, tx, r.upload, r.files); err != nil {
		return err
	}
	var again []symbolfile.Outdated
	var err error
	// What is read anew for its own parts has not changed for others.
	if r.upload.State == symbolfile.Pending {
		if again, err = symbolfile.OutdateLacking(ctx, tx, r.upload); err != nil {
			return err
		}
	}
	late, err := symbolfile.Suppliers(ctx, tx, r.upload, lacks, maxFetched)
	if err != nil {
		return err
	}
	for _, id := range late {
		if !r.fetched[id] && len(r.fetched) < maxFetched {
			return errLate
		}
	}
	for _, u := range again {
		task := tasks.NewSymbolIndex(u.OrganizationID, r.claim.Tasks[0].RequestID, u.ID, u.SHA256)
		if task.ID, err = uuid.NewV7(); err != nil {
			return err
		}
		set, err := symbolfile.SetTask(ctx, tx, u.ID, task.ID)
		if err != nil {
			return err
		}
		if !set {
			continue // the open task, or the maintenance, reads it
		}
		if _, err := ledger.Insert(ctx, tx, task); err != nil {
			return err
		}
	}
	return nil
}

// errLate: a part that a file lacks arrived while it was read. The next attempt has it.
var errLate = errors.New("a companion of a symbol file arrived meanwhile")
