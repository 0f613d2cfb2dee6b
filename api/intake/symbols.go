package intake

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"strconv"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/crash/crashproject"
	"github.com/slipway-qa/slipway/storage/crash/received"
	"github.com/slipway-qa/slipway/storage/distribution/storedfile"
	"github.com/slipway-qa/slipway/storage/symbolfile"
	"github.com/slipway-qa/slipway/tasks/logfield"
)

const (
	// maxSymbolFiles bounds the files of one request: more belong into an archive.
	maxSymbolFiles = 100
	// symbolForm is what may stand around the file of a form.
	symbolForm = 16 << 20
)

// takesSymbols reports whether requests of the format bring symbol files.
func (f *format) takesSymbols() bool { return f.scope == crashproject.ScopeSymbolPost }

// symbolPost is a request that brings symbol files.
type symbolPost struct{ *intake }

// symbolFile is a symbol file in the object store.
type symbolFile struct {
	name string // as the sender calls it
	file storedfile.NewFile
}

// symbols takes the request of a symbol file, or several, through to its answer.
func (in symbolPost) symbols(ctx context.Context) error {
	if err := in.body.open(in.r, in.c.Request, in.places.arriving); err != nil {
		return err
	}
	limit := in.r.cfg.Limits.Symbols
	in.body.most = limit + symbolForm
	boundary, parts := boundaryOf(in.c.Request.Header.Get("Content-Type"))
	var err error
	switch {
	case parts:
		in.body.most = limit*maxSymbolFiles + symbolForm
		err = in.multipart(ctx, boundary)
	case in.body.inflater == nil && in.c.Request.ContentLength > limit:
		err = tooLarge("a file is longer than %d bytes", limit)
	default:
		err = in.takeSymbols(ctx, &in.body, "")
	}
	if err != nil {
		return err
	}
	if len(in.sent) == 0 {
		return member(reportPart, "is required: a part that holds a file, or the file as the body")
	}
	return in.storeSymbols(ctx)
}

// takeSymbols streams one file into the object store.
func (in symbolPost) takeSymbols(ctx context.Context, src io.Reader, name string) error {
	if len(in.sent) >= maxSymbolFiles {
		return tooLarge("the request has more than %d files: send them as an archive", maxSymbolFiles)
	}
	id, err := uuid.NewV7()
	if err != nil {
		return err
	}
	digest := sha256.New()
	f := storedfile.NewFile{Key: storedfile.Prefix + id.String(), ContentType: octetStream}
	f.Size, err = in.putFile(ctx, io.TeeReader(src, digest), f.Key, octetStream, filePut{"a file", in.r.cfg.Limits.Symbols, tierSymbols})
	if err != nil {
		return err
	}
	f.SHA256 = hex.EncodeToString(digest.Sum(nil))
	in.sent = append(in.sent, symbolFile{name, f})
	if f.Size == 0 {
		return member(reportPart, "is empty")
	}
	return nil
}

// symbolOptions are what a sender says of its files, each under several names; a form's
// fields go before the query.
type symbolOptions struct{ givenID, release, name, prefix string }

func (in symbolPost) symbolOptions() symbolOptions {
	values := in.c.Request.URL.Query()
	for _, f := range in.fields {
		if f.value != "" {
			values.Set(f.name, f.value)
		}
	}
	first := func(names ...string) string {
		for _, name := range names {
			if v := values.Get(name); v != "" {
				return v
			}
		}
		return ""
	}
	return symbolOptions{
		givenID: first("symbolication_id", "uuid", "id"),
		release: first("release", "version", "tag"),
		// Clients that send a raw body name the file in the query.
		name:   first("name", reportPart),
		prefix: first("url_prefix"),
	}
}

// storeSymbols stores the rows, and answers.
func (in symbolPost) storeSymbols(ctx context.Context) error {
	given := in.symbolOptions()
	var stored []*symbolfile.Stored
	var size int64
	defer func() {
		if len(stored) > 0 {
			in.r.cfg.Observer.SymbolFiles(len(stored), size)
		}
	}()
	for len(in.sent) > 0 {
		f := in.sent[0]
		s, err := in.r.cfg.Symbols.Add(ctx, symbolfile.New{
			OrganizationID: in.token.OrganizationID, ProjectID: in.token.ProjectID, File: f.file,
			Name: cmp.Or(f.name, given.name, in.format.name), Source: symbolfile.SourcePost, Format: in.format.name,
			Release: given.release, GivenID: given.givenID, URLPrefix: given.prefix, Actor: in.tokenActor(ctx)})
		var unknown *storage.UnknownOutcomeError
		var invalid *storage.InvalidError
		switch {
		case errors.As(err, &unknown):
			in.sent = in.sent[1:] // the sweep deletes the object if no row has it
			return err
		case errors.As(err, &invalid):
			return member(invalid.Field, invalid.Msg)
		case err != nil:
			return err
		}
		stored, size = append(stored, s), size+f.file.Size
		in.sent = in.sent[1:]
		if s.Unused {
			in.files = append(in.files, received.Attachment{ObjectKey: f.file.Key}) // removed at the end
		}
	}
	return in.answerSymbols(stored)
}

// tokenActor names the token in the audit log.
func (in symbolPost) tokenActor(ctx context.Context) account.Actor {
	return account.Actor{Name: "crash token " + strconv.FormatInt(in.token.ID, 10),
		RequestID: logfield.Get(ctx, logfield.RequestID), IPAddress: in.c.ClientIP()}
}

// answerSymbols writes the success. The id that clients keep is that of the task which
// reads the first file.
func (in symbolPost) answerSymbols(stored []*symbolfile.Stored) error {
	receipt := uuid.New()
	if id := stored[0].Upload.TaskID; id != nil {
		receipt = *id
	}
	views := make([]any, len(stored))
	for i, s := range stored {
		views[i] = in.r.cfg.SymbolView(&s.Upload)
	}
	answer, err := json.Marshal(map[string]any{memberResponse: "ok", memberReceipt: receipt, "symbol": views[0], "symbols": views})
	if err != nil {
		return err
	}
	in.ok(answer)
	return nil
}

// removeSymbols adds what was received and not stored to the files that are removed.
func (in symbolPost) removeSymbols() {
	for _, f := range in.sent {
		in.files = append(in.files, received.Attachment{ObjectKey: f.file.Key})
	}
	in.sent = nil
}
