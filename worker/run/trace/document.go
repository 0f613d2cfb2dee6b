package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
)

// The bounds of a snapshot: those that the script keeps, and a little more that a page can
// make of them which answers in the script's place.
const (
	maxNodes    = 40000
	maxUnits    = 2 << 20
	maxSheet    = MaxResource
	maxReadMS   = 250
	maxTokens   = 6 * maxNodes
	maxDepth    = 400
	maxFrames   = 20
	maxSheets   = 2000
	maxSheetSum = 8 << 20
	maxAnswer   = 24 << 20 // bytes of JSON
)

// errDocument is the error of an answer that no script of ours gives.
var errDocument = errors.New("the page gave no snapshot")

// Document is a snapshot of a page: the trees of its frames. It does not change.
type Document struct {
	page          string
	width, height float64
	cut           string
	trees         []tree
	realm         string
	seq           int
}

// tree is the document of a frame.
type tree struct {
	frame, url, doctype string
	root                *node
}

// node is an element, or a text where name is "". The hash is that of the node with all that
// is inside.
type node struct {
	name, text string
	attributes []string // names and values in turn
	children   []*node
	hash       uint64
}

// answer is what page/snapshot.js returns.
type answer struct {
	Realm  string            `json:"realm"`
	Seq    int               `json:"seq"`
	Same   bool              `json:"same"`
	Width  float64           `json:"width"`
	Height float64           `json:"height"`
	Cut    string            `json:"cut"`
	Sheets map[string]string `json:"sheets"`
	Frames []struct {
		ID      string   `json:"id"`
		URL     string   `json:"url"`
		Doctype string   `json:"doctype"`
		Tokens  []string `json:"tokens"`
	} `json:"frames"`
}

// reader makes documents of answers. It keeps the style sheets that pages have sent.
type reader struct {
	redact func(string) string
	seed   maphash.Seed
	sheets map[string]string
	size   int
	last   *Document
}

// read reads an answer. Nothing in it is trusted.
func (d *reader) read(page, text string) (*Document, error) {
	if len(text) > maxAnswer {
		return nil, fmt.Errorf("%w: %d bytes", errDocument, len(text))
	}
	var a answer
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		return nil, fmt.Errorf("%w: %w", errDocument, err)
	}
	d.keepSheets(a.Sheets)
	if a.Same {
		if d.last == nil || d.last.realm != a.Realm || d.last.seq != a.Seq {
			return nil, fmt.Errorf("%w: it is the same as another one", errDocument)
		}
		return d.last, nil
	}
	if len(a.Frames) == 0 || len(a.Frames) > maxFrames {
		return nil, fmt.Errorf("%w: %d frames", errDocument, len(a.Frames))
	}
	doc := &Document{page: page, width: a.Width, height: a.Height, cut: bounded(d.redact(a.Cut), 200), realm: a.Realm, seq: a.Seq}
	for _, f := range a.Frames {
		root, err := d.tree(f.Tokens)
		if err != nil {
			return nil, err
		}
		if !plainName(f.ID) || slices.ContainsFunc(doc.trees, func(t tree) bool { return t.frame == f.ID }) {
			return nil, fmt.Errorf("%w: two frames of one name", errDocument)
		}
		doc.trees = append(doc.trees, tree{f.ID, bounded(d.redact(f.URL), 4<<10), bounded(f.Doctype, 100), root})
	}
	d.last = doc
	return doc, nil
}

// keepSheets keeps new style sheets; the oldest pages' go first.
func (d *reader) keepSheets(sheets map[string]string) {
	for id, text := range sheets {
		if len(text) > 3*maxSheet {
			continue
		}
		if d.size += len(text); d.size > maxSheetSum || len(d.sheets) >= maxSheets {
			d.sheets, d.size = map[string]string{}, len(text)
		}
		d.sheets[id] = d.redact(text)
	}
}

// tree builds the tree of a list of tokens.
func (d *reader) tree(tokens []string) (*node, error) {
	if len(tokens) > maxTokens {
		return nil, fmt.Errorf("%w: %d tokens", errDocument, len(tokens))
	}
	var open []*node
	var root *node
	add := func(n *node) error {
		if len(open) == 0 {
			return fmt.Errorf("%w: a node outside", errDocument)
		}
		parent := open[len(open)-1]
		parent.children = append(parent.children, n)
		return nil
	}
	for i := 0; i < len(tokens); i++ {
		kind, text := cutKind(tokens[i])
		switch kind {
		case 'E':
			if !plainName(text) || len(open) >= maxDepth || root != nil && len(open) == 0 {
				return nil, fmt.Errorf("%w: an element out of place", errDocument)
			}
			n := &node{name: text}
			if root == nil {
				root = n
			} else if err := add(n); err != nil {
				return nil, err
			}
			open = append(open, n)
		case 'A', 'S':
			i++
			if len(open) == 0 || i >= len(tokens) {
				return nil, fmt.Errorf("%w: an attribute out of place", errDocument)
			}
			if !plainName(text) || d.redact(text) != text {
				continue
			}
			value := d.redact(tokens[i])
			if kind == 'S' {
				value = d.sheets[tokens[i]]
			}
			n := open[len(open)-1]
			n.attributes = append(n.attributes, text, value)
		case 'T', 'C':
			value := d.redact(text)
			if kind == 'C' {
				value = d.sheets[text]
			}
			if err := add(&node{text: value, hash: maphash.String(d.seed, value)}); err != nil {
				return nil, err
			}
		case '/':
			if len(open) == 0 {
				return nil, fmt.Errorf("%w: an end without a beginning", errDocument)
			}
			d.closeNode(open[len(open)-1])
			open = open[:len(open)-1]
		default:
			return nil, fmt.Errorf("%w: an unknown token", errDocument)
		}
	}
	for ; len(open) > 0; open = open[:len(open)-1] { // of a snapshot that was cut
		d.closeNode(open[len(open)-1])
	}
	if root == nil {
		return nil, fmt.Errorf("%w: it is empty", errDocument)
	}
	return root, nil
}

func cutKind(token string) (byte, string) {
	if token == "" {
		return 0, ""
	}
	return token[0], token[1:]
}

// closeNode fills in the hash of a node whose children are all there.
func (d *reader) closeNode(n *node) {
	var h maphash.Hash
	h.SetSeed(d.seed)
	write := func(text string) {
		_, _ = h.WriteString(text)
		_ = h.WriteByte(0xff) // in no valid UTF-8
	}
	write(n.name)
	for _, text := range n.attributes {
		write(text)
	}
	for _, child := range n.children {
		var sum [8]byte
		for i := range sum {
			sum[i] = byte(child.hash >> (8 * i))
		}
		_, _ = h.Write(sum[:])
	}
	n.hash = h.Sum64()
}

// plainName reports whether a text can be the name of an element, attribute or frame: the
// viewer writes it into HTML as it is.
func plainName(text string) bool {
	return text != "" && len(text) <= 200 && !strings.ContainsAny(text, " \t\r\n\f\"'<>/=`\x00")
}

func bounded(text string, most int) string {
	if len(text) > most {
		text = text[:most]
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
