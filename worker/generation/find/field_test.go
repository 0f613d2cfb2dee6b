package find

import (
	"fmt"
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/page"
)

// form is a dialog for a new member, with a field of another form below it.
func form() *page.Model {
	s := newSketch("en", "Club")
	d := s.container("dialog", "New member", -1)
	at := s.m.Containers[d].Node
	s.field(at, "text", "Name", "")
	s.field(at, "number", "Age", "")
	s.field(at, "choice", "Boat", "", "Single", "Four", "Eight")
	s.field(at, "switch", "Newsletter", "false")
	s.field(at, "text", "E-mail", "")
	s.field(at, "choice", "Role", "", "Viewer", "Editor", "Admin")
	for i := range s.m.Fields {
		s.m.Fields[i].Container = d
	}
	s.control(at, "Save", "button", -1)
	return s.m
}

// value makes a field of a goal out of "name=text" or "text".
func (p *spans) value(text string) intent.Field {
	f := intent.Field{}
	name, val, ok := strings.Cut(text, "=")
	if !ok {
		val = text
	} else {
		d := p.say(name)
		f.Name = &d
	}
	f.Value = intent.Value{Text: val, Span: p.next(val)}
	var n float64
	if _, err := fmt.Sscanf(val, "%g", &n); err == nil && fmt.Sprint(n) == val {
		f.Value.Number = &n
	}
	f.Span = f.Value.Span
	return f
}

func TestAssign(t *testing.T) {
	tests := []struct {
		name   string
		values string
		want   string
	}{
		{"values alone", "Ole Berg;52;Eight", "Name:Ole Berg Age:52 Boat:Eight"},
		{"named", "age=31;name=Mia Sand", "Age:31 Name:Mia Sand"},
		{"option names its field", "Viewer;Ann Lee", "Role:Viewer Name:Ann Lee"},
		{"mail", "ann@lee.io;Ann Lee", "E-mail:ann@lee.io Name:Ann Lee"},
		{"label before the value", "age 44;role Admin;name Ann Lee", "Age:age 44 Role:role Admin Name:name Ann Lee"},
		{"box by its label", "newsletter;Bo", "Newsletter:newsletter Name:Bo"},
		{"field that is not there", "shoe size=44", "missing shoe size"},
		{"option that is not there", "boat=Two", "missing boat"},
		{"other word for it", "mail=bo@x.org", "E-mail:bo@x.org"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := form()
			var p spans
			var fields []intent.Field
			for _, v := range strings.Split(tt.values, ";") {
				fields = append(fields, p.value(v))
			}
			a := Assign(m, fields, Want{Lang: "en", Within: -1})
			var out []string
			for _, s := range a.Slots {
				out = append(out, m.Fields[s.To.Index].Label+":"+fields[s.Value].Value.Text)
			}
			got := strings.Join(out, " ")
			if len(a.Missing) > 0 {
				got = "missing " + strings.ToLower(strings.Split(tt.values, "=")[0])
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
				for _, s := range a.Slots {
					t.Logf("%d to %s %.3f", s.Value, m.Fields[s.To.Index].Label, s.Score)
				}
			}
		})
	}
}

func TestControls(t *testing.T) {
	s := newSketch("en", "Notes")
	s.table(-1, "Notes", "Note", "Late frost|[Throw away Late frost]|[Publish]", "Stork count|[Throw away Stork count]|[Publish]")
	s.control(0, "Delete all", "button", -1)
	s.control(0, "New note", "button", -1)
	s.control(0, "Enregistrer", "button", -1)
	tests := []struct {
		name   string
		effect intent.Effect
		lemma  string
		lang   string
		record int
		want   string
	}{
		{"by effect in the record", intent.Remove, "delete", "en", 0, "Throw away Late frost"},
		{"by effect out of another language", intent.Remove, "löschen", "de", 1, "Throw away Stork count"},
		{"by the verb", intent.Act, "publish", "en", 0, "Publish"},
		{"new is add", intent.Add, "add", "en", -1, "New note"},
		{"save in French", intent.Submit, "save", "en", -1, "Enregistrer"},
		{"nothing", intent.SignOut, "log out", "en", -1, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var p spans
			cs := Controls(s.m, Aim{Effect: tt.effect, Lemma: tt.lemma, Lang: tt.lang, Record: tt.record, Within: -1,
				Words: []intent.Description{p.say("/note")}})
			got := ""
			if len(cs) > 0 {
				got = s.m.Controls[cs[0].Index].Names[0].Text
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
				for _, c := range cs {
					t.Logf("%.3f %s", c.Score, c.Why)
				}
			}
		})
	}
}

// TestControlsOfAState holds what is to be done to controls for that: a star is for favourites, and
// what publishes or pays does not tick.
func TestControlsOfAState(t *testing.T) {
	for _, c := range []struct {
		lemma, control string
		want           bool
	}{
		{"star", "☆", true}, {"star", "Add to favourites", true}, {"tick", "☆", false}, {"tick", "★", false},
		{"finish", "Add to favourites", false},
		{"tick", "Done", true}, {"complete", "Finish", true}, {"tick", "Publish", false}, {"tick", "Reject", false}, {"approve", "Accept", true},
		{"approve", "Reject", false}, {"tick off", "Take off", false}, {"pay", "Settle", true}, {"mark", "Mark as done", true},
		{"abhaken", "Erledigt", true}, {"abhaken", "Publish", false},
	} {
		s := newSketch("en", "Notes")
		s.control(0, c.control, "button", -1)
		lang := "en"
		if c.lemma == "abhaken" {
			lang = "de"
		}
		if got := len(Controls(s.m, Aim{Effect: intent.Complete, Lemma: c.lemma, Lang: lang, Record: -1, Within: -1})) > 0; got != c.want {
			t.Errorf("%q by %q: %v, want %v", c.lemma, c.control, got, c.want)
		}
	}
}

// TestControlsOfTheFavourites takes a mark away by what shows it, or says so, and never by what gives one.
func TestControlsOfTheFavourites(t *testing.T) {
	for _, c := range []struct {
		control string
		likes   bool
		want    bool
	}{
		{"♥", true, true}, {"★", true, true}, {"♡", true, false}, {"☆", true, false}, {"♥", false, false},
		{"Remove from favourites", true, true}, {"Retirer des favoris", true, true}, {"Add to favourites", true, false},
		{"Favourites", true, false},
	} {
		s := newSketch("en", "Vans")
		s.control(0, c.control, "button", -1)
		if got := len(Controls(s.m, Aim{Effect: intent.Reopen, Lang: "fr", Record: -1, Within: -1, Likes: c.likes})) > 0; got != c.want {
			t.Errorf("%q, likes %v: %v, want %v", c.control, c.likes, got, c.want)
		}
	}
}

func TestWordsOfGrammarAreNotTyped(t *testing.T) {
	for _, c := range []struct {
		text, lang string
		want       bool
	}{
		{"ihn", "de", true}, {"ihn sowieso", "de", true}, {"it", "en", true}, {"the", "en", true}, {"lo", "es", true},
		{"IT", "en", false}, {"A", "en", false}, {"Ole Berg", "en", false}, {"four", "en", false}, {"car", "en", false},
		{"apples", "en", false}, {"7", "en", false},
	} {
		f := (&spans{}).value(c.text)
		if got := Functional(&f.Value, c.lang); got != c.want {
			t.Errorf("%q: %v, want %v", c.text, got, c.want)
		}
	}
	quoted := intent.Value{Text: "it", Quoted: true}
	if Functional(&quoted, "en") {
		t.Error("what stands in quotes is typed as it is")
	}
	var p spans
	if as := Assign(form(), []intent.Field{p.value("it")}, Want{Lang: "en", Within: -1}); len(as.Slots) != 0 || len(as.Missing) != 1 {
		t.Errorf("slots %+v, missing %v", as.Slots, as.Missing)
	}
}

// Who signs in goes into the field in front of that for the password, and into no other.
func TestAssignWho(t *testing.T) {
	for _, password := range []bool{true, false} {
		s := newSketch("en", "Club")
		s.field(0, "text", "Handle", "")
		s.field(0, "text", "Second", "")
		s.m.Nodes[s.m.Fields[1].Node].Password = password
		var p spans
		f := p.value("jerald")
		f.Prep = "as"
		a := Assign(s.m, []intent.Field{f}, Want{Lang: "en", Within: -1})
		if got := len(a.Slots) == 1 && a.Slots[0].To.Index == 0; got != password {
			t.Errorf("password %v: %+v", password, a.Slots)
		}
	}
}

// The bounds of a range go into the fields that are called from and to, whatever else is said.
func TestAssignBounds(t *testing.T) {
	for _, names := range [][2]string{{"From € a day", "To € a day"}, {"von", "bis"}} {
		s := newSketch(map[bool]string{true: "de", false: "en"}[names[0] == "von"], "Vans")
		s.field(0, "rating", "a day", "0", "1", "2", "3", "4", "5")
		s.field(0, "number", names[1], "200")
		s.field(0, "number", names[0], "0")
		var p spans
		list := []intent.Field{p.value("vans"), p.value("60"), p.value("90")}
		list[1].Prep, list[2].Prep = "from", "to"
		got := map[string]string{}
		for _, slot := range Assign(s.m, list, Want{Lang: "en", Within: -1}).Slots {
			got[s.m.Fields[slot.To.Index].Label] = list[slot.Value].Value.Text
		}
		if got[names[0]] != "60" || got[names[1]] != "90" {
			t.Errorf("%v: %v", names, got)
		}
	}
}

// TestAssignOfARange prefers fields that are called by the ends of a range to what has the same name, and
// no end.
func TestAssignOfARange(t *testing.T) {
	for _, names := range [][2]string{{"Preis von", "Preis bis"}, {"Min. Preis", "Max. Preis"}, {"Prix minimum", "Prix maximum"}} {
		for _, prep := range [][2]string{{"from", "to"}, {"to", "from"}} {
			s := newSketch("de", "Busse")
			s.field(0, "slider", "Preis in €", "")
			s.field(0, "slider", "Preis in €", "")
			s.field(0, "text", names[0], "4000")
			s.field(0, "text", names[1], "20000")
			var fields []intent.Field
			for i, n := range []float64{6000, 13000} {
				fields = append(fields, intent.Field{Prep: prep[i], Value: intent.Value{Text: fmt.Sprint(n), Number: &n,
					Unit: "Euro", UnitClass: "money"}})
			}
			got := ""
			for _, slot := range Assign(s.m, fields, Want{Lang: "de", Within: -1}).Slots {
				got += fmt.Sprintf("%s in %s;", prep[slot.Value], s.m.Fields[slot.To.Index].Label)
			}
			if want := map[string]string{"from": names[0], "to": names[1]}; got != fmt.Sprintf("%s in %s;%s in %s;",
				prep[0], want[prep[0]], prep[1], want[prep[1]]) {
				t.Errorf("%v: %s", prep, got)
			}
		}
	}
}
