package intake

import (
	"bytes"
	"context"
	"io"
	"mime/multipart"
	"strings"
	"time"

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

// multipart reads the parts of the body in whatever order they come.
func (in *intake) multipart(ctx context.Context, boundary string) error {
	if boundary == "" || len(boundary) > maxBoundary {
		return malformed("Content-Type: multipart needs a boundary of 1 to 200 characters")
	}
	source := &partSource{body: &in.body}
	source.tail = source.room[:0]
	parts := multipart.NewReader(source, boundary)
	most := in.r.cfg.Limits.Fields + in.r.cfg.Limits.Attachments + 2
	for n := 0; ; n++ {
		source.most = source.n + partHeaders
		part, err := parts.NextRawPart()
		switch {
		case err == io.EOF:
			return nil
		case err == nil:
		case in.body.err != nil:
			return in.body.err
		case source.over:
			return tooLarge("the headers of a part are longer than %d bytes", partHeaders)
		case in.complete() && source.closed(boundary):
			return nil
		default:
			return malformed("the multipart body ends early or is damaged")
		}
		source.most = 0
		if n >= most {
			return tooLarge("the body has more than %d parts", most)
		}
		if err := in.part(ctx, part); err != nil {
			if in.body.err != nil {
				return in.body.err // what the reader made of it says less
			}
			return err
		}
	}
}

// complete reports whether what the request is about has arrived.
func (in *intake) complete() bool { return in.checked || in.dump != nil || in.lateComplete() }

// part takes one part.
func (in *intake) part(ctx context.Context, part *multipart.Part) error {
	disposition := part.Header.Get("Content-Disposition")
	name, _ := apibody.Parameter(disposition, "name")
	file, _ := apibody.Parameter(disposition, "filename")
	kind := part.Header.Get("Content-Type")
	switch {
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

// field takes a plain field. Only dumps have use for them; in a JSON report
// they are bounded and dropped.
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
	if in.format.dumpPart == "" {
		name, value = "", nil
	} else if err := in.keepFields(ctx); err != nil {
		return err
	}
	in.fields = append(in.fields, field{name, string(value)})
	return nil
}

// keepFields takes the place of the fields of a dump.
func (in *intake) keepFields(ctx context.Context) error {
	if in.bytes <= in.form.weight {
		return nil
	}
	n := tierForm
	if in.bytes > formMost {
		n = tierLargeForm
	}
	at, err := in.r.memory.take(ctx, in.token.ID, n, in.r.memory.tiers[n].most, time.Now().Add(in.r.cfg.Wait))
	if err != nil {
		return err
	}
	in.form.release()
	in.form = at
	return nil
}
