package model

import (
	"fmt"

	"github.com/slipway-qa/slipway/storage/step/redaction"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// pageText is a page in words.
func pageText(s *snapshot.Snapshot) string {
	text := s.Outline()
	if s.Windows > 1 {
		text = fmt.Sprintf("window %d of %d, counted from 0\n", s.Window, s.Windows) + text
	}
	return text
}

// redacted returns a snapshot without secrets. Texts of a snapshot are cut: one that
// ends with the beginning of a secret is left out.
func redacted(s *snapshot.Snapshot, redact *redaction.Redactor) *snapshot.Snapshot {
	clean := func(text *string) {
		*text = redact.Text(*text)
		if redact.EndsInPart(*text) {
			*text = ""
		}
	}
	out := *s
	clean(&out.URL)
	clean(&out.Title)
	if s.Dialog != nil {
		dialog := *s.Dialog
		clean(&dialog.Text)
		out.Dialog = &dialog
	}
	out.Nodes = make([]snapshot.Node, len(s.Nodes))
	copy(out.Nodes, s.Nodes)
	for i := range out.Nodes {
		n := &out.Nodes[i]
		for _, text := range []*string{&n.Name, &n.Text, &n.Description, &n.Label, &n.Placeholder, &n.Title, &n.TestID, &n.ID,
			&n.NameAttr, &n.Href, &n.Value, &n.ColumnHeader, &n.RowHeader} {
			clean(text)
		}
		if n.Password || n.Type == "password" {
			n.Value = ""
		}
		n.Options = append([]snapshot.Option{}, n.Options...)
		for j := range n.Options {
			clean(&n.Options[j].Label)
			clean(&n.Options[j].Value)
		}
	}
	return &out
}
