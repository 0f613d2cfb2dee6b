package plan_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/snapshot"
)

// A value without a name goes into the closed list that has it, whatever stands before in the form; what is
// not filled in is not handed in.
func TestListsAreOpenedForTheirOptions(t *testing.T) {
	for _, c := range []struct {
		text  string
		who   string
		added bool
	}{
		{`Add the task "Wash the windows" for Dana.`, "Dana", true},
		{`Add the task "Wash the windows" for Bo.`, "Bo", true},
		{"Neue Aufgabe für Dana: Fenster putzen.", "Dana", true},
		{`Add the task "Wash the windows" for Zoe with the priority urgent.`, "", false},
	} {
		t.Run(c.text, func(t *testing.T) {
			open, title, who := false, "", ""
			tasks := []string{"Clean the bath", "Water the plants"}
			s := &scene{lang: "en"}
			s.nodes = func() []snapshot.Node {
				list := []snapshot.Node{{Ref: "head", Parent: -1, Tag: "h1", Role: "heading", Level: 1, Name: "Chores"},
					{Ref: "list", Parent: -1, Tag: "ul", Role: "list"}}
				for _, task := range tasks {
					list = append(list, snapshot.Node{Ref: "item " + task, Parent: 1, Tag: "li", Role: "listitem", Name: task, Text: task})
				}
				f := typable("who", "Who", who)
				f.Editable, f.ReadOnly = false, true
				list = append(list, typable("title", "What is to do?", title), f, pressable("add", "button", "Add"))
				if open {
					popup := len(list)
					list = append(list, snapshot.Node{Ref: "popup", Parent: -1, Tag: "div", Role: "listbox", Layer: "absolute"})
					for _, name := range []string{"Ayla", "Bo", "Dana"} {
						n := pressable("offer "+name, "option", name)
						n.Parent = popup
						list = append(list, n)
					}
				}
				return list
			}
			s.on = func(tool, ref, text string) {
				switch {
				case ref == "who" && tool == "click":
					open = !open
				case ref == "title" && tool == "input_text":
					title, open = text, false
				case ref == "add" && tool == "click" && title != "":
					tasks, title, open = append(tasks, title+" ("+who+")"), "", false
				case strings.HasPrefix(ref, "offer "):
					who, open = strings.TrimPrefix(ref, "offer "), false
				}
			}
			err := s.run(t, c.text)
			require.Equal(t, c.added, err == nil, "%v", err)
			require.Equal(t, c.added, len(tasks) == 3, "%v", tasks)
			if c.added {
				require.Equal(t, c.who, who)
			}
		})
	}
}
