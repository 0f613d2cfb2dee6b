package page

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/worker/generation/lexicon"
	"github.com/slipway-qa/slipway/worker/generation/page/shape"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// signs are characters that pages use as icons, with what they stand for.
var signs = map[rune][]string{
	'×': {"delete", "close"}, '✕': {"delete", "close"}, '✖': {"delete", "close"}, '✗': {"delete", "close"},
	'⨯': {"delete", "close"}, '❌': {"delete", "close"},
	'🗑': {"delete"}, '✎': {"edit"}, '✏': {"edit"}, '🖉': {"edit"}, '🖊': {"edit"}, '+': {"add", "increase", "expand"},
	'＋': {"add", "increase", "expand"}, '➕': {"add", "increase", "expand"},
	'-': {"decrease", "collapse"}, '−': {"decrease", "collapse"}, '–': {"decrease", "collapse"}, '➖': {"decrease", "collapse"},
	'★': {"star", "favorite"}, '☆': {"star", "favorite"},
	'♥': {"favorite", "like"}, '♡': {"favorite", "like"}, '❤': {"favorite", "like"}, '⋮': {"menu", "more"},
	'⋯': {"menu", "more"}, '…': {"menu", "more"},
	'☰': {"menu"}, '≡': {"menu"}, '‹': {"previous", "back"}, '◀': {"previous"}, '←': {"previous", "back"},
	'«': {"first", "previous"}, '❮': {"previous"},
	'›': {"next"}, '▶': {"next", "play"}, '→': {"next"}, '»': {"last", "next"}, '❯': {"next"}, '⚙': {"settings"},
	'🔍': {"search"}, '🔎': {"search"},
	'↑': {"up"}, '▲': {"up"}, '↓': {"down"}, '▼': {"down"}, '✓': {"done"}, '✔': {"done"}, '☑': {"done"}, '🛒': {"cart"},
	'ℹ': {"information"}, 'ⓘ': {"information"},
	'?': {"help"}, '⬇': {"download"}, '⤓': {"download"}, '↺': {"undo", "reset"}, '↻': {"refresh", "redo"}, '⟳': {"refresh"},
	'📌': {"pin"}, '📎': {"attach"},
	'🔔': {"notifications"}, '🏠': {"home"}, '⧉': {"copy"}, '📋': {"copy"}, '🔒': {"lock"}, '👤': {"account"}, '⏸': {"pause"},
	'⏵': {"play"}, '⎙': {"print"},
}

// icons returns what the icons of a control stand for: by the sign that it shows, or by what
// the code calls them.
func icons(n *snapshot.Node, text string) []string {
	var list []string
	if !shape.Worded(text) {
		for _, r := range text {
			for _, name := range signs[r] {
				if !slices.Contains(list, name) {
					list = append(list, name)
				}
			}
		}
	}
	if shape.Worded(text) && len(n.Hints) > 0 && !shape.ClassWord(n, shape.Words("icon")) && len(text) > 0 {
		return list // it says in words what it does
	}
	for k, hint := range n.Hints {
		names := []string{hint}
		if k+1 < len(n.Hints) {
			names = []string{hint + "-" + n.Hints[k+1], hint}
		}
		for _, name := range names {
			if iconNoise[name] {
				continue
			}
			if c := lexicon.Icon(name); c != 0 && !slices.Contains(list, c.Name()) && len(list) < 5 {
				list = append(list, strings.ReplaceAll(c.Name(), "_", " "))
				break
			}
		}
	}
	return list
}

// iconNoise are hints that name parts of pages and no icons.
var iconNoise = shape.Words("button btn icon icons svg img image link text label item list row table cell menu input select checkbox radio tab card box form fa fas far bi " +
	"mdi lucide svgicon primary secondary default header group tag page title content item action")
