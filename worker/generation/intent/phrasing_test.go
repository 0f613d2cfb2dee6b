package intent

import (
	"strings"
	"testing"
)

// spanOf returns where a part of a text stands first.
func spanOf(t *testing.T, text, part string) Span {
	t.Helper()
	at := strings.Index(text, part)
	if at < 0 || part == "" {
		t.Fatalf("%q is not in %q", part, text)
	}
	return Span{at, at + len(part)}
}

// phrased fills in the parts of a frame: slots as "thing=the mug", words as they stand. Its span is the whole text
// where it has none.
func phrased(t *testing.T, text string, f Phrasing, slots ...string) *Phrasing {
	t.Helper()
	for _, s := range slots {
		name, part, _ := strings.Cut(s, "=")
		if name == "word" {
			f.Words = append(f.Words, spanOf(t, text, part))
			continue
		}
		f.Slots = append(f.Slots, ArgumentSpan{name, spanOf(t, text, part)})
	}
	if f.Span == (Span{}) {
		f.Span = Span{0, len(text)}
	}
	return &f
}

// left returns the words of spans.
func left(text string, spans []Span) string { return Reading{Unread: spans}.Left(text) }

func TestGoalsOfDeeds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		lang, text string
		frame      Phrasing
		slots      []string
		want       string
	}{
		{"en", "put two lemons in the cart", Phrasing{Effect: Add}, []string{"thing=two lemons", "to=the cart"}, "add[2x lemons, to=cart]"},
		{"en", "two lemons are needed in the cart", Phrasing{Effect: Add}, []string{"thing=two lemons", "in=the cart"}, "add[2x lemons, to=cart]"},
		{"en", "a new contact Ann Lee, phone 0151 and mail ann@lee.io", Phrasing{Effect: Add}, []string{"thing=a new contact Ann Lee", "name=phone", "value=0151", "name=mail", "value=ann@lee.io"}, "add[is:new Ann Lee <contact>, phone:0151, mail:ann@lee.io]"},
		{"de", "Zwei Gläser Honig kommen in den Korb", Phrasing{Effect: Add}, []string{"thing=Zwei Gläser Honig", "to=den Korb"}, "add[2x Honig <Gläser>, to=Korb]"},
		{"en", "get rid of the second invoice", Phrasing{Effect: Remove}, []string{"thing=the second invoice"}, "remove[#2 <invoice>]"},
		{"en", "Ann and Bo are to go", Phrasing{Effect: Remove}, []string{"thing=Ann and Bo"}, "remove[Ann + Bo]"},
		{"en", "take the red mug off the list", Phrasing{Effect: Remove}, []string{"thing=the red mug", "from=the list"}, "remove[red mug, from=<list/list>]"},
		{"en", "and delete it", Phrasing{Effect: Remove}, []string{"thing=it"}, "remove[PRO]"},
		{"en", "then delete", Phrasing{Effect: Remove}, nil, "remove[PRO]"},
		{"en", "everything except the oldest goes", Phrasing{Effect: Remove}, []string{"thing=everything except the oldest"}, "remove[all PRO except(max:age)]"},
		{"de", "Die Gummistiefel können raus", Phrasing{Effect: Remove}, []string{"thing=Die Gummistiefel"}, "remove[Gummistiefel]"},
		{"en", "do not delete the blue mug", Phrasing{Effect: Remove, Forbidden: true}, []string{"thing=the blue mug"}, "!remove[blue mug]"},
		{"en", "mark the first task as done", Phrasing{Effect: Complete}, []string{"thing=the first task", "become=done"}, "complete[#1 <task>, become=done]"},
		{"fr", "le devis de Paloma est payé", Phrasing{Effect: Complete}, []string{"thing=le devis de Paloma", "become=payé"}, "complete[devis of(Paloma), become=payé]"},
		{"en", "the first task is not done after all", Phrasing{Effect: Reopen}, []string{"thing=the first task"}, "reopen[#1 <task>]"},
		{"en", "turn dark mode on", Phrasing{Effect: Toggle, On: true}, []string{"thing=dark mode"}, "toggle[dark mode, on]"},
		{"en", "no more newsletters", Phrasing{Effect: Toggle}, []string{"thing=newsletters"}, "toggle[newsletters, off]"},
		{"en", "set the city to Bristol and the postcode to BS1", Phrasing{Effect: Set}, []string{"name=the city", "value=Bristol", "name=the postcode", "value=BS1"}, "set[city:Bristol, postcode:BS1]"},
		{"en", "enter 3 for the rooms and 2 for the beds", Phrasing{Effect: Set}, []string{"value=3", "name=the rooms", "value=2", "name=the beds"}, "set[rooms:3, beds:2]"},
		{"en", "the price of the blue van is to be 40 euros", Phrasing{Effect: Set}, []string{"name=the price", "thing=the blue van", "value=40 euros"}, "set[price of(blue van):40_euros]"},
		{"en", "type \"Ann\"", Phrasing{Effect: Set}, []string{"value=\"Ann\""}, `set[:"Ann"]`},
		{"en", "set volume 7", Phrasing{Effect: Set}, []string{"thing=volume", "amount=7"}, "set[volume:7]"},
		{"en", "pick the aisle seat", Phrasing{Effect: Choose}, []string{"thing=the aisle seat"}, "choose[aisle seat]"},
		{"en", "choose M as the size", Phrasing{Effect: Choose}, []string{"value=M", "name=the size"}, "choose[size:M]"},
		{"en", "take Blue", Phrasing{Effect: Choose}, []string{"value=Blue"}, "choose[Blue]"},
		{"fr", "choisis le siège enfant (Child seat)", Phrasing{Effect: Choose}, []string{"thing=le siège enfant (Child seat)"}, "choose[siège enfant ~Child seat]"},
		{"en", "give the film four stars", Phrasing{Effect: Rate}, []string{"thing=the film", "amount=four stars"}, "rate[film, amount=4_stars]"},
		{"en", "rename Work to Office", Phrasing{Effect: Edit}, []string{"thing=Work", "become=Office"}, "edit[Work, become=Office]"},
		{"en", `rename "Work" to "Office"`, Phrasing{Effect: Edit}, []string{`thing="Work"`, `value="Office"`}, `edit["Work", text="Office"]`},
		{"en", "Odalys swaps her role to bar", Phrasing{Effect: Edit}, []string{"thing=Odalys", "name=role", "value=bar"}, "edit[role of(Odalys), text=bar]"},
		{"en", `add "(paid)" to the note`, Phrasing{Effect: Append}, []string{`value="(paid)"`, "thing=the note"}, `append[note, text="(paid)"]`},
		{"en", "empty the search box", Phrasing{Effect: Clear}, []string{"name=the search box"}, "clear[<field/search box>]"},
		{"en", "go to the settings", Phrasing{Effect: Open}, []string{"thing=the settings"}, "open[<value/settings>]"},
		{"en", "open Ann in the list", Phrasing{Effect: Open}, []string{"thing=Ann", "in=the list"}, "open[Ann, in=<list/list>]"},
		{"en", "close the banner", Phrasing{Effect: Close}, []string{"thing=the banner"}, "close[<message/banner>]"},
		{"en", "unfold Advanced", Phrasing{Effect: Expand}, []string{"thing=Advanced"}, "expand[Advanced]"},
		{"en", "fold Advanced", Phrasing{Effect: Collapse}, []string{"thing=Advanced"}, "collapse[Advanced]"},
		{"en", "Sort by price, cheapest first", Phrasing{Effect: Sort}, []string{"by=price", "place=cheapest first"}, "sort[by=price]"},
		{"en", "by price, most expensive first", Phrasing{Effect: Sort}, []string{"by=price", "place=most expensive first"}, "sort[by=price, desc]"},
		{"en", "the newest on top", Phrasing{Effect: Sort}, []string{"place=the newest on top"}, "sort[by=max:date, desc]"},
		{"de", "preis absteigend", Phrasing{Effect: Sort}, []string{"by=preis", "place=absteigend"}, "sort[by=preis, desc]"},
		{"en", "only rooms below 100 euros", Phrasing{Effect: Filter}, []string{"thing=rooms below 100 euros"}, "filter[rooms <=100_euros]"},
		{"en", "colour: red", Phrasing{Effect: Filter}, []string{"name=colour", "value=red"}, "filter[colour:red]"},
		{"en", `look for "desk lamp"`, Phrasing{Effect: Search}, []string{`value="desk lamp"`}, `search[text="desk lamp"]`},
		{"en", "look for desk lamps", Phrasing{Effect: Search}, []string{"thing=desk lamps"}, "search[text=desk lamps]"},
		{"en", "go to page 2", Phrasing{Effect: Page}, []string{"amount=2"}, "page[amount=2]"},
		{"en", "the next page", Phrasing{Effect: Page}, []string{"place=next"}, "page[at=next]"},
		{"en", "go to the last page", Phrasing{Effect: Page}, []string{"place=last"}, "page[at=last]"},
		{"en", "the previous page", Phrasing{Effect: Page}, []string{"place=previous"}, "page[at=previous]"},
		{"en", "show 50 rows per page", Phrasing{Effect: Page}, []string{"amount=50"}, "page[50x, amount=50]"},
		{"en", "drag Milk to Done", Phrasing{Effect: Move}, []string{"thing=Milk", "to=Done"}, "move[Milk, to=Done]"},
		{"en", "drag Milk above Tea", Phrasing{Effect: Move}, []string{"thing=Milk", "place=above", "to=Tea"}, "move[Milk, to=Tea, at=above]"},
		{"en", "Milk to the top", Phrasing{Effect: Move}, []string{"thing=Milk", "place=to the top"}, "move[Milk, at=first]"},
		{"en", "Milk first", Phrasing{Effect: Move}, []string{"thing=Milk", "place=first"}, "move[Milk, at=first]"},
		{"en", "save", Phrasing{Effect: Submit, Concept: "save"}, nil, "submit[]"},
		{"en", "don't save it", Phrasing{Effect: Submit, Concept: "save", Forbidden: true}, []string{"thing=it"}, "!submit[PRO]"},
		{"en", "off it goes", Phrasing{Effect: Submit, Concept: "send"}, nil, "submit[]"},
		{"en", "send Ann the invoice", Phrasing{Effect: Submit, Concept: "send"}, []string{"thing=the invoice", "to=Ann"}, "submit[invoice, to=Ann]"},
		{"en", "place the order", Phrasing{Effect: Submit, Concept: "checkout"}, nil, "submit[]"},
		{"en", "book the blue room", Phrasing{Effect: Submit, Concept: "checkout"}, []string{"thing=the blue room"}, "add[blue room]"},
		{"en", "continue", Phrasing{Effect: Submit}, nil, "submit[at=next]"},
		{"en", "yes, I am sure", Phrasing{Effect: Confirm}, nil, "confirm[]"},
		{"en", "never mind", Phrasing{Effect: Abandon}, nil, "abandon[]"},
		{"en", "log in as Ann", Phrasing{Effect: SignIn}, []string{"value=Ann"}, "sign_in[:Ann]"},
		{"en", "log out", Phrasing{Effect: SignOut}, nil, "sign_out[]"},
		{"en", "reload the page", Phrasing{Effect: Navigate}, []string{"place=reload"}, "navigate[at=reload]"},
		{"en", "go back", Phrasing{Effect: Navigate}, []string{"place=back"}, "navigate[at=back]"},
		{"en", "two more lemons", Phrasing{Effect: Increase}, []string{"amount=two", "thing=lemons"}, "increase[lemons, amount=2]"},
		{"en", "one lemon less", Phrasing{Effect: Decrease}, []string{"amount=one", "thing=lemon"}, "decrease[lemon, amount=1]"},
		{"en", "hit Redeem", Phrasing{Effect: Press}, []string{"thing=Redeem"}, "press[Redeem]"},
		{"en", `hit "Redeem" twice`, Phrasing{Effect: Press}, []string{`value="Redeem"`, "amount=twice"}, `press["Redeem", times=2]`},
		{"en", "press Enter", Phrasing{Effect: Type}, []string{"value=Enter"}, "type[keys=Enter]"},
		{"en", `type "Ann" into the field`, Phrasing{Effect: Type}, []string{`value="Ann"`, "in=the field"}, `type[text="Ann", in=<field/field>]`},
		{"en", "point at the whistle", Phrasing{Effect: Point}, []string{"thing=the whistle"}, "point[whistle]"},
		{"en", "select the first three rows", Phrasing{Effect: Select}, []string{"thing=the first three rows"}, "select[#1 3x <row/rows>]"},
		{"en", "attach beach.png", Phrasing{Effect: Upload}, []string{"value=beach.png"}, "upload[text=beach.png]"},
		{"en", "download the report", Phrasing{Effect: Download}, []string{"thing=the report"}, "download[report]"},
		{"en", "copy the IBAN", Phrasing{Effect: Copy}, []string{"thing=the IBAN"}, "copy[IBAN]"},
		{"en", "scroll to the comments", Phrasing{Effect: Scroll}, []string{"to=the comments"}, "scroll[to=comments]"},
		{"en", "scroll all the way down", Phrasing{Effect: Scroll}, []string{"place=all the way down"}, "scroll[at=bottom]"},
		{"en", "make the column wider", Phrasing{Effect: Resize}, []string{"thing=the column"}, "resize[<column/column>]"},
		{"en", "switch to the new window", Phrasing{Effect: Window}, []string{"to=the new window"}, "window[to=is:new <window/window>]"},
		{"en", "wait 2 seconds", Phrasing{Effect: Wait}, []string{"amount=2 seconds"}, "wait[amount=2_seconds]"},
		{"en", "archive the mail", Phrasing{Effect: Act}, []string{"thing=the mail"}, "act[~archive, mail]"},
		{"en", "approve the leave of Ann", Phrasing{Effect: Act}, []string{"thing=the leave of Ann"}, "complete[leave of(Ann)]"},
		{"en", "give it 5 stars", Phrasing{Effect: Act}, []string{"thing=it", "amount=5 stars"}, "rate[PRO, amount=5_stars]"},
		{"en", "with the menu, pin the note", Phrasing{Effect: Act}, []string{"with=the menu", "thing=the note"}, "act[~pin, note, with=<list/menu>]"},
		{"de", "Kalender soll vor Kontakte kommen", Phrasing{Effect: Move}, []string{"thing=Kalender", "place=vor", "to=Kontakte"}, "move[Kalender, to=Kontakte, at=before]"},
		{"en", "take it to the bottom", Phrasing{Effect: Move}, []string{"thing=it", "place=to the bottom"}, "move[PRO, at=last]"},
		{"de", "Stelle 50 Einträge pro Seite ein", Phrasing{Effect: Page}, []string{"amount=50"}, "page[50x, amount=50]"},
		{"en", "the next ten", Phrasing{Effect: Page}, []string{"place=next"}, "page[at=next]"},
		{"de", "Gehe zurück", Phrasing{Effect: Navigate}, []string{"place=zurück"}, "navigate[at=back]"},
		{"es", "Recargar la página", Phrasing{Effect: Navigate}, []string{"place=Recargar"}, "navigate[at=reload]"},
		{"en", "reload", Phrasing{Effect: Navigate}, nil, "navigate[at=reload]"},
		{"en", "visit https://demo.example/x", Phrasing{Effect: Navigate}, []string{"value=https://demo.example/x"}, "navigate[text=https://demo.example/x]"},
		{"es", "Pulsa Escape", Phrasing{Effect: Type}, []string{"value=Escape"}, "type[keys=Escape]"},
		{"en", "scroll to the end of the note", Phrasing{Effect: Scroll}, []string{"place=to the end", "in=the note"}, "scroll[in=note, at=last]"},
		{"en", "scroll to the bottom", Phrasing{Effect: Scroll}, []string{"place=to the bottom"}, "scroll[at=last]"},
		{"de", "Scrolle ganz nach unten", Phrasing{Effect: Scroll}, []string{"place=ganz nach unten"}, "scroll[at=bottom]"},
		{"en", "zoom to 125 %", Phrasing{Effect: Resize}, []string{"amount=125 %"}, "resize[amount=125_%]"},
		{"en", "please double-click the first row", Phrasing{Effect: Press}, []string{"thing=the first row"}, "press[#1 <row/row>, how=double]"},
		{"en", "then kindly right-click Ann", Phrasing{Effect: Press}, []string{"thing=Ann"}, "press[Ann, how=right]"},
		// what is in a slot and is not understood
		{"en", "put salt on the list and the shelf", Phrasing{Effect: Add}, []string{"thing=salt", "to=the list and the shelf"}, "add[salt, to=<list/list>] ? the shelf"},
		{"en", "mark it as paid or sent", Phrasing{Effect: Complete}, []string{"thing=it", "become=paid", "become=sent"}, "complete[PRO, become=paid] ? sent"},
		{"en", "set the city", Phrasing{Effect: Set}, []string{"name=the city"}, "set[city]"},
		{"en", "drag Milk sideways to Done", Phrasing{Effect: Move}, []string{"thing=Milk", "place=sideways", "to=Done"}, "move[Milk, to=Done] ? sideways"},
		// what lacks what it needs
		{"en", "search", Phrasing{Effect: Search}, nil, ""},
		{"en", "rate the film", Phrasing{Effect: Rate}, []string{"thing=the film"}, ""},
		{"en", "drag Milk", Phrasing{Effect: Move}, []string{"thing=Milk"}, ""},
		{"en", "drag to Done", Phrasing{Effect: Move}, []string{"to=Done"}, "move[PRO, to=Done]"},
		{"en", "sort", Phrasing{Effect: Sort}, nil, ""},
		{"en", "type", Phrasing{Effect: Type}, nil, ""},
		{"en", "fill in", Phrasing{Effect: Set}, nil, ""},
		{"en", "choose", Phrasing{Effect: Choose}, nil, ""},
		{"en", "append", Phrasing{Effect: Append}, nil, ""},
	}
	for _, test := range tests {
		goals, lost := GoalsOf(test.text, test.lang, phrased(t, test.text, test.frame, test.slots...))
		got := Reading{Goals: goals}.String()
		if words := left(test.text, lost); words != "" {
			got += " ? " + words
		}
		if got != test.want {
			t.Errorf("%s of %v\n got %s\nwant %s", test.text, test.slots, got, test.want)
		}
	}
}

// TestGoalsOfKeepWhatTheFrameSays compares what a goal's line does not have.
func TestGoalsOfKeepWhatTheFrameSays(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text  string
		frame Phrasing
		slots []string

		verb, lemma, concept, risk, words string
	}{
		{"please save it", Phrasing{Effect: Submit, Concept: "save"}, []string{"thing=it"}, "save", "save", "save", "send", ""},
		{"off it goes", Phrasing{Effect: Submit, Concept: "send"}, []string{"thing=it"}, "goes", "submit", "send", "send", ""},
		{"place the order", Phrasing{Effect: Submit, Concept: "checkout"}, nil, "place", "place the order", "checkout", "pay", "the order"},
		{"kindly throw the red mug out", Phrasing{Effect: Remove}, []string{"thing=the red mug", "word=kindly"}, "throw", "throw out", "delete", "destroy", "out kindly"},
		{"the red mug has to be gone for good", Phrasing{Effect: Remove}, []string{"thing=the red mug", "word=for good"}, "gone", "delete", "delete", "destroy", "for good"},
		{"frobnicate the letter", Phrasing{Effect: Act}, []string{"thing=the letter"}, "frobnicate", "frobnicate", "", "", ""},
	}
	for _, test := range tests {
		goals, _ := GoalsOf(test.text, "en", phrased(t, test.text, test.frame, test.slots...))
		if len(goals) != 1 {
			t.Errorf("%s: %v", test.text, goals)
			continue
		}
		g := goals[0]
		verb, words := test.text[g.Verb.From:g.Verb.To], left(test.text, g.Words)
		if verb != test.verb || g.Lemma != test.lemma || g.Concept != test.concept || g.Risk != test.risk || words != test.words {
			t.Errorf("%s: verb %q, lemma %q, concept %q, risk %q, words %q", test.text, verb, g.Lemma, g.Concept, g.Risk, words)
		}
		if g.Span != (Span{0, len(test.text)}) {
			t.Errorf("%s: span %v", test.text, g.Span)
		}
	}
}

// TestGoalsOfAPart holds a frame that is a part of a text to have the places of the text.
func TestGoalsOfAPart(t *testing.T) {
	t.Parallel()
	const text = "Sort by price, then delete the red mug. Check that 3 mugs are left."
	f := phrased(t, text, Phrasing{Effect: Remove, Span: spanOf(t, text, "delete the red mug")}, "thing=the red mug")
	goals, lost := GoalsOf(text, "en", f)
	if got := (Reading{Goals: goals}).String(); got != "remove[red mug]" || len(lost) > 0 {
		t.Fatalf("%s ? %s", got, left(text, lost))
	}
	g := goals[0]
	if g.Verb != spanOf(t, text, "delete") || g.Span != f.Span || g.Target[0].Span != spanOf(t, text, "the red mug") ||
		g.Target[0].Words[1].Span != spanOf(t, text, "mug") {
		t.Errorf("verb %v, target %v, words %v", g.Verb, g.Target[0].Span, g.Target[0].Words)
	}
}

func TestGoalsOfClaims(t *testing.T) {
	t.Parallel()
	shown := Phrasing{Effect: Check, Property: Shown}
	gone := Phrasing{Effect: Check, Property: Shown, Not: true}
	only := Phrasing{Effect: Check, Property: Shown, Only: true}
	is := Phrasing{Effect: Check, Property: Is}
	isNot := Phrasing{Effect: Check, Property: Is, Not: true}
	has := Phrasing{Effect: Check, Property: Contains}
	counts := Phrasing{Effect: Check, Property: Counts}
	at := Phrasing{Effect: Check, Property: At}
	order := Phrasing{Effect: Check, Property: Order}
	same := Phrasing{Effect: Check, Property: Unchanged}
	tests := []struct {
		lang, text string
		frame      Phrasing
		slots      []string
		want       string
	}{
		{"en", "there is Salt", shown, []string{"thing=Salt"}, "check[shown: Salt]"},
		{"en", "the red mug can be seen in the cart", shown, []string{"thing=the red mug", "in=the cart"}, "check[shown: red mug where=cart]"},
		{"en", "the page shows \"Done\"", shown, []string{"thing=the page", "value=\"Done\""}, "check[shown: \"Done\"]"},
		{"en", "a banner appears", shown, []string{"thing=a banner"}, "check[appears: <message/banner>]"},
		{"en", "Salt is not there any more", gone, []string{"thing=Salt"}, "check[not shown: Salt]"},
		{"en", "the banner disappears", gone, []string{"thing=the banner"}, "check[vanishes: <message/banner>]"},
		{"en", "the field is hidden", shown, []string{"thing=the field"}, "check[not shown: <field/field>]"},
		{"de", "Der volle Name ist in der Liste", shown, []string{"thing=Der volle Name", "in=der Liste"}, "check[shown: is:volle <Name> where=<list/Liste>]"},
		{"en", "nothing but Salt is left", only, []string{"thing=Salt"}, "check[shown: Salt only]"},
		{"en", "the total is 40 euros", is, []string{"thing=the total", "value=40 euros"}, "check[is: <total/total> =40_euros]"},
		{"en", "the total isn't 40 euros", isNot, []string{"thing=the total", "value=40 euros"}, "check[not is: <total/total> =40_euros]"},
		{"en", "the box is ticked", is, []string{"thing=the box", "become=ticked"}, "check[is: <field/box> is:checked]"},
		{"en", "Publish must be disabled", is, []string{"thing=Publish", "become=disabled"}, "check[is: Publish is:disabled]"},
		{"en", "at least 3 euros in total", is, []string{"value=at least 3 euros", "thing=total"}, "check[is: <total/total> op=>= =3_euros]"},
		{"fr", "le total devrait être 5 350", is, []string{"thing=le total", "value=5 350"}, "check[is: <total/total> =5 350]"},
		{"en", "the cart contains the three books", has, []string{"thing=the cart", "value=the three books"}, "check[contains: cart =three books]"},
		{"en", "in the list is Salt", has, []string{"in=the list", "value=Salt"}, "check[contains: <list/list> =Salt]"},
		{"en", "the text says 48 hours", has, []string{"thing=the text", "value=48 hours"}, "check[contains: <text/text> =48_hours]"},
		{"en", "3 members are left", counts, []string{"amount=3", "thing=members"}, "check[counts: members =3]"},
		{"en", "the cart has 3 items", counts, []string{"in=the cart", "amount=3", "thing=items"}, "check[counts: <item/items> =3 where=cart]"},
		{"en", "no members are left", counts, []string{"amount=no", "thing=members"}, "check[not shown: members]"},
		{"en", "at least 3 members", counts, []string{"amount=at least 3", "thing=members"}, "check[counts: members op=>= =3]"},
		{"de", "Noch zwei Stück", counts, []string{"amount=zwei", "thing=Stück"}, "check[counts: <item/Stück> =2]"},
		{"en", "Salt comes first", at, []string{"thing=Salt", "place=first"}, "check[at: Salt =1]"},
		{"en", "Salt is last in the list", at, []string{"thing=Salt", "place=last", "in=the list"}, "check[at: Salt =-1 where=<list/list>]"},
		{"de", "der Holztisch steht als erster da", at, []string{"thing=der Holztisch", "place=als erster"}, "check[at: Holztisch =1]"},
		{"en", "Salt is above Tea", at, []string{"thing=Salt", "place=above", "to=Tea"}, "check[shown: Salt where=above(Tea)]"},
		{"en", "the list goes by price", order, []string{"thing=the list", "by=price"}, "check[order: by=price]"},
		{"en", "from the cheapest to the dearest", order, []string{"place=from the cheapest to the dearest"}, "check[order: by=min:price]"},
		{"es", "Los precios van de mayor a menor", order, []string{"thing=Los precios", "place=de mayor a menor"}, "check[order: by=precios desc]"},
		{"en", "the newest come first", order, []string{"place=the newest come first"}, "check[order: by=max:date desc]"},
		{"en", "the phone stays as it is", same, []string{"thing=the phone"}, "check[unchanged: phone]"},
		{"en", "nothing else changes", same, []string{"thing=nothing else"}, "check[unchanged: other PRO]"},
		// what lacks what it needs
		{"en", "it is there", shown, nil, "check[shown: PRO]"},
		{"en", "it is so", is, nil, ""},
		{"en", "it has", has, nil, ""},
		{"en", "they stand in order", order, nil, ""},
		{"en", "it stays", same, nil, ""},
	}
	for _, test := range tests {
		goals, lost := GoalsOf(test.text, test.lang, phrased(t, test.text, test.frame, test.slots...))
		got := Reading{Goals: goals}.String()
		if words := left(test.text, lost); words != "" {
			got += " ? " + words
		}
		if got != test.want {
			t.Errorf("%s of %v\n got %s\nwant %s", test.text, test.slots, got, test.want)
		}
	}
}
