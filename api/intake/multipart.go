package intake

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime/multipart"
	"strings"

	apibody "github.com/slipway-qa/slipway/api/body"
)

const (
	// partHeaders bounds the headers of one part, and what may stand before
	// the first; real ones have some hundred bytes.
	partHeaders = 16 << 10
	// maxBoundary bounds a boundary: RFC 2046 allows 70 characters.
	maxBoundary = 200
	// partTail is how much of the end of a body is remembered, to judge its
	// closing boundary.
	partTail = maxBoundary + 64
)

// reportPart is the part that holds the report.
const reportPart = "upload_file"

// attachmentPrefix begins the names of parts that are files even without a file
// name: browsers send them as plain fields.
const attachmentPrefix = "attachment_"

// partSource feeds the multipart reader, bounds how far it may read in search
// of the next part, and remembers the end of the body.
type partSource struct {
	body *body
	n    int64
	most int64 // n may not pass it; 0: no bound
	end  bool
	over bool // the bound was met
	tail []byte
	room [2 * partTail]byte
}

func (s *partSource) Read(p []byte) (int, error) {
	if s.most > 0 {
		left := s.most - s.n
		if left <= 0 {
			s.over = true
			return 0, io.ErrUnexpectedEOF
		}
		p = p[:min(int64(len(p)), left)]
	}
	n, err := s.body.Read(p)
	s.n += int64(n)
	s.remember(p[:n])
	s.end = s.end || err == io.EOF
	return n, err
}

func (s *partSource) remember(p []byte) {
	if len(p) >= partTail {
		s.tail = append(s.room[:0], p[len(p)-partTail:]...)
		return
	}
	if over := len(s.tail) + len(p) - partTail; over > 0 {
		s.tail = s.room[:copy(s.room[:], s.tail[over:])]
	}
	s.tail = append(s.tail, p...)
}

// closed reports whether the body ended with the boundary, however it was
// written: Cocoa breaks the line inside it ("--B\r\n--").
func (s *partSource) closed(boundary string) bool {
	const loose = "- \t\r\n"
	return s.end && bytes.HasSuffix(bytes.TrimRight(s.tail, loose), []byte("--"+strings.TrimRight(boundary, loose)))
}

// ended reports whether the closing boundary was read. A form that breaks off inside the
// head of a part looks complete to the reader otherwise.
func (s *partSource) ended(boundary string) bool {
	return bytes.Contains(s.tail, []byte("--"+boundary+"--"))
}

// multipart reads the parts of the body in whatever order they come.
func (in *intake) multipart(ctx context.Context, boundary string) error {
	if boundary == "" || len(boundary) > maxBoundary {
		return malformed("Content-Type: multipart needs a boundary of 1 to 200 characters")
	}
	source := &partSource{body: &in.body}
	source.tail = source.room[:0]
	parts := multipart.NewReader(source, boundary)
	most := in.r.cfg.Limits.Fields + max(in.r.cfg.Limits.Attachments, maxSymbolFiles) + 2
	for n := 0; ; n++ {
		source.most = source.n + partHeaders
		part, err := parts.NextRawPart()
		switch {
		case err == io.EOF && in.format.takesSymbols() && !source.ended(boundary):
			return malformed("the multipart body ends early")
		case err == io.EOF:
			return nil
		case err == nil:
		case in.body.err != nil:
			return in.body.err
		case source.over:
			return tooLarge("the headers of a part are longer than %d bytes", partHeaders)
		case !in.complete():
			return malformed("the multipart body ends early or is damaged")
		default:
			return in.brokenEnd(ctx, source, boundary)
		}
		source.most = 0
		if n >= most {
			return tooLarge("the body has more than %d parts", most)
		}
		content := &openPart{Reader: part, in: in, source: source, report: in.isReport(part)}
		if err := in.part(ctx, part, content); err != nil {
			if in.body.err != nil {
				return in.body.err // what the reader made of it says less
			}
			return err
		}
		if content.cut {
			in.attachmentCut(ctx)
			return nil
		}
	}
}

// brokenEnd ends a body that is damaged behind the report: the report is stored. What
// is left of the body is read, so that the client reads its answer.
func (in *intake) brokenEnd(ctx context.Context, source *partSource, boundary string) error {
	if source.closed(boundary) {
		return nil
	}
	source.most = 0
	if _, err := io.Copy(io.Discard, source); err != nil {
		return err
	}
	in.attachmentCut(ctx)
	return nil
}

func (in *intake) attachmentCut(ctx context.Context) {
	in.r.cfg.Observer.AttachmentCut()
	in.r.cfg.Log.WarnContext(ctx, "attachment behind a crash report has no end", "crash_project_id", in.token.ProjectID,
		"attachments", len(in.files))
}

// openPart is the content of a part that may lack its boundary, as some clients write
// the last attachment: when the body ends as its headers say, it ends too. A body
// that breaks off is not taken for one: its client sends it again, whole.
type openPart struct {
	io.Reader
	in     *intake
	source *partSource
	report bool // what is cut off of it can be mended
	cut    bool
}

func (p *openPart) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	if errors.Is(err, io.ErrUnexpectedEOF) && p.source.end && p.in.body.err == nil && (p.report || p.in.complete()) {
		p.cut, err = true, io.EOF
	}
	return n, err
}

// complete reports whether what the request is about has arrived.
func (in *intake) complete() bool { return in.checked || in.dump != nil || in.lateComplete() }

// isReport reports whether a part holds the report, and not a file.
func (in *intake) isReport(part *multipart.Part) bool {
	name, _ := apibody.Parameter(part.Header.Get("Content-Disposition"), "name")
	return name == reportPart && in.format.dumpPart == "" && in.ask.object == "" && !in.format.takesSymbols() && in.doc == nil
}

// part takes one part.
func (in *intake) part(ctx context.Context, head *multipart.Part, part io.Reader) error {
	disposition := head.Header.Get("Content-Disposition")
	name, _ := apibody.Parameter(disposition, "name")
	file, _ := apibody.Parameter(disposition, "filename")
	kind := head.Header.Get("Content-Type")
	switch {
	case in.format.takesSymbols():
		if name == reportPart || file != "" || strings.HasPrefix(name, attachmentPrefix) {
			return symbolPost{in}.takeSymbols(ctx, part, file)
		}
	case in.ask.object != "":
		if name == reportPart || file != "" || strings.HasPrefix(name, attachmentPrefix) {
			return in.attach(ctx, part, in.lateName(name, file), kind)
		}
	case in.format.dumpPart != "" && (name == in.format.dumpPart || name == reportPart && in.dump == nil):
		return in.takeDump(ctx, part, kind)
	case name == reportPart && in.format.dumpPart == "":
		return in.takeDocument(ctx, part, -1)
	case file != "" || strings.HasPrefix(name, attachmentPrefix):
		return in.attach(ctx, part, attachmentName(name, file), kind)
	}
	return in.field(ctx, part, name)
}

// field is a plain form field.
type field struct{ name, value string }

// field takes a plain field. Only dumps and symbol files have use for them; in a JSON
// report they are bounded and dropped.
func (in *intake) field(ctx context.Context, part io.Reader, name string) error {
	limits := in.r.cfg.Limits
	if len(in.fields) >= limits.Fields {
		return tooLarge("the form has more than %d fields", limits.Fields)
	}
	value, err := io.ReadAll(io.LimitReader(part, limits.Field+1))
	if err != nil {
		return arrival(err)
	}
	if int64(len(value)) > limits.Field {
		return tooLarge("a form field is longer than %d bytes", limits.Field)
	}
	if in.bytes += int64(len(name) + len(value)); in.bytes > limits.FieldBytes {
		return tooLarge("the form fields are longer than %d bytes", limits.FieldBytes)
	}
	if in.format.dumpPart == "" && !in.format.takesSymbols() {
		name, value = "", nil
	} else if err := in.keepFields(ctx); err != nil {
		return err
	}
	in.fields = append(in.fields, field{name, string(value)})
	return nil
}

// keepFields takes the place of the fields that are kept.
func (in *intake) keepFields(ctx context.Context) error {
	if in.form != nil && in.bytes <= in.form.Weight() {
		return nil
	}
	n := tierForm
	if in.bytes > formMost {
		n = tierLargeForm
	}
	at, err := in.places.take(ctx, n, in.r.memory.tiers[n].most)
	if err != nil {
		return err
	}
	in.places.leave(in.form)
	in.form = at
	return nil
}
