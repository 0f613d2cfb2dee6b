package upload

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
)

// What the answer says of an upload whose key stands for a build that another file became,
// or may be another file's.
const (
	warnOtherFile = "the Idempotency-Key was used before, for another file: this is the build of that one, and the file that was sent now " +
		"was not taken"
	warnUnread = "the Idempotency-Key was used before: this is the build of then, and whether the file that was sent now is the same was " +
		"not looked at"
)

// discardRepeated reads the rest of a body whose build is there already: its sender must not
// take a broken connection for a failure. It warns where the file is another one. The
// pace of the body bounds the time, and the limit of the body its bytes.
func (r *receiver) discardRepeated() {
	if r.c.Request.Body == nil || r.body == nil && r.c.Request.Header.Get("Expect") != "" {
		r.warn(warnUnread)
		return // the sender waits for leave to send
	}
	switch sum := r.repeatedSum(); sum {
	case r.earlier.File.SHA256:
	case "":
		r.warn(warnUnread)
	default:
		r.warn(warnOtherFile)
	}
	buf := make([]byte, 64<<10)
	for n, limit := int64(0), r.cfg.maxBody(); n < limit; {
		m, err := r.c.Request.Body.Read(buf)
		if n += int64(m); err != nil {
			return
		}
	}
}

// repeatedSum is the digest of the file that was sent again; "" when there is none that
// can be read. It may have come before the key.
func (r *receiver) repeatedSum() string {
	if r.file != nil {
		return r.file.SHA256
	}
	if r.form == nil {
		boundary := boundaryOf(r.c.Request.Header.Get("Content-Type"))
		if boundary == "" || len(boundary) > maxBoundary {
			return ""
		}
		r.form = newForm(&bodyReader{r: r.c.Request.Body, limit: r.cfg.maxBody()}, boundary)
	}
	for range maxParts {
		p, err := r.form.next()
		if err != nil {
			return ""
		}
		name := spell(p.name).name
		if name == fieldUploadID {
			return r.sumOfNamed()
		}
		if !p.isFile || name != fieldFile {
			continue
		}
		digest := sha256.New()
		for {
			chunk, err := r.form.chunk()
			if err == io.EOF {
				return hex.EncodeToString(digest.Sum(nil))
			}
			if err != nil {
				return ""
			}
			digest.Write(chunk)
		}
	}
	return ""
}
