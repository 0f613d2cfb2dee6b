package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/worker/snapshot"
)

// TestWhatAFilterLeftIsThem takes "of them" behind a filter for what it left.
func TestWhatAFilterLeftIsThem(t *testing.T) {
	for _, c := range []struct{ text, gone string }{
		{"Show only the finished tasks and delete the second of them.", "Roof done"},
		{"Show only the finished tasks and delete the first of them.", "Sink done"},
	} {
		titles, only := []string{"Paint", "Sink done", "Garden", "Roof done"}, false
		s := &scene{lang: "en"}
		s.nodes = func() []snapshot.Node {
			list := []snapshot.Node{pressable("all", "button", "All"), pressable("finished", "button", "Finished"),
				{Ref: "ul", Parent: -1, Tag: "ul", Role: "list", Name: "Tasks"}}
			for _, title := range titles {
				if only && !strings.HasSuffix(title, "done") {
					continue
				}
				at := len(list)
				x := pressable("delete "+title, "button", "Delete")
				x.Parent = at
				list = append(list, snapshot.Node{Ref: title, Parent: 2, Tag: "li", Role: "listitem"},
					snapshot.Node{Ref: title + " text", Parent: at, Tag: "span", Role: "text", Name: title}, x)
			}
			return list
		}
		s.on = func(tool, ref, _ string) {
			if tool != "click" {
				return
			}
			if ref == "finished" || ref == "all" {
				only = ref == "finished"
			}
			if title, ok := strings.CutPrefix(ref, "delete "); ok {
				titles = slices.DeleteFunc(titles, func(s string) bool { return s == title })
			}
		}
		if err := s.run(t, c.text); err != nil || len(titles) != 3 || slices.Contains(titles, c.gone) {
			t.Errorf("%s: left %q, %v", c.text, titles, err)
		}
	}
}
