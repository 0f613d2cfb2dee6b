package upload

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/crashproject"
	"github.com/slipway-qa/slipway/storage/symbolfile"
)

// The further fields of a form with symbol files.
const (
	fieldCrashProjectID = "crash_project_id"
	fieldCrashProject   = "crash_project"
	fieldRelease        = "release"
	fieldFormat         = "format"
	fieldGivenID        = "id"
	fieldURLPrefix      = "url_prefix"
	fieldName           = "name"
)

// maxSymbolFiles bounds the files of one form: more belong into an archive.
const maxSymbolFiles = 100

// spellSymbols returns what the name of a part of such a form means.
func spellSymbols(name string) spelling {
	switch name = strings.TrimSuffix(name, "[]"); name {
	case fieldKey, fieldFile, fieldUploadID, fieldCrashProjectID, fieldCrashProject, fieldRelease, fieldFormat, fieldGivenID,
		fieldURLPrefix, fieldName:
		return spelling{name: name}
	case fieldSymbols, "upload_file":
		return spelling{name: fieldFile, rank: 1}
	case "symbolication_id", "uuid":
		return spelling{name: fieldGivenID, rank: 1}
	case fieldVersion:
		return spelling{name: fieldRelease, rank: 1}
	}
	return spelling{}
}

// readSymbolFile receives one of the files. A sender who has shown a key has each stored
// at once; before that there may be one, as each takes a buffer of the object store until
// it is stored.
func (r *receiver) readSymbolFile(p *part) error {
	if !p.isFile {
		return problemSymbolFile()
	}
	if len(r.files) == maxSymbolFiles {
		return problemTooLarge("the form has more than " + strconv.Itoa(maxSymbolFiles) + " files: send them as an archive")
	}
	if r.caller == nil && len(r.files) > 0 {
		return invalid(fieldKey, "must come before the second file, or in a header")
	}
	f, err := r.receiveFile(p, r.cfg.MaxSymbols)
	if errors.Is(err, errTooLong) {
		return problemTooLarge("file: is longer than " + strconv.FormatInt(r.cfg.MaxSymbols, 10) + " bytes")
	}
	if err != nil {
		return err
	}
	if f.Size == 0 {
		return invalid(fieldFile, "is empty")
	}
	r.files = append(r.files, f)
	if r.caller == nil {
		return nil
	}
	return r.commitSymbolFiles()
}

// commitSymbolFiles stores the objects that are not stored yet.
func (r *receiver) commitSymbolFiles() error {
	for _, f := range r.files {
		if f.stored {
			continue
		}
		if err := r.commit(f); err != nil {
			return err
		}
		f.stored = true
	}
	return nil
}

// storeSymbolFiles receives a form with symbol files and stores them.
func (u *upload) storeSymbolFiles() ([]*symbolfile.Stored, error) {
	if err := u.receive(); err != nil {
		return nil, err
	}
	n := symbolfile.New{Source: symbolfile.SourceAPI, Format: u.fields.text(fieldFormat), Release: u.fields.text(fieldRelease),
		GivenID: u.fields.text(fieldGivenID), URLPrefix: u.fields.text(fieldURLPrefix)}
	switch n.Format {
	case "", "symbols", "proguard", "sourcemap":
	default:
		return nil, invalid(fieldFormat, "must be symbols, proguard or sourcemap, or left out")
	}
	var err error
	if n.ProjectID, err = u.crashProject(u.ctx()); err != nil {
		return nil, err
	}
	stored := make([]*symbolfile.Stored, 0, len(u.files))
	for _, f := range u.files {
		n.File, n.Name = f.NewFile, f.name
		if n.Name == "" {
			n.Name = u.fields.text(fieldName)
		}
		s, err := u.addSymbols(f, n)
		if err != nil {
			return nil, err
		}
		stored = append(stored, s)
	}
	return stored, nil
}

// crashProject returns the crash project that a form names by its id or name; 0 for none:
// the files are for all of the organization.
func (u *upload) crashProject(ctx context.Context) (int64, error) {
	id, err := u.fields.id(fieldCrashProjectID)
	if err != nil {
		return 0, err
	}
	name := u.fields.text(fieldCrashProject)
	switch {
	case id != 0:
		_, err = crashproject.ByID(ctx, u.cfg.DB, u.caller.OrganizationID, id)
	case name != "":
		var p *crashproject.Project
		if p, err = crashproject.ByName(ctx, u.cfg.DB, u.caller.OrganizationID, name); err == nil {
			id = p.ID
		}
	}
	if errors.Is(err, storage.ErrNotFound) {
		return 0, invalid(fieldCrashProjectID, "is no crash project of the organization")
	}
	return id, err
}
