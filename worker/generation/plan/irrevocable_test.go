package plan_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/generation/intent"
	"github.com/slipway-qa/slipway/worker/generation/plan"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

// desk is a page with a message to send or to keep, a list, and links whose press only says something.
type desk struct {
	scene
	tasks []string
	text  string
	says  string // what the page says below
	mute  bool   // sending shows nothing
	sent  int
	opens int // how often the page began afresh
}

func newDesk() *desk {
	d := &desk{tasks: []string{"Feed the cat", "Walk the dog", "Wash the car"}}
	d.lang = "en"
	d.nodes = func() []snapshot.Node {
		list := []snapshot.Node{{Ref: "ul", Parent: -1, Tag: "ul", Role: "list"}}
		for _, task := range d.tasks {
			li := len(list)
			list = append(list, snapshot.Node{Ref: "li " + task, Parent: 0, Tag: "li", Role: "listitem"},
				snapshot.Node{Ref: "t " + task, Parent: li, Tag: "span", Role: "text", Name: task},
				inside(li, pressable("del "+task, "button", "Delete")))
		}
		send := pressable("send", "button", "Send")
		send.Type = "submit"
		form := len(list)
		list = append(list, snapshot.Node{Ref: "form", Parent: -1, Tag: "form"},
			inside(form, typable("message", "Message", d.text)), inside(form, send), pressable("help", "button", "Help"))
		if d.says != "" {
			list = append(list, snapshot.Node{Ref: "p", Parent: -1, Tag: "p", Role: "text", Name: d.says})
		}
		return list
	}
	d.on = func(tool, ref, text string) {
		kind, of, _ := strings.Cut(ref, " ")
		switch {
		case tool == step.InputText:
			d.text = text
		case tool == step.Click && kind == "send", tool == step.PressKey && kind == "message":
			if d.sent++; !d.mute {
				d.says = "Something went on."
			}
		case tool == step.Click && kind == "help":
			d.says = "Ask somebody."
		case tool == step.Click && kind == "del":
			d.tasks = slices.DeleteFunc(slices.Clone(d.tasks), func(task string) bool { return task == of })
		}
	}
	return d
}

// start runs a text on a desk whose tasks come back when it begins afresh.
func (d *desk) start(t *testing.T, text, explore string) error {
	t.Helper()
	tasks := d.tasks
	_, err := plan.Run(t.Context(), plan.Config{Page: d, Intent: text, NoSuggestion: true, Explore: explore,
		Trace: func(line string) { t.Log(line) },
		Fresh: func(ctx context.Context, steps []step.Step) error {
			d.opens++
			d.tasks, d.text, d.says = tasks, "", ""
			for _, s := range steps {
				if _, err := d.Do(ctx, s); err != nil {
					return err
				}
			}
			return nil
		}})
	t.Log(text, "|", d.did, "|", err)
	return err
}

// count is how often something was done.
func (d *desk) count(what string) int {
	return len(slices.DeleteFunc(slices.Clone(d.did), func(one string) bool { return one != what }))
}

// TestAFreshPageDeletesNothingAgain holds a deed that cannot be taken back to once, whatever comes
// after it.
func TestAFreshPageDeletesNothingAgain(t *testing.T) {
	for _, text := range []string{
		"Delete Walk the dog, then tick Feed the cat.",
		"Delete Walk the dog, then open Feed the cat.",
		"Delete Walk the dog, then sort the list by name.",
		"Delete Walk the dog, then add Buy stamps.",
	} {
		for _, explore := range []string{plan.ExploreOn, plan.ExploreOff} {
			d := newDesk()
			_ = d.start(t, text, explore)
			if n := d.count("click del Walk the dog"); n != 1 {
				t.Errorf("%s, explore %s: deleted %d times", text, explore, n)
			}
			if d.opens > 0 {
				t.Errorf("%s, explore %s: began afresh %d times", text, explore, d.opens)
			}
		}
	}
}

// TestAMessageIsSentOnce holds what is sent to one press, where the page shows nothing and where it
// shows something else.
func TestAMessageIsSentOnce(t *testing.T) {
	for _, mute := range []bool{true, false} {
		for _, text := range []string{`Send the message "See you".`, `Enter "See you" as the message and send it.`} {
			d := newDesk()
			d.mute = mute
			_ = d.start(t, text, plan.ExploreOn)
			if d.sent > 1 {
				t.Errorf("%s, mute %v: sent %d times: %q", text, mute, d.sent, d.did)
			}
		}
	}
}

// TestWhatIsAddedMayTakeAnotherWay holds the one press to what changed something, where a goal is no
// order: a button that does nothing is followed by Enter.
func TestWhatIsAddedMayTakeAnotherWay(t *testing.T) {
	for _, c := range []struct {
		name string
		says string // what the wrong button makes the page say
		done bool
	}{{"nothing happens", "", true}, {"something happens", "Not like that.", false}} {
		t.Run(c.name, func(t *testing.T) {
			tasks, text, says, enters := []string{"Feed the cat", "Walk the dog"}, "", "", 0
			s := &scene{lang: "en"}
			s.nodes = func() []snapshot.Node {
				list := []snapshot.Node{{Ref: "ul", Parent: -1, Tag: "ul", Role: "list"}}
				for _, task := range tasks {
					li := len(list)
					list = append(list, snapshot.Node{Ref: "li " + task, Parent: 0, Tag: "li", Role: "listitem"},
						snapshot.Node{Ref: "t " + task, Parent: li, Tag: "span", Role: "text", Name: task})
				}
				form := len(list)
				list = append(list, snapshot.Node{Ref: "form", Parent: -1, Tag: "form"},
					inside(form, typable("new", "New task", text)), inside(form, pressable("add", "button", "Add")))
				if says != "" {
					list = append(list, snapshot.Node{Ref: "p", Parent: -1, Tag: "p", Role: "text", Name: says})
				}
				return list
			}
			s.on = func(tool, ref, typed string) {
				switch {
				case tool == step.InputText:
					text = typed
				case tool == step.Click && ref == "add":
					says = c.says
				case tool == step.PressKey && ref == "new": // and not the Escape that closes what came
					enters++
					tasks, text = append(slices.Clone(tasks), text), ""
				}
			}
			err := s.run(t, `Add the task "Buy stamps".`)
			if (err == nil) != c.done || enters != map[bool]int{true: 1}[c.done] {
				t.Errorf("error %v, %d times Enter: %q", err, enters, s.did)
			}
		})
	}
}

// TestAPageThatCannotBeginAfreshIsAResult holds the error of a fresh page to what it says.
func TestAPageThatCannotBeginAfreshIsAResult(t *testing.T) {
	d := newDesk()
	_, err := plan.Run(t.Context(), plan.Config{Page: d, Intent: "Press Help, then open Feed the cat and wash it.", NoSuggestion: true,
		Fresh: func(context.Context, []step.Step) error { return &plan.FailedError{Code: "STEP_FAILED", Detail: "no"} }})
	var failed *plan.FailedError
	var not *plan.NotUnderstoodError
	if !errors.As(err, &failed) && !errors.As(err, &not) {
		t.Errorf("error %v", err)
	}
}

// TestAnotherReadingDoesNoHarmAgain holds the readings of a text to one that deletes; what does no
// harm may be read otherwise, on a fresh page.
func TestAnotherReadingDoesNoHarmAgain(t *testing.T) {
	for text, opens := range map[string]int{"Delete Walk the dog, then tick Feed the cat.": 0, "Press Help, then tick Feed the cat.": 1} {
		d := newDesk()
		read := intent.Read(text)
		read.Readings = []intent.Reading{read.Readings[0], read.Readings[0]}
		_, err := plan.Run(t.Context(), plan.Config{Page: d, Text: &read, NoSuggestion: true,
			Fresh: func(context.Context, []step.Step) error { d.opens++; return nil }})
		var not *plan.NotUnderstoodError
		if !errors.As(err, &not) || d.opens != opens || len(d.did) != 1+opens {
			t.Errorf("%s: began afresh %d times, did %q, error %v", text, d.opens, d.did, err)
		}
	}
}
