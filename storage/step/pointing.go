package step

import (
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/step/keyboard"
)

// Pointing is how the mouse acts on an element.
type Pointing struct {
	// Position is where, from the upper left corner of the element; nil: its centre.
	Position *Position `json:"position,omitempty"`
	Button   string    `json:"button,omitempty"` // left, middle, right
	// Modifiers are keys that are held meanwhile: Alt, Control, Meta, Shift.
	Modifiers []string `json:"modifiers,omitempty"`
	// ClickCount is how often the button is pressed, 1 to 3.
	ClickCount *int `json:"clickCount,omitempty"`
}

// Position is a point in CSS pixels.
type Position struct {
	X int `json:"x"`
	Y int `json:"y"`
}

const (
	maxClicks = 3  // what pages know: a third one selects a paragraph
	maxFiles  = 10 // of one step
)

var (
	pointerMembers = []string{"position", "button", "modifiers", "clickCount"}
	buttons        = []string{"left", "middle", "right"}
)

func pointingArguments(p *Pointing) []member {
	return []member{{"position", p.Position != nil}, {"button", p.Button != ""}, {"modifiers", p.Modifiers != nil},
		{"clickCount", p.ClickCount != nil}}
}

func checkPointing(path string, t *Tool) error {
	p := &t.Args.Pointing
	if at := p.Position; at != nil && (at.X < 0 || at.X > maxViewport || at.Y < 0 || at.Y > maxViewport) {
		return Invalid(path+".position", "must be 0 to %d pixels from the upper left corner", maxViewport)
	}
	if p.Button != "" && !slices.Contains(buttons, p.Button) {
		return Invalid(path+".button", "must be one of %s", strings.Join(buttons, ", "))
	}
	for i, key := range p.Modifiers {
		if !slices.Contains(keyboard.Modifiers, key) || slices.Contains(p.Modifiers[:i], key) {
			return Invalid(fmt.Sprintf("%s.modifiers[%d]", path, i), "must be one of %s, each once", strings.Join(keyboard.Modifiers, ", "))
		}
	}
	if p.ClickCount != nil && (*p.ClickCount < 1 || *p.ClickCount > maxClicks) {
		return Invalid(path+".clickCount", "must be 1 to %d", maxClicks)
	}
	return nil
}

// checkFiles checks the files of upload_file. Without a selector they go to the chooser
// that the step before has opened.
func checkFiles(path string, t *Tool) error {
	a := &t.Args
	if a.File != nil && a.Files != nil {
		return Invalid(path+".files", "must not stand beside file")
	}
	if t.Type == UploadFile && a.File == nil && len(a.Files) == 0 {
		return Invalid(path+".file", "is missing")
	}
	if len(a.Files) > maxFiles {
		return Invalid(path+".files", "has at most %d elements", maxFiles)
	}
	if a.File != nil {
		return checkFile(path+".file", a.File)
	}
	size := 0
	for i := range a.Files {
		if err := checkFile(fmt.Sprintf("%s.files[%d]", path, i), &a.Files[i]); err != nil {
			return err
		}
		size += len(a.Files[i].Content)
	}
	if size > MaxFile {
		return Invalid(path+".files", "have together at most %d bytes", MaxFile)
	}
	return nil
}

func checkFile(path string, f *File) error {
	if err := CheckName(path+".name", f.Name, MaxName); err != nil {
		return err
	}
	if strings.ContainsAny(f.Name, `/\`) || f.Name == "." || f.Name == ".." {
		return Invalid(path+".name", "must be a name without a folder")
	}
	if len(f.Content) > MaxFile {
		return Invalid(path+".content", "has at most %d bytes", MaxFile)
	}
	return nil
}
