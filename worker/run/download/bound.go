package download

import (
	"context"
	"time"
)

// watch looks at the sizes while there are downloads that have not ended.
func (d *Downloads) watch() {
	ticker := time.NewTicker(lookInterval)
	defer ticker.Stop()
	for {
		select {
		case <-d.ended:
			return
		case <-d.conn.Done():
			return
		case <-ticker.C:
		}
		d.deny()
		for _, id := range d.beyond() {
			ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
			_ = d.cancel(ctx, id) // the next look tries again
			cancel()
		}
	}
}

// deny has the browser begin no more downloads where there were more than are kept: a page can
// begin them faster than they are cancelled.
func (d *Downloads) deny() {
	d.mu.Lock()
	due := len(d.surplus) > 0 && !d.denied
	d.mu.Unlock()
	if !due {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	err := d.devTools(ctx, "Browser.setDownloadBehavior", map[string]any{"behavior": "deny", "eventsEnabled": true})
	d.mu.Lock()
	defer d.mu.Unlock()
	d.denied = err == nil // else the next look tries again
}

// beyond returns the downloads to be cancelled, and notes why.
func (d *Downloads) beyond() (ids []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	open := 0
	for _, f := range d.files {
		if !f.Done {
			open++
		}
	}
	ids = append(ids, d.surplus...)
	if open == 0 {
		return ids
	}
	largest, total := d.sizes()
	for i, f := range d.files {
		switch {
		case f.Done:
		case i >= d.limits.files:
			f.Failure = d.tooMany()
		// Which file is whose is not known before the end. One file may be beyond both
		// bounds at one look: what is said does not depend on when that was.
		case largest > d.limits.file:
			f.Failure = d.tooLarge()
		case total > d.limits.total:
			f.Failure = d.tooMuch()
		}
		if !f.Done && f.Failure != "" {
			ids = append(ids, f.ID)
		}
	}
	return ids
}

func (d *Downloads) sizes() (largest, total int64) {
	folder, err := d.folder.Open(".")
	if err != nil {
		return 0, 0
	}
	defer folder.Close()
	list, _ := folder.Readdir(10 * d.limits.files)
	for _, info := range list {
		largest = max(largest, info.Size())
		total += info.Size()
	}
	return largest, total
}
