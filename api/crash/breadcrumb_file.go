package crash

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/api/crash/content"
	"github.com/slipway-qa/slipway/storage/crash/received"
)

const (
	// breadcrumbPrefix begins the names of files in which the clients of Node and of browsers
	// send their breadcrumbs: they write them while the program runs, two files in turn.
	breadcrumbPrefix   = "bt-breadcrumbs"
	maxBreadcrumbFiles = 2
	// maxBreadcrumbFile bounds a file that is read: 100 breadcrumbs of some hundred bytes each.
	maxBreadcrumbFile = 1 << 20
	// breadcrumbWait is how long the object store has for both: a crash is shown without them
	// rather than not at all, and they can still be downloaded.
	breadcrumbWait = 3 * time.Second
)

// breadcrumbFiles reads the breadcrumbs that came as files, each as an array.
func (h *Handlers) breadcrumbFiles(ctx context.Context, files []received.Attachment) (lists []json.RawMessage) {
	ctx, cancel := context.WithTimeout(ctx, breadcrumbWait)
	defer cancel()
	for i := range files {
		f := &files[i]
		if !strings.HasPrefix(f.Name, breadcrumbPrefix) || f.Size > maxBreadcrumbFile || len(lists) == maxBreadcrumbFiles {
			continue
		}
		body, _, err := h.objects.Open(ctx, f.ObjectKey, 0, -1)
		if err != nil {
			continue
		}
		text, err := io.ReadAll(io.LimitReader(body, maxBreadcrumbFile))
		_ = body.Close()
		if err == nil {
			lists = append(lists, content.BreadcrumbList(text))
		}
	}
	return lists
}
