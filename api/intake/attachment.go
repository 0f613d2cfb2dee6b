package intake

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/crash/received"
	"github.com/slipway-qa/slipway/storage/object"
)

const (
	// attachmentPeek of a file are read before the store is asked: what ends
	// there is stored with its size known, without one of the store's large
	// buffers.
	attachmentPeek = 64 << 10
	// maxName bounds a file's name: 255 bytes, as file systems have it.
	maxName        = 255
	maxContentType = 200
	octetStream    = "application/octet-stream"
	// removeWait bounds the removal of a refused report's files.
	removeWait = 15 * time.Second
)

// attach streams a file into the object store.
func (in *intake) attach(ctx context.Context, src io.Reader, name, kind string) error {
	limits := in.r.cfg.Limits
	if len(in.files) >= limits.Attachments {
		return tooLarge("the crash has more than %d attachments", limits.Attachments)
	}
	id, err := uuid.NewV7()
	if err != nil {
		return err
	}
	at := received.Attachment{ID: id, Name: name, ContentType: contentType(kind), ObjectKey: "attachments/" + id.String()}
	size, err := in.putFile(ctx, src, at.ObjectKey, at.ContentType, filePut{"an attachment", limits.Attachment, tierFiles})
	if err != nil {
		return err
	}
	at.Size = size
	in.files = append(in.files, at)
	return nil
}

// filePut bounds a file: its bytes, and the tier of those that are longer than a head.
type filePut struct {
	what  string // in a refusal
	limit int64
	tier  int
}

// putFile streams a file into the object store and returns its size.
func (in *intake) putFile(ctx context.Context, src io.Reader, key, kind string, how filePut) (int64, error) {
	head, err := in.places.take(ctx, tierHeads, attachmentPeek)
	if err != nil {
		return 0, err
	}
	defer in.places.leave(head)
	file := &fileReader{src: src, left: how.limit}
	peek := in.r.buffers.get(attachmentPeek)
	defer in.r.buffers.put(peek)
	n, err := io.ReadFull(file, peek.b[:attachmentPeek])
	size := int64(-1)
	content := io.MultiReader(bytes.NewReader(peek.b[:n]), file)
	switch {
	case file.err != nil:
		return 0, in.fileFailure(file.err, how)
	case err != nil: // the end
		size, content = int64(n), bytes.NewReader(peek.b[:n])
	default:
		// The time for the head is the client's, not that of the queue.
		whole, err := in.places.take(ctx, how.tier, 1)
		if err != nil {
			return 0, err
		}
		defer in.places.leave(whole)
	}
	info, err := object.Put(ctx, in.r.cfg.Objects, key, content, size, object.WriteOptions{ContentType: kind})
	switch {
	case file.err != nil:
		return 0, in.fileFailure(file.err, how)
	case err != nil && ctx.Err() != nil:
		return 0, ctx.Err()
	case err != nil:
		return 0, unavailable("the file cannot be stored now: send it again later", err)
	}
	return info.Size, nil
}

// fileFailure names why a file could not be read to its end.
func (in *intake) fileFailure(err error, how filePut) error {
	switch {
	case errors.Is(err, errLimit):
		return tooLarge("%s is longer than %d bytes", how.what, how.limit)
	case in.body.err != nil:
		return in.body.err
	}
	return arrival(err)
}

// fileReader bounds a file and remembers how reading failed, as the object
// store does not hand that through.
type fileReader struct {
	src  io.Reader
	left int64
	err  error // never io.EOF
}

func (f *fileReader) Read(p []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	n, err := f.src.Read(p)
	if f.left -= int64(n); f.left < 0 {
		err = errLimit
	}
	if err != nil && err != io.EOF {
		f.err = err
	}
	return n, err
}

// attachmentName names a file by its file name, else by its part.
func attachmentName(part, file string) string {
	if file == "" {
		file = strings.TrimPrefix(part, attachmentPrefix)
	}
	return baseName(file)
}

// baseName makes a name that can be kept: without folders of either kind of
// system, valid UTF-8, without control characters, at most 255 bytes.
func baseName(name string) string {
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, "\uFFFD"))
	if len(name) > maxName {
		cut := maxName
		for !utf8.RuneStart(name[cut]) {
			cut--
		}
		name = name[:cut]
	}
	switch strings.TrimSpace(name) {
	case "", ".", "..":
		return "attachment"
	}
	return name
}

// contentType returns a content type that can be stored; clients write "null" and
// worse.
func contentType(kind string) string {
	if len(kind) > maxContentType || !strings.Contains(kind, "/") {
		return octetStream
	}
	for i := range len(kind) {
		if kind[i] < 0x20 || kind[i] > 0x7e {
			return octetStream
		}
	}
	return kind
}

// removeFiles deletes the files of a report that was not stored. The answer
// goes out first: the client need not wait.
func (in *intake) removeFiles() {
	symbolPost{in}.removeSymbols()
	if in.keep || len(in.files) == 0 {
		return
	}
	in.c.Writer.Flush()
	base := in.c.Request.Context()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(base), removeWait)
	defer cancel()
	keys := make([]string, len(in.files))
	for i := range in.files {
		keys[i] = in.files[i].ObjectKey
	}
	if err := in.r.cfg.Objects.Delete(ctx, keys...); err != nil {
		in.r.cfg.Log.WarnContext(base, "attachments of a refused report not deleted", "keys", keys, "error", err)
	}
}

// keepUnknown keeps the files when the commit may have taken place: a file too
// many is better than a crash whose file is gone.
func (in *intake) keepUnknown(ctx context.Context) {
	in.keep = true
	for i := range in.files {
		in.r.cfg.Log.WarnContext(ctx, "attachment kept: outcome of its report unknown", "key", in.files[i].ObjectKey)
	}
}

// late adds files to a crash that was posted before. An object that is not a
// crash of the token's project is an invalid member (400, code 2): the crash
// interface knows no 404 for it.
func (in *intake) late(ctx context.Context) error {
	id, err := uuid.Parse(in.ask.object)
	if err != nil {
		return member("object", "must be the _rxid of a report")
	}
	owner := in.token
	if err := in.r.cfg.Store.Owns(ctx, owner.OrganizationID, owner.ProjectID, id); err != nil {
		return lateFailure(err, in.r.cfg.Limits.Attachments)
	}
	kind := in.c.Request.Header.Get("Content-Type")
	if boundary, parts := boundaryOf(kind); parts {
		err = in.multipart(ctx, boundary)
	} else {
		if strings.HasPrefix(strings.ToLower(kind), "application/x-www-form-urlencoded") {
			kind = "" // what curl says of any body
		}
		err = in.attach(ctx, &in.body, in.lateName("", ""), kind)
	}
	if err != nil {
		return err
	}
	if !in.lateComplete() {
		return member(reportPart, "is required: a part that holds a file")
	}
	for i := range in.files {
		if in.files[i].Size == 0 {
			return member("attachment", "is empty")
		}
	}
	err = in.r.cfg.Store.AddAttachments(ctx, owner.OrganizationID, owner.ProjectID, id, in.files, in.r.cfg.Limits.Attachments)
	var unknown *storage.UnknownOutcomeError
	if errors.As(err, &unknown) {
		in.keepUnknown(ctx)
	}
	if err != nil {
		return lateFailure(err, in.r.cfg.Limits.Attachments)
	}
	in.keep = true
	in.ok(echo([]byte("{}"), id, false))
	return nil
}

// lateComplete reports whether a late file has arrived.
func (in *intake) lateComplete() bool { return in.ask.object != "" && len(in.files) > 0 }

// lateName gives the first late file the name of the query.
func (in *intake) lateName(part, file string) string {
	if len(in.files) == 0 && in.ask.attachmentName != "" {
		return baseName(in.ask.attachmentName)
	}
	return attachmentName(part, file)
}

func lateFailure(err error, most int) error {
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return member("object", "no crash of the token's project has this id")
	case errors.Is(err, received.ErrTooManyAttachments):
		return tooLarge("the crash has more than %d attachments", most)
	}
	return err
}
