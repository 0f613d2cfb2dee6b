package symbol

import (
	"archive/tar"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/klauspost/compress/gzip"

	"github.com/slipway-qa/slipway/api/respond"
	"github.com/slipway-qa/slipway/api/stream"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/artifact/archive"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/tasks/admission"
)

const (
	// maxMember bounds a member, inflated: the largest debug files have some GiB.
	maxMember = 16 << 30
	// maxWalked bounds what is inflated of a tar in search of a member.
	maxWalked = 64 << 30
)

// serve writes a debug file: ranges of an uploaded file, a member of an archive whole.
func (h *Handlers) serve(c *gin.Context, f *served) error {
	header := c.Writer.Header()
	header.Set("Content-Type", "application/octet-stream")
	header.Set("Content-Disposition", respond.Attachment(path.Base(f.title()), "symbols"))
	header.Set("Cache-Control", "private, max-age=3600") // what an id names does not change
	content := stream.New(c.Request.Context(), h.objects, f.ObjectKey, f.UploadSize)
	defer content.Close()
	head := make([]byte, 4)
	n, err := io.ReadFull(content, head)
	if errors.Is(err, object.ErrNotFound) {
		return fmt.Errorf("%w: %w", storage.ErrNotFound, err)
	}
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return err
	}
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		return err
	}
	head = head[:n]
	packed := bytes.HasPrefix(head, []byte{0x1f, 0x8b})
	if f.Path == "" && !packed {
		header.Set("ETag", `"`+f.SHA256+`"`)
		return h.logged(c, f, content.Serve(c, f.CreatedAt), content.Err())
	}
	place, err := h.unpack.Enter(c.Request.Context(), admission.Caller{Organization: f.OrganizationID}, 1)
	if err != nil {
		return err
	}
	defer place.Leave()
	if bytes.HasPrefix(head, []byte("PK\x03\x04")) {
		return h.fromZip(c, f)
	}
	var source io.Reader = bufio.NewReaderSize(content, 256<<10)
	if packed {
		inflated, err := gzip.NewReader(source)
		if err != nil {
			return unreadable(f, err)
		}
		defer inflated.Close()
		source = inflated
	}
	return h.fromTar(c, f, io.LimitReader(source, maxWalked))
}

// logged writes what broke in the middle of an answer to the log.
func (h *Handlers) logged(c *gin.Context, f *served, err, broken error) error {
	if broken != nil && c.Request.Context().Err() == nil {
		h.log.ErrorContext(c.Request.Context(), "download of a symbol file broken off", "symbol_file_id", f.ID, "error", broken)
	}
	return err
}

func (h *Handlers) fromZip(c *gin.Context, f *served) error {
	ctx := c.Request.Context()
	a, err := archive.Open(object.NewReaderAt(ctx, h.objects, f.ObjectKey, f.UploadSize, 0), f.UploadSize)
	if err != nil {
		return unreadable(f, err)
	}
	for _, e := range a.Entries() {
		if !sameMember(e.Name, f.Path) {
			continue
		}
		r, err := a.Open(e, maxMember)
		if err != nil {
			return unreadable(f, err)
		}
		return h.send(c, f, r, e.Size)
	}
	return fmt.Errorf("member of symbols %d: %w", f.UploadID, storage.ErrNotFound)
}

// fromTar looks for the member from the beginning; what is no tar is one packed file.
func (h *Handlers) fromTar(c *gin.Context, f *served, source io.Reader) error {
	buffered := bufio.NewReaderSize(source, 64<<10)
	block, err := buffered.Peek(512)
	if err != nil && err != io.EOF {
		return unreadable(f, err)
	}
	if len(block) < 512 || string(block[257:262]) != "ustar" {
		return h.send(c, f, io.LimitReader(buffered, maxMember), f.Size)
	}
	members := tar.NewReader(buffered)
	for {
		member, err := members.Next()
		if err == io.EOF {
			return fmt.Errorf("member of symbols %d: %w", f.UploadID, storage.ErrNotFound)
		}
		if err != nil {
			return unreadable(f, err)
		}
		if sameMember(member.Name, f.Path) && member.Size <= maxMember {
			return h.send(c, f, members, member.Size)
		}
	}
}

// sameMember compares the name in an archive with the path that was stored of it.
func sameMember(name, stored string) bool {
	return name == stored || strings.TrimPrefix(path.Clean("/"+strings.ReplaceAll(name, `\`, "/")), "/") == stored
}

// send writes a member whole. When it ends early the connection is cut, because of its
// length.
func (h *Handlers) send(c *gin.Context, f *served, r io.Reader, size int64) error {
	header := c.Writer.Header()
	header.Set("Content-Length", strconv.FormatInt(size, 10))
	header.Set("Accept-Ranges", "none")
	c.Status(http.StatusOK)
	if c.Request.Method == http.MethodHead {
		c.Writer.WriteHeaderNow()
		return nil
	}
	if _, err := io.CopyN(c.Writer, r, size); err != nil {
		// The answer has begun: the failure can only be logged.
		return h.logged(c, f, nil, err)
	}
	return nil
}

// unreadable is for archives that were read before: they are as they were, so what fails
// is the store.
func unreadable(f *served, err error) error {
	var bad *artifact.InvalidError
	if errors.As(err, &bad) {
		return fmt.Errorf("archive of symbols %d (%s): %w", f.UploadID, bad.Reason, storage.ErrNotFound)
	}
	return fmt.Errorf("read archive of symbols %d: %w", f.UploadID, err)
}
