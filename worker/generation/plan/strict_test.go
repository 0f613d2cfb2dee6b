package plan_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/generation/plan"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// scene is a page that is drawn anew after each step, and does something when one of its elements is
// pressed, filled in, hovered over or given a file.
type scene struct {
	lang  string
	nodes func() []snapshot.Node
	on    func(tool, ref, text string)
	asked string // what the browser asks
	yes   func()
	// answered is called with what a question was answered with.
	answered func(text string)
	did      []string
	// fails reports whether what is done to an element does not work.
	fails func(ref string) bool
}

func (s *scene) Snapshot(context.Context) (*snapshot.Snapshot, error) {
	out := &snapshot.Snapshot{URL: "http://page/", Title: "Page", Lang: s.lang, Quiet: true, Width: 1000, Height: 800}
	if s.asked != "" {
		out.Dialog = &snapshot.Dialog{Text: s.asked}
		return out, nil
	}
	for i, n := range s.nodes() {
		if n.Box == [4]int{} {
			n.Box = [4]int{10, 10 + 30*i, 300, 20}
		}
		if n.Text == "" && !n.HasValue {
			n.Text = n.Name
		}
		out.Nodes = append(out.Nodes, n)
	}
	return out, nil
}

func (s *scene) Locate(_ context.Context, refs ...string) ([]snapshot.Located, error) {
	out := make([]snapshot.Located, len(refs))
	for i, ref := range refs {
		out[i].Selector = step.Selector{Type: step.TestID, Value: ref}
	}
	return out, nil
}

func (s *scene) Do(_ context.Context, st step.Step) (playback.Record, error) {
	ref, text := "", ""
	if st.Tool.Args.Selector != nil {
		ref = st.Tool.Args.Selector.Value
	}
	if st.Tool.Args.Text != nil {
		text = *st.Tool.Args.Text
	}
	if st.Tool.Args.OptionValue != nil {
		text = *st.Tool.Args.OptionValue
	}
	if s.fails != nil && s.fails(ref) {
		return playback.Record{StepID: st.ID, Tool: st.Tool, Status: playback.Failed}, nil
	}
	s.did = append(s.did, strings.TrimSpace(st.Tool.Type+" "+ref))
	switch {
	case st.Tool.Type == step.HandleDialog:
		if s.asked = ""; st.Tool.Args.Action == "accept" && s.yes != nil {
			s.yes()
		}
		if st.Tool.Args.Action == "accept" && s.answered != nil {
			s.answered(text)
		}
	case s.on != nil:
		s.on(st.Tool.Type, ref, text)
	}
	return playback.Record{StepID: st.ID, Tool: st.Tool, Status: playback.Passed, Result: step.Outcome{Success: true}}, nil
}

func (s *scene) run(t *testing.T, text string) error {
	t.Helper()
	_, err := plan.Run(t.Context(), plan.Config{Page: s, Intent: text, NoSuggestion: true, Trace: func(line string) { t.Log(line) }})
	t.Log(text, "|", s.did, "|", err)
	return err
}

func pressable(ref, role, name string) snapshot.Node {
	return snapshot.Node{Ref: ref, Parent: -1, Tag: role, Role: role, Name: name, Interactive: true}
}

func typable(ref, name, value string) snapshot.Node {
	return snapshot.Node{Ref: ref, Parent: -1, Tag: "input", Type: "text", Role: "textbox", Name: name, Label: name,
		Value: value, Interactive: true, Editable: true, HasValue: true}
}

func box(ref, name string, on bool) snapshot.Node {
	return snapshot.Node{Ref: ref, Parent: -1, Tag: "input", Type: "checkbox", Role: "checkbox", Name: name, Label: name,
		Checked: fmt.Sprint(on), Interactive: true}
}

// notes is a page of notes: a list, and the form of the one that is open.
type notes struct {
	scene
	titles []string
	open   int // -1 a new one
	title  string
	drafts bool // only drafts are listed
	hover  string
	public []string
	says   string
}

func newNotes() *notes {
	p := &notes{titles: []string{"Storks", "Bees (draft)", "Late frost (draft)"}, title: "Storks"}
	p.lang, p.nodes, p.on = "en", p.draw, p.react
	return p
}

func (p *notes) draw() []snapshot.Node {
	list := []snapshot.Node{{Ref: "ul", Parent: -1, Tag: "ul", Role: "list"}}
	for _, t := range p.titles {
		if p.drafts && !strings.HasSuffix(t, "(draft)") {
			continue
		}
		li := len(list)
		list = append(list, snapshot.Node{Ref: "li " + t, Tag: "li", Role: "listitem", Name: t, Interactive: true,
			Reacts: "cursor listener hover"},
			snapshot.Node{Ref: "t " + t, Parent: li, Tag: "span", Role: "text", Name: t})
		if p.hover == t {
			b := pressable("x "+t, "button", "Throw away "+strings.TrimSuffix(t, " (draft)"))
			b.Parent, b.Text = li, "×"
			list = append(list, b)
		}
	}
	list = append(list, pressable("new", "button", "New note"), box("drafts", "Show drafts only", p.drafts),
		typable("title", "Title", p.title),
		pressable("keep", "button", "Keep"), pressable("publish", "button", "Publish"))
	if p.says != "" {
		list = append(list, snapshot.Node{Ref: "says", Parent: -1, Tag: "span", Role: "status", Name: p.says})
	}
	return list
}

func (p *notes) react(tool, ref, text string) {
	kind, of, _ := strings.Cut(ref, " ")
	at := slices.Index(p.titles, of)
	switch {
	case tool == step.Hover:
		p.hover = of
	case tool == step.InputText:
		p.title = text
	case tool != step.Click:
	case kind == "x":
		p.titles = slices.Delete(p.titles, at, at+1)
	case kind == "li" || kind == "t":
		p.open, p.title, p.says = at, strings.TrimSuffix(of, " (draft)"), ""
	case kind == "new":
		p.open, p.title = -1, ""
	case kind == "drafts":
		p.drafts = !p.drafts
	case kind == "keep" || kind == "publish":
		name := p.title
		if p.says = "Published."; kind == "keep" {
			p.says, name = "Kept.", name+" (draft)"
		} else {
			p.public = append(p.public, name)
		}
		if p.open < 0 {
			p.titles, p.open = append(p.titles, name), len(p.titles)
		} else {
			p.titles[p.open] = name
		}
	}
}

func TestNothingElseIsDoneToANote(t *testing.T) {
	for _, c := range []struct {
		text string
		done bool
		want string
	}{
		{"Publish the note about the late frost.", true, "Storks,Bees (draft),Late frost"},
		{"Throw away the note about the late frost.", true, "Storks,Bees (draft)"},
		{`Write a new note "First snow" and keep it as a draft`, true, "Storks,Bees (draft),Late frost (draft),First snow (draft)"},
		{`Write a new note "First snow" and keep it as a secret`, false, "Storks,Bees (draft),Late frost (draft),First snow (draft)"},
		{`Write a new note "First snow" and keep it`, true, "Storks,Bees (draft),Late frost (draft),First snow (draft)"},
		{`Check "Show drafts only"`, true, "Storks,Bees (draft),Late frost (draft)"},
	} {
		t.Run(c.text, func(t *testing.T) {
			p := newNotes()
			if err := p.run(t, c.text); (err == nil) != c.done {
				t.Errorf("error %v", err)
			}
			if got := strings.Join(p.titles, ","); got != c.want {
				t.Errorf("left %q, want %q", got, c.want)
			}
		})
	}
}

// wiki is a page of pages: links to them, and what deletes the one that is open.
func wiki(deletes bool) (*scene, *[]string) {
	pages, open := []string{"Welcome", "Notes", "Holidays"}, "Welcome"
	made := 0
	s := &scene{lang: "en"}
	s.nodes = func() []snapshot.Node {
		list := []snapshot.Node{{Ref: "nav", Parent: -1, Tag: "div"}}
		for _, p := range pages {
			a := pressable(fmt.Sprint("go ", p, " ", made), "link", p) // made anew whenever the list changes
			a.Tag, a.Href, a.Parent = "a", "#", 0
			list = append(list, a)
		}
		list = append(list, snapshot.Node{Ref: "h", Parent: -1, Tag: "h2", Role: "heading", Level: 2, Name: open},
			typable("text", "Text", "All of "+open))
		if deletes {
			list = append(list, pressable("delete", "button", "Delete page"))
		}
		return list
	}
	s.on = func(tool, ref, _ string) {
		switch f := strings.Fields(ref); {
		case tool != step.Click || len(f) == 0:
		case f[0] == "go":
			open = f[1]
		case f[0] == "delete":
			s.asked = "Delete " + open + "?"
		}
	}
	s.yes = func() {
		pages = slices.DeleteFunc(pages, func(p string) bool { return p == open })
		open = pages[0]
		made++
	}
	return s, &pages
}

func TestToOpenIsNotToRemove(t *testing.T) {
	for _, deletes := range []bool{true, false} {
		s, pages := wiki(deletes)
		err := s.run(t, "Delete the page about holidays and confirm.")
		want := "Welcome,Notes"
		if !deletes {
			want = "Welcome,Notes,Holidays"
		}
		if got := strings.Join(*pages, ","); got != want || (err == nil) != deletes {
			t.Errorf("deletes %v: left %s, error %v", deletes, got, err)
		}
	}
}

func TestConfirmNeedsAQuestion(t *testing.T) {
	l := newList("Feed the cat", "Walk the dog", "Wash the car")
	if _, err := run(t, l, "Delete Walk the dog and confirm"); err == nil {
		t.Error("nothing asked, and it was reported as confirmed")
	}
	for text, left := range map[string]int{"Delete Walk the dog and press OK in the dialog": 2, "Delete Walk the dog and press Cancel": 3} {
		l := newList("Feed the cat", "Walk the dog", "Wash the car")
		l.asks = true
		if _, err := run(t, l, text); err != nil || len(l.tasks) != left {
			t.Errorf("%s: left %q, error %v", text, l.tasks, err)
		}
	}
	code, sent := "", false
	s := &scene{lang: "en"}
	s.nodes = func() []snapshot.Node {
		list := []snapshot.Node{typable("code", "Code", code), pressable("ok", "button", "Confirm"), pressable("help", "button", "Help")}
		if sent {
			list = append(list, snapshot.Node{Ref: "p", Parent: -1, Tag: "p", Role: "text", Name: "You are in."})
		}
		return list
	}
	s.on = func(tool, ref, text string) {
		if tool == step.InputText {
			code = text
		}
		sent = sent || tool == step.Click && ref == "ok"
	}
	if err := s.run(t, "Enter 4817 as the code and confirm."); err != nil || !sent {
		t.Errorf("sent %v, error %v", sent, err)
	}
}

// "Confirm it" means none of the choices that a press has opened, where one deletes.
func TestConfirmDeletesNothingUnasked(t *testing.T) {
	for text, deletes := range map[string]bool{
		"Open the museum, then confirm it":             false,
		"Open the museum, press Delete and confirm it": true,
	} {
		t.Run(text, func(t *testing.T) {
			open, gone, sure := false, false, false
			s := &scene{lang: "en"}
			s.nodes = func() []snapshot.Node {
				var list []snapshot.Node
				if !gone {
					list = append(list, pressable("museum", "button", "Museum"))
				}
				list = append(list, pressable("bakery", "button", "Bakery"))
				switch {
				case sure:
					list = append(list, snapshot.Node{Ref: "d", Parent: -1, Tag: "div", Role: "dialog", Name: "Really?", Modal: true}, pressable("yes", "button", "OK"),
						pressable("no", "button", "Cancel"))
				case open:
					list = append(list, snapshot.Node{Ref: "d", Parent: -1, Tag: "div", Role: "dialog", Name: "Museum", Modal: true}, pressable("delete", "button", "Delete"),
						pressable("copy", "button", "Duplicate"))
				}
				if open || sure {
					list[len(list)-1].Parent, list[len(list)-2].Parent = len(list)-3, len(list)-3
				}
				return list
			}
			s.on = func(tool, ref, _ string) {
				if tool != step.Click {
					return
				}
				switch ref {
				case "museum":
					open = true
				case "delete":
					open, sure = false, true
				case "yes":
					sure, gone = false, true
				case "no":
					sure = false
				case "copy":
					open = false
				}
			}
			err := s.run(t, text)
			if (gone || sure) != deletes || (err == nil) != deletes {
				t.Errorf("gone %v, asked %v, error %v", gone, sure, err)
			}
		})
	}
}

func TestWhatIsSentIsAccountedForBefore(t *testing.T) {
	for _, c := range []struct {
		text string
		sent string // the groups that got it; "" nothing was sent
	}{
		{"Schicke den Rundbrief an die Mitglieder", "Vorstand,Mitglieder"},
		{"Schicke den Rundbrief auch an die Mitglieder (der Vorstand bekommt ihn sowieso)", ""},
		{"Schicke den Rundbrief ab", "Vorstand"},
	} {
		t.Run(c.text, func(t *testing.T) {
			on := map[string]bool{"Vorstand": true}
			groups := []string{"Vorstand", "Mitglieder", "Warteliste"}
			sent := ""
			s := &scene{lang: "de"}
			s.nodes = func() []snapshot.Node {
				list := []snapshot.Node{{Ref: "h", Parent: -1, Tag: "h1", Role: "heading", Level: 1, Name: "Rundbrief"},
					typable("subject", "Betreffzeile", "Neues")}
				for _, g := range groups {
					list = append(list, box(g, g, on[g]))
				}
				list = append(list, pressable("send", "button", "Abschicken"))
				if sent != "" {
					list = append(list, snapshot.Node{Ref: "p", Parent: -1, Tag: "p", Role: "status", Name: "Versandt."})
				}
				return list
			}
			s.on = func(tool, ref, _ string) {
				switch {
				case tool != step.Click:
				case ref == "send":
					sent = strings.Join(slices.DeleteFunc(slices.Clone(groups), func(g string) bool { return !on[g] }), ",")
				default:
					on[ref] = !on[ref]
				}
			}
			err := s.run(t, c.text)
			if sent != c.sent || (err == nil) != (c.sent != "") {
				t.Errorf("sent to %q, want %q, error %v", sent, c.sent, err)
			}
		})
	}
}

func TestNoFileIsMadeUp(t *testing.T) {
	for _, c := range []struct{ text, did string }{
		{"Upload the statutes", ""},
		{"Upload the file letter.txt", "upload_file file"},
		{`Upload "the statutes"`, "upload_file file"},
		{"Attach the rules", "click rules"},
		{"Attach the invoice", ""},
	} {
		t.Run(c.text, func(t *testing.T) {
			on := false
			s := &scene{lang: "en"}
			s.nodes = func() []snapshot.Node {
				return []snapshot.Node{{Ref: "file", Parent: -1, Tag: "input", Type: "file", Name: "Select from files",
					Label: "Select from files", Interactive: true},
					box("rules", "Attach the rules", on), pressable("help", "button", "Help")}
			}
			s.on = func(tool, ref, _ string) { on = on != (tool == step.Click && ref == "rules") }
			err := s.run(t, c.text)
			did := strings.Join(slices.DeleteFunc(slices.Clone(s.did), func(d string) bool { return strings.HasPrefix(d, step.Hover) }), ",")
			if did != c.did || (err == nil) != (c.did != "") {
				t.Errorf("did %q, want %q, error %v", did, c.did, err)
			}
		})
	}
}
