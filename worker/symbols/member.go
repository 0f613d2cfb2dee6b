package symbols

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/filetype"
	"github.com/slipway-qa/slipway/storage/symbolfile"
	"github.com/slipway-qa/slipway/worker/symbols/parse"
)

// progressEvery is how often people see how far a large archive is.
const progressEvery = 3 * time.Second

// members indexes what was unpacked.
func (r *run) members(ctx context.Context) error {
	if _, err := r.addCompanions(r.unpacked.Members); err != nil {
		return err
	}
	same, err := r.sameFiles(ctx)
	if err != nil {
		return err
	}
	names := newNames(r.upload, &r.unpacked)
	r.sum.Files, r.sum.Ignored = len(r.unpacked.Members), r.unpacked.Ignored
	r.shown = time.Now()
	for i, m := range r.unpacked.Members {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.member(ctx, m, same[m.SHA256], names); err != nil {
			return err
		}
		// What is a part of other members is needed until the end.
		if m.Broken == nil && len(m.Supplies) == 0 && i+1 < len(r.unpacked.Members) {
			if err := os.Remove(m.File); err != nil { // the next ones have the space
				return err
			}
		}
		if err := r.showProgress(ctx); err != nil {
			return err
		}
	}
	r.nameMaps()
	return nil
}

// addCompanions adds those of the members that have a part of the debug information of
// others, and reports whether there were any.
func (r *run) addCompanions(members []parse.Member) (bool, error) {
	before := len(r.companions)
	for _, m := range members {
		if m.Broken == nil && len(m.Supplies) > 0 {
			r.companions = append(r.companions, parse.Companion{File: m.File, Supplies: m.Supplies})
		}
	}
	if len(r.companions) == before {
		return false, nil
	}
	return true, parse.WriteCompanions(r.companionList(), r.companions)
}

// companionList is the path of the list of companions.
func (r *run) companionList() string { return filepath.Join(r.folder, "companions") }

func (r *run) showProgress(ctx context.Context) error {
	if time.Since(r.shown) < progressEvery {
		return nil
	}
	r.shown = time.Now()
	return r.claim.Checkpoint(ctx, func(tx *storage.Tx) error { return r.claim.SaveProgress(ctx, tx, r.sum) })
}

// sameFiles returns the files that the organization has of the members' bytes, by digest: of
// each the files of one upload and path, with indexes of the newest version.
func (r *run) sameFiles(ctx context.Context) (map[string][]symbolfile.File, error) {
	var digests []string
	for _, m := range r.unpacked.Members {
		if m.Broken == nil {
			digests = append(digests, m.SHA256)
		}
	}
	same := map[string][]symbolfile.File{}
	const step = 500
	for len(digests) > 0 {
		n := min(step, len(digests))
		files, err := symbolfile.SameFiles(ctx, r.DB, r.upload.OrganizationID, digests[:n])
		if err != nil {
			return nil, err
		}
		digests = digests[n:]
		for _, f := range files {
			group := same[f.SHA256]
			if len(group) > 0 && (group[0].UploadID != f.UploadID || group[0].Path != f.Path) || !current([]symbolfile.File{f}) {
				continue
			}
			same[f.SHA256] = append(group, f)
		}
	}
	return same, nil
}

// member indexes one member: each architecture of it.
func (r *run) member(ctx context.Context, m parse.Member, same []symbolfile.File, names *names) error {
	defer func() { r.sum.Done++ }()
	if m.Broken != nil {
		r.fail(symbolfile.File{Path: m.Path, Kind: symbol.Kind(filetype.Other)}, m.Broken)
		return nil
	}
	if len(same) == m.Slices && r.reusable(m, same[0]) {
		for _, f := range same {
			r.reuse(f, m.Path, names)
		}
		return nil
	}
	for slice := range m.Slices {
		if err := r.slice(ctx, m, slice, names); err != nil {
			return err
		}
	}
	return nil
}

// reusable reports whether the index of a file of the same bytes is all that there is to
// read: not where it lacked a part, where the archive may have a part for it, or where it
// holds a map.
func (r *run) reusable(m parse.Member, f symbolfile.File) bool {
	var facts parse.Facts
	if f.Kind != symbol.Kind(m.Format) || json.Unmarshal(f.Facts, &facts) != nil || facts.InlineMap {
		return false
	}
	return f.Kind != symbol.ELF || len(facts.Lacks) == 0 && (len(m.Supplies) > 0 || len(r.companions) == 0)
}

// reuse adds a file whose bytes have an index.
func (r *run) reuse(f symbolfile.File, path string, names *names) {
	var facts parse.Facts
	_ = json.Unmarshal(f.Facts, &facts) // our own; without them a file is found by its URL
	f.Path, f.Identifiers = path, names.of(path, f.Kind, facts)
	if f.IndexKey != "" {
		r.kept = append(r.kept, f.IndexKey)
	}
	r.files = append(r.files, f)
	r.sum.Reused++
	r.observe(f, "reused", 0)
}

func (r *run) fail(f symbolfile.File, p *parse.Problem) {
	f.State, f.ErrorCode, f.Error = symbolfile.Failed, p.Code, p.Reason
	r.files = append(r.files, f)
	r.sum.Failed++
	r.observe(f, "failed", 0)
}

func (r *run) observe(f symbolfile.File, outcome string, took time.Duration) {
	if r.Observer != nil {
		r.Observer.SymbolFileRead(string(f.Kind), outcome, f.Size, took)
	}
}

// slice indexes one architecture of a member. What is wrong with it is its row's.
func (r *run) slice(ctx context.Context, m parse.Member, slice int, names *names) error {
	start := time.Now()
	f := symbolfile.File{Path: m.Path, Kind: symbol.Kind(m.Format), State: symbolfile.Indexed, Size: m.Size, SHA256: m.SHA256}
	out := filepath.Join(r.folder, "index-"+strconv.Itoa(len(r.files)))
	var done parse.Indexed
	args := parse.IndexArgs{File: m.File, Out: out, Folder: r.folder, Format: m.Format, Slice: slice}
	err := r.index(ctx, args, &done)
	var wrong *symbol.InvalidError
	if errors.As(err, &wrong) {
		r.Log.InfoContext(ctx, "symbol file cannot be read", "symbol_id", r.upload.ID, "kind", f.Kind, "code", wrong.Code)
		r.fail(f, &parse.Problem{Code: wrong.Code, Reason: wrong.Reason})
		return ignoreMissing(os.Remove(out))
	}
	if err != nil {
		return errors.Join(err, ignoreMissing(os.Remove(out)))
	}
	f.Kind, f.Arch, f.Features, f.IndexSize = done.Kind, done.Arch, done.Features, done.Size
	f.IndexVersion = parse.Version(f.Kind)
	if f.Facts, err = json.Marshal(done.Facts); err != nil {
		return err
	}
	f.Identifiers = names.of(m.Path, f.Kind, done.Facts)
	if f.IndexSize > 0 {
		f.IndexKey = indexKey(r.upload.OrganizationID, f)
		if err := r.put(ctx, f.IndexKey, out, f.IndexSize); err != nil {
			return err
		}
	}
	r.files = append(r.files, f)
	r.observe(f, "indexed", time.Since(start))
	if err := ignoreMissing(os.Remove(out)); err != nil || done.InlineMap == nil {
		return err
	}
	return r.inlineMap(ctx, m, done, names)
}

// index has a child read a member, again when other uploads have what it lacks.
func (r *run) index(ctx context.Context, args parse.IndexArgs, done *parse.Indexed) error {
	for {
		if args.Format == filetype.Format(symbol.ELF) && len(r.companions) > 0 {
			args.Companions = r.companionList()
		}
		*done = parse.Indexed{}
		if err := r.Children.Do(ctx, parse.Index, args, done); err != nil || len(done.Facts.Lacks) == 0 {
			return err
		}
		more, err := r.fetchCompanions(ctx, done.Facts.Lacks)
		if err != nil || !more {
			return err
		}
		if err := ignoreMissing(os.Remove(args.Out)); err != nil {
			return err
		}
	}
}

// inlineMap indexes the source map within a script: a file beside it, of the name that maps
// have by default and with the script's ids.
func (r *run) inlineMap(ctx context.Context, script parse.Member, done parse.Indexed, names *names) error {
	m := *done.InlineMap
	m.Path = cmp.Or(script.Path, r.upload.Name) + ".map"
	r.sum.Files++
	if err := r.member(ctx, m, nil, names); err != nil {
		return err
	}
	if f := &r.files[len(r.files)-1]; f.State == symbolfile.Indexed {
		f.Identifiers = append(f.Identifiers, done.Facts.Identifiers...)
	}
	return os.Remove(m.File)
}

// indexKey returns a key for an index. Nothing is ever written under it again: caches keep
// what they read by the key, and a removal cannot meet a newer index.
func indexKey(organization int64, f symbolfile.File) string {
	return fmt.Sprintf("%s%d/%s-%s-v%d-%s", symbolfile.IndexPrefix, organization, f.SHA256, f.Kind, f.IndexVersion, uuid.NewString())
}

// put stores an index.
func (r *run) put(ctx context.Context, key, path string, size int64) (err error) {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	if _, err := object.Put(ctx, r.Objects, key, in, size, object.WriteOptions{}); err != nil {
		return err
	}
	r.written = append(r.written, key)
	return nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// copyFile writes what r yields to a new file and returns its SHA-256.
func copyFile(path string, r io.Reader) (string, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	_, err = io.Copy(io.MultiWriter(f, hash), r)
	if err := errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
