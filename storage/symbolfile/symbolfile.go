// Package symbolfile stores which symbol files there are: what was uploaded, the debug
// files in it, the identifiers by which crashes find these, and where their indexes are.
//
// An upload is a row of symbols, in the state pending until the task symbol:index has
// read it; then it has a row of symbol_files for each debug file, which is indexed
// or failed with a reason. The bytes of uploads are rows of files, as those of builds
// are. The content of an index is the business of package symbol.
package symbolfile

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/symbol"
)

// State of an upload or of a debug file.
type State string

// The states. A debug file is never Pending.
const (
	Pending State = "pending"
	Indexed State = "indexed"
	Failed  State = "failed"
)

// Upload is one uploaded file.
type Upload struct {
	ID             int64  `db:"id"`
	OrganizationID int64  `db:"organization_id"`
	ProjectID      *int64 `db:"crash_project_id"` // nil: all crash projects
	Name           string `db:"name"`
	SHA256         string `db:"sha256"`
	Source         string `db:"source"`
	Format         string `db:"format"` // as the sender called it, "" to be recognised
	Release        string `db:"release"`
	GivenID        string `db:"given_id"` // an identifier that the sender named
	// URLPrefix stands before the path of a script in the addresses of stack traces.
	URLPrefix string     `db:"url_prefix"`
	BuildID   *int64     `db:"build_id"`
	FileID    int64      `db:"file_id"`
	State     State      `db:"state"`
	ErrorCode string     `db:"error_code"`
	Error     string     `db:"error"`
	TaskID    *uuid.UUID `db:"task_id"` // the task symbol:index; nil: none yet
	CreatedAt time.Time  `db:"created_at"`
	IndexedAt *time.Time `db:"indexed_at"`
	ObjectKey string     `db:"object_key"`
	Size      int64      `db:"size"` // bytes
}

// File is a debug file of an upload.
type File struct {
	ID             int64          `db:"id"`
	OrganizationID int64          `db:"organization_id"`
	UploadID       int64          `db:"symbol_id"`
	Path           string         `db:"path"` // in the archive, "" for the upload itself
	Kind           symbol.Kind    `db:"kind"`
	Arch           string         `db:"arch"`
	State          State          `db:"state"`
	ErrorCode      string         `db:"error_code"`
	Error          string         `db:"error"`
	Features       pq.StringArray `db:"features"`
	Size           int64          `db:"size"`
	SHA256         string         `db:"sha256"`
	IndexKey       string         `db:"index_key"`
	IndexVersion   int            `db:"index_version"`
	IndexSize      int64          `db:"index_size"`
	CreatedAt      time.Time      `db:"created_at"`

	// Facts are what the file says about itself, as JSON of those who index it: by these the
	// same bytes need not be read again. Only the functions that say so read them.
	Facts []byte `db:"facts"`

	Identifiers []symbol.Identifier `db:"-"`
	// Supplies and Lacks are read by RecordLinks only.
	Supplies []symbol.Link `db:"-"`
	Lacks    []symbol.Link `db:"-"`
}

const uploadColumns = `s.id, s.organization_id, s.crash_project_id, s.name, s.sha256, s.source, s.format, s.release,
	s.given_id, s.url_prefix, s.build_id, s.file_id, s.state, s.error_code, s.error, s.task_id, s.created_at, s.indexed_at,
	f.object_key, f.size`

const fileColumns = `sf.id, sf.organization_id, sf.symbol_id, sf.path, sf.kind, sf.arch, sf.state, sf.error_code, sf.error,
	sf.features, sf.size, sf.sha256, sf.index_key, sf.index_version, sf.index_size, sf.created_at`

// UploadForTask reads an upload, of whatever organization, for the task that reads it.
func UploadForTask(ctx context.Context, q storage.Querier, id int64) (*Upload, error) {
	var u Upload
	err := q.GetContext(ctx, &u, `select `+uploadColumns+` from symbols s join files f on f.id = s.file_id where s.id = $1`, id)
	if err != nil {
		return nil, storage.Wrap(err, "read symbols")
	}
	return &u, nil
}
