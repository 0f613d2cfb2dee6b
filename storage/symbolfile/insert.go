package symbolfile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/distribution/storedfile"
)

// The ways in which symbols arrive.
const (
	SourceAPI    = "api"    // POST /api/v3/symbols
	SourcePost   = "post"   // POST /post with a token
	SourceUpload = "upload" // with a build, or at the addresses of uploads
)

// The bounds of what a sender says, in characters. An address is as long as browsers have
// it.
const (
	maxName    = 255
	maxRelease = 255
	maxGivenID = 255
	maxPrefix  = 2048
)

// New is an uploaded file to store; its object is there already.
type New struct {
	OrganizationID int64
	ProjectID      int64 // crash project; 0: all of the organization
	BuildID        int64 // that it came with; 0: none
	// File is the object; it gets a row, unless FileID is that of one.
	File   storedfile.NewFile
	FileID int64

	Name      string
	Source    string
	Format    string // symbols, proguard, sourcemap; "" to be recognised
	Release   string
	GivenID   string
	URLPrefix string

	// Description is what was seen in a dSYM: builds that arrive later are given it, if one
	// of Teams owns them (nil: any team).
	Description *artifact.Symbols
	Teams       []int64

	// TaskID is the id of the task symbol:index, if one is needed.
	TaskID uuid.UUID
	// Actor is whose upload it is; an empty name leaves it out of the audit log, when the
	// upload of a build is there.
	Actor account.Actor
}

// Stored is an upload that is there.
type Stored struct {
	Upload Upload
	// Created is false when the same file had come to the same place before.
	Created bool
	// Pending: the caller inserts the task symbol:index with New.TaskID into the same
	// transaction. The file is new, or failed when it was read before.
	Pending bool
	// Unused: nothing names the object of New.File.
	Unused bool
}

func (n *New) clean() error {
	n.Name = fileName(n.Name)
	for _, text := range []struct {
		field string
		value *string
		most  int
	}{{"release", &n.Release, maxRelease}, {"id", &n.GivenID, maxGivenID}, {"url_prefix", &n.URLPrefix, maxPrefix}} {
		clean, err := storage.Line(text.field, *text.value, text.most)
		if err != nil {
			return err
		}
		*text.value = clean
	}
	n.File.SHA256 = strings.ToLower(n.File.SHA256)
	return nil
}

// fileName is a sender's name as lists show it: without folders and control characters.
func fileName(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, "\uFFFD")))
	if runes := []rune(name); len(runes) > maxName {
		name = string(runes[len(runes)-maxName:]) // the end shows what kind of file it is
	}
	if name == "" || name == "." || name == ".." {
		return "symbols"
	}
	return name
}

const insertUpload = `
insert into symbols (organization_id, crash_project_id, build_id, file_id, name, sha256, source, format, release,
	given_id, url_prefix, task_id)
values ($1, nullif($2::bigint, 0), nullif($3::bigint, 0), $4, $5, $6, $7, $8, $9, $10, $11, $12)
on conflict do nothing returning id`

const tryAnew = `
update symbols set state = 'pending', error_code = '', error = '', task_id = $2 where id = $1`

// correctUpload stores what a sender says anew of a file that is there.
const correctUpload = `
update symbols set state = 'pending', error_code = '', error = '', task_id = $2, name = $3, format = $4, url_prefix = $5 where id = $1`

// maxTries bounds how often an upload is looked for that others delete at the same time.
const maxTries = 5

// Insert stores an upload. Of uploads of the same file to the same place, with the same
// release and id, the first one stays; one that failed is tried anew, and so is one of
// which the sender says now that it stands at another address, by url_prefix or, of a script,
// by its name: what was said last counts.
func Insert(ctx context.Context, tx *storage.Tx, n New) (*Stored, error) {
	if err := n.clean(); err != nil {
		return nil, err
	}
	for range maxTries {
		have, err := n.find(ctx, tx)
		if err == nil {
			return n.repeat(ctx, tx, have)
		}
		if !errors.Is(err, storage.ErrNotFound) {
			return nil, err
		}
		stored, err := n.insert(ctx, tx)
		if stored != nil || err != nil {
			return stored, err
		}
	}
	return nil, fmt.Errorf("store symbols: %w", storage.ErrConflict)
}

// same is an upload of the same file to the same place.
type same struct {
	ID        int64  `db:"id"`
	State     State  `db:"state"`
	Name      string `db:"name"`
	Format    string `db:"format"`
	URLPrefix string `db:"url_prefix"`
}

// find locks the upload that is the same.
func (n *New) find(ctx context.Context, tx *storage.Tx) (*same, error) {
	// The conditions are those of the unique constraint's index, which "is not distinct from"
	// would not use.
	equal := func(column string, value int64) string {
		if value == 0 {
			return " and " + column + " is null"
		}
		return " and " + column + " = " + strconv.FormatInt(value, 10)
	}
	var have same
	err := tx.GetContext(ctx, &have, `select id, state, name, format, url_prefix from symbols where organization_id = $1`+
		equal("crash_project_id", n.ProjectID)+equal("build_id", n.BuildID)+
		` and sha256 = $2 and release = $3 and given_id = $4 for update`, n.OrganizationID, n.File.SHA256, n.Release, n.GivenID)
	return &have, storage.Wrap(err, "look for the same symbols")
}

// script reports whether a name is part of the address of what it names.
func script(name, format string) bool {
	if format == "sourcemap" {
		return true
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".map", ".js", ".mjs", ".cjs":
		return true
	}
	return false
}

// corrects reports whether the upload says something else of the file than what is there,
// and makes it say the rest of that: an empty prefix says nothing, and the format counts
// only where the file could not be read.
func (n *New) corrects(have *same) bool {
	prefix, name := n.URLPrefix != "" && n.URLPrefix != have.URLPrefix, n.Name != have.Name && script(n.Name, n.Format)
	if !prefix {
		n.URLPrefix = have.URLPrefix
	}
	if !name {
		n.Name = have.Name
	}
	if have.State != Failed {
		n.Format = have.Format
	}
	return prefix || name || have.State == Failed
}

// repeat is for a file that was sent again.
func (n *New) repeat(ctx context.Context, tx *storage.Tx, have *same) (*Stored, error) {
	s := &Stored{Unused: n.FileID == 0}
	if s.Pending = n.corrects(have); s.Pending {
		if _, err := tx.ExecContext(ctx, correctUpload, have.ID, n.TaskID, n.Name, n.Format, n.URLPrefix); err != nil {
			return nil, storage.Wrap(err, "try symbols anew")
		}
	}
	if err := n.describe(ctx, tx, have.ID); err != nil {
		return nil, err
	}
	u, err := UploadForTask(ctx, tx, have.ID)
	if err != nil {
		return nil, err
	}
	s.Upload = *u
	if !s.Pending {
		return s, nil
	}
	return s, n.audit(ctx, tx, u)
}

// insert returns nil when another transaction stored the same file meanwhile.
func (n *New) insert(ctx context.Context, tx *storage.Tx) (*Stored, error) {
	fileID := n.FileID
	if fileID == 0 {
		var err error
		if fileID, err = storedfile.Create(ctx, tx, n.OrganizationID, n.File); err != nil {
			return nil, err
		}
	}
	var ids []int64
	err := tx.SelectContext(ctx, &ids, insertUpload, n.OrganizationID, n.ProjectID, n.BuildID, fileID, n.Name, n.File.SHA256,
		n.Source, n.Format, n.Release, n.GivenID, n.URLPrefix, n.TaskID)
	if err != nil {
		return nil, storage.Wrap(err, "store symbols")
	}
	if len(ids) == 0 {
		if n.FileID != 0 {
			return nil, nil
		}
		_, err := tx.ExecContext(ctx, `delete from files where id = $1`, fileID)
		return nil, storage.Wrap(err, "store symbols")
	}
	if err := n.describe(ctx, tx, ids[0]); err != nil {
		return nil, err
	}
	u, err := UploadForTask(ctx, tx, ids[0])
	if err != nil {
		return nil, err
	}
	return &Stored{Upload: *u, Created: true, Pending: true}, n.audit(ctx, tx, u)
}

// describeUpload adds the teams of who sends a dSYM again, who may be of another team: builds
// of either may have it.
const describeUpload = `
update symbols set description = $2,
	teams = case when description is null then $3::bigint[] when teams is null or $3::bigint[] is null then null
		else (select array_agg(distinct team) from unnest(teams || $3::bigint[]) as team) end
where id = $1`

// describe keeps what was seen in a dSYM for the builds that arrive later.
func (n *New) describe(ctx context.Context, tx *storage.Tx, id int64) error {
	if n.Description == nil {
		return nil
	}
	doc, err := json.Marshal(n.Description)
	if err != nil {
		return fmt.Errorf("description of symbols: %w", err)
	}
	var teams any
	if n.Teams != nil {
		teams = pq.Array(n.Teams)
	}
	if _, err := tx.ExecContext(ctx, describeUpload, id, storage.WithoutNUL(string(doc)), teams); err != nil {
		return storage.Wrap(err, "describe symbols")
	}
	return distribution.RecordImages(ctx, tx, n.OrganizationID, id, n.Description.Images)
}

func (n *New) audit(ctx context.Context, tx *storage.Tx, u *Upload) error {
	if n.Actor.Name == "" {
		return nil
	}
	return account.Audit(ctx, tx, account.Event{OrganizationID: n.OrganizationID, Type: account.SymbolsUploaded, Actor: n.Actor,
		Subject: u.Name, Detail: map[string]any{"id": u.ID, "crash_project_id": u.ProjectID, "sha256": u.SHA256, "size": u.Size,
			"format": u.Format, "release": u.Release, "via": u.Source}})
}
