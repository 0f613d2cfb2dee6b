// Package download keeps the files that the pages of a test download.
//
// The browser writes them into a folder of the lease, each under the id of its download,
// and reports their begin and end as events of WebDriver BiDi. Where they go is said by
// the DevTools protocol for the test's user context alone: browser.setDownloadBehavior of
// BiDi lets the second file of a name replace the first. The folder is deleted with Close,
// and that of a process that was killed by Sweep. A file is not larger than MaxFile, all of a
// test not larger than MaxTotal, and there are at most MaxFiles: what goes beyond is
// cancelled, and its Failure says so. The sizes are looked at a few times a second, so
// that somewhat more may be on the disk for a moment.
//
// The folder is one of this machine: only managed browsers write into it. A browser of a
// hub, and one without the command, give a *traffic.UnavailableError from Open. Names of
// files come from pages: they are shown, and never opened as paths.
package download

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/traffic"
)

const (
	// MaxFile bounds a file in bytes, MaxTotal those of a test together.
	MaxFile  = 100 << 20
	MaxTotal = 500 << 20
	// MaxFiles bounds their number: a page can begin a download in each frame.
	MaxFiles = 100
	// maxSurplus bounds what is remembered of downloads above twice MaxFiles: after the first
	// of them the browser begins no more.
	maxSurplus   = 1000
	maxName      = 255
	lookInterval = 200 * time.Millisecond
	closeTimeout = 5 * time.Second
)

const (
	eventBegin = "browsingContext.downloadWillBegin"
	eventEnd   = "browsingContext.downloadEnd"
)

// File is a download.
type File struct {
	ID   string // of the browser
	Name string // as the server or the page suggests it
	URL  string
	// Done is true once it has ended; Failure is why it has no content then, in words for
	// people, "" when it has.
	Done    bool
	Failure string
	Size    int64 // in bytes, once it has ended
	EndedAt Mark  // 0 before

	path string // below the folder
}

// Mark is a moment of a test: when a download began or ended.
type Mark int

// Downloads are those of one test. Its methods may be called concurrently.
type Downloads struct {
	conn         *webdriver.BiDi
	userContext  string
	subscription string
	folder       *os.Root
	lock         *os.File // of the folder; nil where it could not be opened
	limits       limits
	handlers     []func()
	ended        chan struct{}
	watching     sync.WaitGroup

	mu       sync.Mutex
	files    []*File
	surplus  []string // ids of downloads that are too many to be kept, and are to be cancelled
	denied   bool     // the browser was told to begin no more
	now      Mark     // events so far
	received chan struct{}
}

type limits struct {
	file, total int64
	files       int
}

// Open has the browser keep what the test downloads. local is true for a browser of this
// machine.
func Open(ctx context.Context, s *webdriver.Session, local bool) (*Downloads, error) {
	return open(ctx, s, local, limits{MaxFile, MaxTotal, MaxFiles})
}

func open(ctx context.Context, s *webdriver.Session, local bool, l limits) (*Downloads, error) {
	if !local {
		return nil, &traffic.UnavailableError{Text: "files that a hub's browser downloads stay on the hub's machine"}
	}
	conn, err := s.BiDi(ctx)
	if errors.Is(err, webdriver.ErrNoBiDi) {
		return nil, &traffic.UnavailableError{Text: "this browser's driver offers no WebDriver BiDi, so its downloads cannot be had"}
	}
	if err != nil {
		return nil, err
	}
	userContext, err := traffic.UserContext(ctx, s, conn)
	if err != nil {
		return nil, err
	}
	folder, lock, err := makeFolder()
	if err != nil {
		return nil, err
	}
	d := &Downloads{conn: conn, userContext: userContext, folder: folder, lock: lock, limits: l, ended: make(chan struct{}),
		received: make(chan struct{})}
	d.handlers = []func(){conn.On(eventBegin, d.began), conn.On(eventEnd, d.finished)}
	if err := d.start(ctx); err != nil {
		d.removeFolder()
		if webdriver.Is(err, webdriver.ErrUnknownCommand, webdriver.ErrUnsupported, webdriver.ErrInvalidArgument, webdriver.ErrUnknownMethod) {
			return nil, &traffic.UnavailableError{Text: "this browser's driver cannot say where downloads go", Err: err}
		}
		return nil, err
	}
	d.watching.Go(d.watch)
	return d, nil
}

func (d *Downloads) start(ctx context.Context) error {
	var result struct {
		Subscription string `json:"subscription"`
	}
	params := map[string]any{"events": []string{eventBegin, eventEnd}, "userContexts": []string{d.userContext}}
	if err := d.conn.Command(ctx, "session.subscribe", params, &result); err != nil {
		return err
	}
	d.subscription = result.Subscription
	return d.devTools(ctx, "Browser.setDownloadBehavior", map[string]any{"behavior": "allowAndName",
		"downloadPath": d.folder.Name(), "eventsEnabled": true})
}

// devTools sends a command of the DevTools protocol for the test's user context.
func (d *Downloads) devTools(ctx context.Context, method string, params map[string]any) error {
	if d.userContext != "" && d.userContext != "default" {
		params["browserContextId"] = d.userContext
	}
	return d.conn.Command(ctx, "goog:cdp.sendCommand", map[string]any{"method": method, "params": params}, nil)
}

// Close ends the keeping and deletes the files.
func (d *Downloads) Close(ctx context.Context) {
	close(d.ended)
	d.watching.Wait()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	// A browser that does not respond is ended by whoever has the lease.
	for _, f := range d.Files() {
		if !f.Done {
			_ = d.cancel(ctx, f.ID)
		}
	}
	_ = d.devTools(ctx, "Browser.setDownloadBehavior", map[string]any{"behavior": "default", "eventsEnabled": true})
	_ = d.conn.Command(ctx, "session.unsubscribe", map[string]any{"subscriptions": []string{d.subscription}}, nil)
	d.removeFolder()
}

func (d *Downloads) removeFolder() {
	for _, unsubscribe := range d.handlers {
		unsubscribe()
	}
	_ = d.folder.Close()
	_ = os.RemoveAll(d.folder.Name())
	if d.lock != nil {
		_ = d.lock.Close()
	}
}

// cancel ends a download that has not ended.
func (d *Downloads) cancel(ctx context.Context, id string) error {
	return d.devTools(ctx, "Browser.cancelDownload", map[string]any{"guid": id})
}

type event struct {
	Download string `json:"download"`
	Name     string `json:"suggestedFilename"`
	URL      string `json:"url"`
	Status   string `json:"status"` // complete, canceled
}

func (d *Downloads) began(params json.RawMessage) {
	var e event
	if json.Unmarshal(params, &e) != nil || e.Download == "" {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.files) >= 2*d.limits.files { // cancelled ones too
		if len(d.surplus) < maxSurplus {
			d.surplus = append(d.surplus, e.Download)
		}
		return
	}
	d.files = append(d.files, &File{ID: e.Download, Name: cut(e.Name, maxName), URL: cut(e.URL, 2048)})
	d.wake()
}

// Mark returns the present moment.
func (d *Downloads) Mark() Mark {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now
}

func (d *Downloads) finished(params json.RawMessage) {
	var e event
	if json.Unmarshal(params, &e) != nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, f := range d.files {
		if f.ID == e.Download && !f.Done {
			d.end(i, e)
			d.wake()
			f.EndedAt = d.now
			return
		}
	}
	if at := slices.Index(d.surplus, e.Download); at >= 0 {
		d.surplus = slices.Delete(d.surplus, at, at+1)
		_ = d.folder.Remove(filepath.Base(e.Download)) // it was faster than its cancelling
	}
}

// end stores how a download has ended. The caller holds the lock.
func (d *Downloads) end(i int, e event) {
	f := d.files[i]
	f.Done = true
	if f.Failure != "" {
		_ = d.folder.Remove(filepath.Base(f.ID)) // it may have been faster than its cancelling
		return
	}
	if e.Status != "complete" {
		f.Failure = "the download was cancelled"
		return
	}
	f.path = filepath.Base(f.ID)
	info, err := d.folder.Lstat(f.path)
	if err != nil || !info.Mode().IsRegular() {
		f.Failure = "the browser wrote no file"
		return
	}
	f.Size = info.Size()
	all := f.Size
	for _, other := range d.files {
		if other != f && other.Failure == "" {
			all += other.Size
		}
	}
	switch { // it was faster than the looks at it
	case i >= d.limits.files:
		f.Failure = d.tooMany()
	case f.Size > d.limits.file:
		f.Failure = d.tooLarge()
	case all > d.limits.total:
		f.Failure = d.tooMuch()
	}
	if f.Failure != "" {
		_ = d.folder.Remove(f.path)
	}
}

func (d *Downloads) tooMany() string {
	return fmt.Sprintf("a test downloads %d files at most", d.limits.files)
}

func (d *Downloads) tooMuch() string {
	return fmt.Sprintf("the files of a test are larger than %d MiB together", d.limits.total>>20)
}

func (d *Downloads) tooLarge() string {
	return fmt.Sprintf("the file is larger than %d MiB", d.limits.file>>20)
}

// wake counts an event. The caller holds the lock.
func (d *Downloads) wake() {
	d.now++
	close(d.received)
	d.received = make(chan struct{})
}

// Files returns all downloads in the order of their begin.
func (d *Downloads) Files() []File {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := make([]File, 0, len(d.files))
	for _, f := range d.files {
		list = append(list, *f)
	}
	return list
}

// Changed returns a channel that is closed when a download begins or ends.
func (d *Downloads) Changed() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.received
}

// Ended is closed when the connection to the browser ended.
func (d *Downloads) Ended() <-chan struct{} { return d.conn.Done() }

// Content returns a download that has ended, at most so many bytes of it.
func (d *Downloads) Content(f File, most int64) ([]byte, error) {
	if !f.Done || f.Failure != "" {
		return nil, errors.New("download: it has no content")
	}
	file, err := d.folder.Open(f.path)
	if err != nil {
		return nil, fmt.Errorf("download: %w", err)
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, most))
}

func cut(text string, most int) string {
	if len(text) > most {
		return text[:most]
	}
	return text
}
