package plan

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/generation/intent"
)

// phraseOf returns a phrase of a name, with the word for its kind.
func phraseOf(name string, roles ...string) intent.Phrase {
	p := intent.Phrase{Name: name, Text: name, Roles: roles}
	if len(roles) > 0 {
		p.Noun = roles[0]
	}
	return p
}

func quoted(name string, roles ...string) intent.Phrase {
	p := phraseOf(name, roles...)
	p.Exact = true
	return p
}

func nth(n int, p intent.Phrase) intent.Phrase {
	p.Ordinal = n
	return p
}

func related(p intent.Phrase, kind intent.RelationKind, to intent.Phrase) intent.Phrase {
	p.Relations = append(p.Relations, intent.Relation{Kind: kind, Phrase: to})
	return p
}

func pickIn(t *testing.T, page string, phrase intent.Phrase, w want) (match, error) {
	t.Helper()
	p := &planner{}
	return p.pick(newView(outline(t, page)), &phrase, w)
}

// picks checks which element a phrase means: its ref, or "" for none.
func picks(t *testing.T, page string, phrase intent.Phrase, w want, ref string) {
	t.Helper()
	m, err := pickIn(t, page, phrase, w)
	if ref != "" {
		require.NoError(t, err, "%+v", phrase)
		require.Equal(t, ref, m.ref, "%+v: %s", phrase, m.why)
		return
	}
	var not *NotUnderstoodError
	require.True(t, errors.As(err, &not), "%+v is %s", phrase, m.ref)
}

func TestPickByName(t *testing.T) {
	t.Parallel()
	const page = `
heading "Sign up for news" level=1 ref=head
link "Sign up" ref=up href=/up
button "Save draft" ref=draft
button "Save" ref=save
button "Items (3)" ref=items
text "Call us and save" ref=call
link "Documentation of the interface" ref=doc
button "×" ref=x
button "" hints=trash,btn ref=trash
textbox "" placeholder="Your e-mail" ref=mail
textbox "" nameattr=lastName ref=last
div "Archive" reacts ref=archive`
	for _, c := range []struct {
		phrase intent.Phrase
		w      want
		ref    string
	}{
		{phraseOf("save"), toUse, "save"},
		{quoted("Save"), toUse, "save"},
		{quoted("Save draft", "button"), toUse, "draft"},
		{phraseOf("draft"), toUse, "draft"},
		{phraseOf("signup", "link"), toUse, "up"},
		{phraseOf("sign up", "button"), toUse, "up"},
		{phraseOf("items"), toUse, "items"},
		{phraseOf("documentation", "link"), toUse, "doc"},
		{phraseOf("docmentation", "link"), toUse, ""},
		{quoted("×"), toUse, "x"},
		{phraseOf("trash", "button"), toUse, "trash"},
		{phraseOf("email", "textbox"), toFill, "mail"},
		{phraseOf("last name"), toFill, "last"},
		{phraseOf("archive", "button"), toUse, "archive"},
		{quoted("Delete"), toUse, ""},
		{quoted("Sav"), toUse, ""},
		{phraseOf("publish"), toUse, ""},
	} {
		picks(t, page, c.phrase, c.w, c.ref)
	}
}

func TestPickByRelation(t *testing.T) {
	t.Parallel()
	const page = `
heading "Users" level=2
table "Users"
  row
    columnheader "Name"
    columnheader "Role"
  row ref=ann
    cell "Ann" ref=annName
    cell "Admin" column=Role table=t
    cell
      button "Delete" ref=deleteAnn
      button "Edit" ref=editAnn
  row
    cell "Anna" ref=annaName
    cell "Guest" column=Role table=t
    cell
      button "Delete" ref=deleteAnna
      button "Edit" ref=editAnna
heading "Billing" level=2
form
  textbox "Street" ref=billStreet
  button "Save" ref=saveBill
heading "Shipping" level=2
form
  textbox "Street" ref=shipStreet
  button "Save" ref=saveShip`
	row := func(name string) intent.Phrase { return phraseOf(name, "row") }
	for _, c := range []struct {
		phrase intent.Phrase
		w      want
		ref    string
	}{
		{related(phraseOf("Delete", "button"), intent.In, row("Ann")), toUse, "deleteAnn"},
		{related(phraseOf("Delete", "button"), intent.In, related(phraseOf("", "row"), intent.Of, phraseOf("Anna"))), toUse, "deleteAnna"},
		{related(phraseOf("edit"), intent.Of, phraseOf("Anna")), toUse, "editAnna"},
		{related(phraseOf("edit"), intent.Beside, phraseOf("Ann")), toUse, "editAnn"},
		{related(phraseOf("delete"), intent.In, nth(2, phraseOf("", "row"))), toUse, "deleteAnna"},
		{phraseOf("Delete"), toUse, ""},
		{nth(2, phraseOf("Delete")), toUse, "deleteAnna"},
		{nth(-1, phraseOf("", "button")), toUse, "saveShip"},
		{related(phraseOf("Street", "textbox"), intent.Under, phraseOf("Shipping", "heading")), toFill, "shipStreet"},
		{related(phraseOf("Street"), intent.In, phraseOf("Billing", "region")), toFill, "billStreet"},
		{related(phraseOf("Save"), intent.In, phraseOf("Shipping", "form")), toUse, "saveShip"},
		{related(phraseOf("Save"), intent.In, phraseOf("Nowhere", "form")), toUse, ""},
		{related(phraseOf("Delete"), intent.In, row("Bob")), toUse, ""},
	} {
		picks(t, page, c.phrase, c.w, c.ref)
	}
}

func TestPickByLook(t *testing.T) {
	t.Parallel()
	const page = `
div "" ref=red reacts color=red box=0,0,20,20
div "" ref=blue reacts color=blue box=30,0,20,20
div "" ref=large reacts color=green box=60,0,80,80
div "" ref=small reacts color=green box=160,0,20,20
list "Flights"
  listitem "" ref=a
    text "Nine" box=0,100,40,20
    text "$120.00"
    button "Book" ref=bookA
  listitem "" ref=b
    text "Ten"
    text "$99.50"
    button "Book" ref=bookB`
	red := intent.Phrase{Text: "the red box", Roles: []string{"region", "group"}, Noun: "box", Looks: map[string]string{"color": "red"}}
	small := intent.Phrase{Text: "the small green one", Looks: map[string]string{"color": "green", "size": "small"}}
	cheapest := intent.Phrase{Text: "the cheapest", Roles: []string{"listitem", "row"}, Noun: "flight", Extreme: &intent.Extreme{Of: "price"}}
	longest := cheapest
	longest.Extreme = &intent.Extreme{Of: "duration", Max: true}
	for _, c := range []struct {
		phrase intent.Phrase
		ref    string
	}{
		{red, "red"}, {small, "small"},
		{intent.Phrase{Text: "the red colored box", Name: "colored", Roles: []string{"region", "group"}, Noun: "box", Looks: red.Looks}, "red"},
		{intent.Phrase{Text: "green", Looks: map[string]string{"color": "green"}}, ""},
		{cheapest, "b"}, {longest, ""},
		{related(phraseOf("Book", "button"), intent.Of, cheapest), "bookB"},
	} {
		picks(t, page, c.phrase, toUse, c.ref)
	}
}

// Places that a page does not show as such, names with a place in them, and things
// that are called as a whole.
func TestPickByLooseWords(t *testing.T) {
	t.Parallel()
	const page = `
group ""
  text "Ann" box=0,0,40,20
  button "Delete" ref=deleteAnn box=60,0,40,20
  link "Profile" ref=profileAnn href=/p box=110,0,40,20
group ""
  text "Bob" box=0,30,40,20
  button "Delete" ref=deleteBob box=60,30,40,20
  link "Profile" ref=profileBob href=/p box=110,30,40,20
text "A text with an odd word" ref=text box=0,60,100,20
link "odd" ref=odd href=/odd box=110,60,30,20
button "ONE" ref=one box=0,90,30,20`
	post := related(phraseOf("post"), intent.Of, phraseOf("Bob"))
	for _, c := range []struct {
		phrase intent.Phrase
		ref    string
	}{
		{phraseOf("delete for Ann"), "deleteAnn"},
		{phraseOf("delete of the Bob"), "deleteBob"},
		{related(phraseOf("delete", "button"), intent.Of, post), "deleteBob"},
		{related(phraseOf("odd", "link"), intent.In, phraseOf("", "text")), "odd"},
		{intent.Phrase{Text: "ONE", Pronoun: true}, "one"},
		{nth(2, phraseOf("Profile", "link")), "profileBob"}, // though both lead to the same page
		{nth(3, phraseOf("Profile", "link")), ""},
	} {
		picks(t, page, c.phrase, toUse, c.ref)
	}
}

// Words that a sentence puts to other places than a phrase has them.
func TestPickRestated(t *testing.T) {
	t.Parallel()
	const page = `
textbox "" ref=first
textbox "" ref=second
textbox "" ref=area tag=textarea
button "Previous page" ref=previous
button "Next page" ref=next
dialog "Note"
  text "Hello"
  button "x" ref=x
listitem ""
  text "by @ann"
  button "like" ref=like1
listitem ""
  text "by @bob"
  button "like" ref=like2
listitem ""
  text "by @ann"
  button "like" ref=like3`
	input := intent.Phrase{Text: "the 2nd input textbox", Name: "input", Noun: "textbox", Roles: []string{"textbox", "searchbox"}, Ordinal: 2}
	widget := intent.Phrase{Text: `a "textarea" widget`, Name: "textarea", Exact: true, Noun: "widget", Roles: []string{"region", "group"}}
	page1 := intent.Phrase{Text: "the button Previous page", Name: "button Previous", Noun: "page", Roles: []string{"page"}}
	labeled := related(intent.Phrase{Text: "the button in the dialog labeled x", Noun: "button", Roles: []string{"button"}}, intent.In, quoted("x", "dialog"))
	for _, c := range []struct {
		phrase intent.Phrase
		ref    string
	}{{input, "second"}, {widget, "area"}, {page1, "previous"}, {labeled, "x"}} {
		picks(t, page, c.phrase, toUse, c.ref)
	}
	posts := related(intent.Phrase{Noun: "posts", Roles: []string{"listitem", "article"}, All: true, Text: "all posts by @ann"}, intent.Of, phraseOf("@ann"))
	like := related(quoted("like", "button"), intent.In, posts)
	list, err := (&planner{}).pickAll(newView(outline(t, page)), &like, toUse)
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.Equal(t, "like1", list[0].ref)
	require.Equal(t, "like3", list[1].ref)
}

// A text above two fields names the one that it stands over, and one in a label only
// what is in the label.
func TestPickByTextNearby(t *testing.T) {
	t.Parallel()
	const page = `
text "First name" box=4,4,70,18
text "Street" box=80,4,40,18
textbox "" ref=first box=4,26,60,20
textbox "" ref=street box=80,26,60,20
text "Town" box=4,60,40,18
textbox "" ref=town box=4,82,140,20
label ""
  text "Rating" box=4,120,50,18
  spinbutton "Rating" ref=rating box=60,120,60,20
textbox "" ref=mail placeholder="Your email" box=4,140,80,20`
	for name, ref := range map[string]string{"first name": "first", "street": "street", "town": "town", "rating": "rating"} {
		picks(t, page, phraseOf(name), toFill, ref)
	}
	picks(t, page, intent.Phrase{Text: "the rating", Noun: "rating", Roles: []string{"textbox", "spinbutton"}}, toFill, "rating")
	// A place with a whole sentence in it is none.
	frame := related(phraseOf("Pay"), intent.In, phraseOf("Payment enter Ann as the name and 4111 as the card number", "iframe"))
	picks(t, "iframe \"Payment\"\n  button \"Pay\"", frame, toUse, "")
}
