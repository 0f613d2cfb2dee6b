package step

import "fmt"

// The bounds of what a fingerprint says about the surroundings of an element.
const (
	maxRowTexts   = 12
	maxHeadings   = 6 // levels of headings
	maxContainers = 8
)

// Surroundings is what is around an element: what distinguishes the "Delete" of one
// row, card or dialog from that of another. A fingerprint without it is of an
// earlier version or an import, and is trusted less.
type Surroundings struct {
	Row *Row `json:"row,omitempty"`
	// Headings are those that the element is under, from the outermost to the nearest.
	Headings []string `json:"headings,omitempty"`
	// Containers are the dialogs, forms, groups, regions and tables around the
	// element, from outside in; before them the page, tab and step that are marked as
	// the current ones.
	Containers []Container `json:"containers,omitempty"`
	Alike      Alike       `json:"alike"`
}

// Row is the row, list item or card that an element is in, or the texts beside it.
type Row struct {
	Kind  string   `json:"kind"`            // RowItem, RowNear or RowFields
	Texts []string `json:"texts,omitempty"` // in their order, without those of the element
	ID    string   `json:"id,omitempty"`    // of the row itself
}

// The kinds of rows.
const (
	RowItem = "item" // a table row, list item, tree item or article
	RowNear = "near" // the texts that stand beside the element
	// RowFields is a row that only what its fields hold distinguishes; it has no texts.
	RowFields = "fields"
)

// Container is an element around another that has a role.
type Container struct {
	Role   string `json:"role"`
	Name   string `json:"name,omitempty"` // a form without one has that of its submit button
	ID     string `json:"id,omitempty"`
	Action string `json:"action,omitempty"` // of a form
}

// Alike counts the elements of the page that have the same kind and name, this one
// included.
type Alike struct {
	Count    int `json:"count"`
	Position int `json:"position"` // from 0
	// SameRow and SameContainers are how many of them have the same row texts, and
	// the same containers and headings.
	SameRow        int `json:"sameRow"`
	SameContainers int `json:"sameContainers"`
	// SameID and SameHref are how many of them have the same id and address; 0
	// without one.
	SameID   int `json:"sameId,omitempty"`
	SameHref int `json:"sameHref,omitempty"`
	// SameTestID is how many elements of any kind have the test id; 0 without one.
	SameTestID int `json:"sameTestId,omitempty"`
}

// checkSurroundings checks the bounds.
func checkSurroundings(path string, s *Surroundings) error {
	if s == nil {
		return nil
	}
	if s.Row != nil {
		if err := CheckText(path+".row.kind", s.Row.Kind, maxFingerprintTxt); err != nil {
			return err
		}
		if err := CheckText(path+".row.id", s.Row.ID, maxFingerprintTxt); err != nil {
			return err
		}
		if err := checkTextList(path+".row.texts", s.Row.Texts, maxRowTexts); err != nil {
			return err
		}
	}
	if err := checkTextList(path+".headings", s.Headings, maxHeadings); err != nil {
		return err
	}
	if len(s.Containers) > maxContainers {
		return Invalid(path+".containers", "has at most %d elements", maxContainers)
	}
	for i, c := range s.Containers {
		for _, m := range []struct{ name, text string }{{"role", c.Role}, {"name", c.Name}, {"id", c.ID}, {"action", c.Action}} {
			if err := CheckText(fmt.Sprintf("%s.containers[%d].%s", path, i, m.name), m.text, maxFingerprintTxt); err != nil {
				return err
			}
		}
	}
	for _, m := range []struct {
		name  string
		value int
	}{
		{"count", s.Alike.Count}, {"position", s.Alike.Position}, {"sameRow", s.Alike.SameRow},
		{"sameContainers", s.Alike.SameContainers}, {"sameTestId", s.Alike.SameTestID},
		{"sameId", s.Alike.SameID}, {"sameHref", s.Alike.SameHref},
	} {
		if m.value < 0 || m.value > maxIndex {
			return Invalid(path+".alike."+m.name, "must be 0 to %d", maxIndex)
		}
	}
	return nil
}

func checkTextList(path string, texts []string, most int) error {
	if len(texts) > most {
		return Invalid(path, "has at most %d elements", most)
	}
	for i, text := range texts {
		if err := CheckText(fmt.Sprintf("%s[%d]", path, i), text, maxFingerprintTxt); err != nil {
			return err
		}
	}
	return nil
}
