package install

import (
	"container/list"
	"crypto/sha256"
	"html/template"
	"sync"

	"golang.org/x/sync/singleflight"
)

const (
	// notesBytes bounds the HTML that is kept: the notes of some thousand builds,
	// or the few longest there can be (see note.MaxLength; marks may make one
	// twenty times as long).
	notesBytes = 8 << 20
	// notesEntry is what an entry costs beside its HTML, roughly.
	notesEntry = 256
)

// notes keeps the HTML of texts, for strangers look at pages as often as they like
// and a long text takes a tenth of a second to render. What was asked for longest
// ago goes first. Those who ask for one text at the same time wait for one
// rendering.
type notes struct {
	convert func(markdown string) template.HTML
	most    int // bytes
	flight  singleflight.Group

	mu      sync.Mutex
	bytes   int
	byText  map[[sha256.Size]byte]*list.Element
	ordered *list.List // of *rendered, most recent first
}

type rendered struct {
	text [sha256.Size]byte // digest of the Markdown
	html template.HTML
}

func (r *rendered) cost() int { return len(r.html) + notesEntry }

func newNotes(convert func(string) template.HTML, most int) *notes {
	return &notes{convert: convert, most: most, byText: map[[sha256.Size]byte]*list.Element{}, ordered: list.New()}
}

// html returns the HTML of a text.
func (n *notes) html(markdown string) template.HTML {
	if markdown == "" {
		return ""
	}
	text := sha256.Sum256([]byte(markdown))
	if html, ok := n.kept(text); ok {
		return html
	}
	html, _, _ := n.flight.Do(string(text[:]), func() (any, error) {
		// Another flight may have ended since.
		if html, ok := n.kept(text); ok {
			return html, nil
		}
		html := n.convert(markdown)
		n.keep(&rendered{text, html})
		return html, nil
	})
	return html.(template.HTML)
}

func (n *notes) kept(text [sha256.Size]byte) (template.HTML, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	e, ok := n.byText[text]
	if !ok {
		return "", false
	}
	n.ordered.MoveToFront(e)
	return e.Value.(*rendered).html, true
}

func (n *notes) keep(r *rendered) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if r.cost() > n.most {
		return
	}
	for n.bytes+r.cost() > n.most {
		last := n.ordered.Remove(n.ordered.Back()).(*rendered)
		delete(n.byText, last.text)
		n.bytes -= last.cost()
	}
	n.byText[r.text] = n.ordered.PushFront(r)
	n.bytes += r.cost()
}
