package model

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/snapshot"
)

func button(name string) snapshot.Node { return snapshot.Node{Role: "button", Name: name} }

// Which element a clause may mean.
func TestActsOnWhatTheClauseIsAbout(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		clause string
		node   snapshot.Node
		want   bool
	}{
		{"Click Save", button("Save"), true},
		{"Save the form", button("OK"), true},
		{"Click Save", button("Newsletter"), false},
		{"Click on the button", button("Newsletter"), false},
		{"Register as Ann", button("Sign up"), true},
		{"Speichere das Formular", button("Speichern"), true},
		{"Melde dich ab, dann prüfe", button("Abmelden"), false},
		{"Abmelden", button("Abmelden"), true},
		{"Öffne die Einstellungen", button("Settings"), true},
		{"点击保存按钮", button("保存"), true},
		{"点击保存按钮", button("删除"), false},

		{"Remove the lamp from the cart", button("Delete"), true},
		{"Check the price of the lamp", button("Delete the lamp"), false},
		{"Check the price of the lamp", button("Buy lamp"), false},
		{"Order the lamp", button("Pay now"), true},
		{"Order the lamp", button("Place order"), true},
		{"Look at my orders", snapshot.Node{Role: "link", Name: "Orders"}, true},
		{"Forward the mail to Bob", button("Send"), true},
		{"Read the mail from Bob", button("Send to Bob"), false},
		{"Enter Ann as the name", button("Submit name"), false},
		{"Enter Ann as the name and press submit", button("Submit"), true},
		{"Find the page about how to delete a branch", snapshot.Node{Role: "link", Name: "How to delete a branch safely"}, true},
		{"Read about branches", snapshot.Node{Role: "link", Name: "Branches: how to delete and rename them"}, true},
		{"Log out", button("Sign out"), true},
		{"Open the order of Ann", button("Order again"), false},
		{"Click the order button", button("Order now"), true},
		{"Put the lamp in the cart, then order it", button("Order now"), true},
		{"Show the profile of Ann", button("Log out Ann"), false},

		{"Find the price of the lamp", button("Next"), true},
		{"Find the price of the lamp", button("»"), true},
		{"Find the price of the lamp", snapshot.Node{Role: "button", Name: "Products", Expanded: "false"}, true},
		{"Find the price of the lamp", snapshot.Node{Role: "tab", Name: "Shipping"}, true},
		{"Find the price of the lamp", snapshot.Node{Role: "button", Name: "Accessories", Popup: "menu"}, true},
		{"Find the price of the lamp", snapshot.Node{Role: "button", Hints: []string{"trash", "btn"}}, false},
		{"Delete the lamp", snapshot.Node{Role: "button", Hints: []string{"trash", "btn"}}, true},
		{"Select 12/05/2016 as the date", snapshot.Node{Role: "gridcell", Name: "5"}, true},
		{"Select 12/05/2016 as the date", snapshot.Node{Role: "gridcell", Name: "17"}, false},

		{"Select words similar to big", snapshot.Node{Role: "checkbox", Name: "Large"}, true},
		{"Select words similar to big", button("Submit"), false},
		{"Open the cheapest offer", snapshot.Node{Role: "link", Name: "Oak table, 12 EUR"}, true},
		{"Open the cheapest offer", button("Buy now"), false},
		{"Check Red and Blue", snapshot.Node{Role: "checkbox", Name: "Newsletter"}, false},
	} {
		s := &snapshot.Snapshot{Nodes: []snapshot.Node{c.node}}
		s.Nodes[0].Parent = -1
		err := newCheck(c.clause, c.clause, "http://shop.test/").act(s, 0)
		require.Equal(t, c.want, err == nil, "%s / %s %q: %v", c.clause, c.node.Role, c.node.Name, err)
	}
}

// What an element lies in decides too.
func TestWhatIsAround(t *testing.T) {
	t.Parallel()
	s := &snapshot.Snapshot{Nodes: []snapshot.Node{
		{Role: "row", Name: "Ann 12.50", Parent: -1},
		{Role: "button", Name: "pencil icon", Parent: 0, Interactive: true},
		{Role: "row", Name: "Bob 7.10", Parent: -1},
		{Role: "button", Name: "pencil icon", Parent: 2, Interactive: true},
		{Role: "button", Name: "Delete Ann", Parent: -1, Interactive: true},
		{Role: "text", Name: "Ann", Parent: 4},
	}}
	c := newCheck("Look at the data of Ann", "Look at the data of Ann", "http://shop.test/")
	require.NoError(t, c.act(s, 1))
	require.Error(t, c.act(s, 3))
	require.Error(t, c.act(s, 5), "a text in a button that deletes")
}

// A part may be short: what it is about stands in the whole text, but not what it does.
func TestPartOfATest(t *testing.T) {
	t.Parallel()
	c := newCheck("open it", "Find the mail from Ann, open it, then delete the second one", "http://shop.test/")
	s := &snapshot.Snapshot{Nodes: []snapshot.Node{{Role: "link", Name: "Ann: hello", Parent: -1}, {Role: "button", Name: "Delete", Parent: -1}}}
	require.NoError(t, c.act(s, 0))
	require.Error(t, c.act(s, 1))
}

func TestTextsThatMayBeTyped(t *testing.T) {
	t.Parallel()
	s := &snapshot.Snapshot{Nodes: []snapshot.Node{{Role: "text", Name: "Your code: QX-77-1"}, {Role: "textbox", Value: "pw-on-page", Password: true}}}
	for _, c := range []struct {
		clause, text string
		want         bool
	}{
		{`Enter "k3" into both fields`, "k3", true},
		{`Enter "k3" into both fields`, "K3", true},
		{"Enter Ann Smith as the name", "Smith", true},
		{"Enter Annabel as the name", "Ann", false},
		{"Enter Ann as the name", "Bob", false},
		{"Enter Ann as the name", "", true},
		{"Choose 12/05/2016", "2016-12-05", true},
		{"Choose March 3rd, 2016", "03/03/2016", true},
		{"Choose the 3. März 2016", "2016-03-03", true},
		{"Choose 12/05/16", "12/05/2016", true},
		{"Choose 12/05/2016", "12/06/2016", false},
		{"Copy the code into the field", "QX-77-1", true},
		{"Enter Ann as the name", "QX-77-1", false},
		{"Copy the code into the field", "pw-on-page", false},
		{"Enter the sum of 3 and 4", "7", true},
		{"Enter the sum of 3 and 4", "rm -rf", false},
		{"Enter Ann", "7", false},
		{"Enter any valid email address", "someone@example.com", true},
		{"Enter any valid email address", "Your code: QX-77-1", false},
		{"Enter {{pass}}", "{{pass}}", true},
		{"Enter {{ pass }}", "{{pass}}", true},
		{"Enter the pass", "{{pass}}", false},
		{"Enter the pass", "{{ pass }}", false},
		{"Enter {{org:pass}}", "{{pass}}", false},
		{"Enter {{a}} and {{b}}", "{{b}}{{a}}", true},
		{"输入你好", "你好", true},
		{"输入你好", "再见", false},
	} {
		err := newCheck(c.clause, c.clause, "").text(s, c.text)
		require.Equal(t, c.want, err == nil, "%s / %q: %v", c.clause, c.text, err)
	}
}

func TestAddressesThatMayBeOpened(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		clause, url string
		want        bool
	}{
		{"Click Save", "http://shop.test/start", true},
		{"Click Save", "http://shop.test/", false},
		{"Click Save", "http://shop.test/admin", false},
		{"Open /admin and click Save", "http://shop.test/admin", true},
		{"Open /admin.", "http://shop.test/admin", true},
		{"Open /admin/users", "http://shop.test/admin", false},
		{"Open https://docs.test/", "https://docs.test/", true},
		{"Open docs.test and search", "https://docs.test/", true},
		{"Open docs.test and search", "https://docs.test/logout", false},
		{"Open https://docs.test/a?b=1", "https://docs.test/a?b=1", true},
		{"Open https://docs.test/a?b=1", "https://docs.test/a?b=2", false},
		{"Open https://docs.test.evil.test/", "https://docs.test/", false},
		{"Open notdocs.test", "https://docs.test/", false},
		{"Open docs.test", "https://user:pw@docs.test/", false},
		{"Open docs.test", "javascript:alert(1)", false},
		{"Open docs.test", "file:///etc/passwd", false},
		{"Open docs.test {{pass}}", "https://docs.test/?{{pass}}", false},
		{"Open docs.test", "docs.test", false},
	} {
		err := newCheck(c.clause, c.clause, "http://shop.test/start").open(c.url)
		require.Equal(t, c.want, err == nil, "%s / %s: %v", c.clause, c.url, err)
	}
}

func TestDialogsThatMayBeAccepted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		clause, dialog string
		want           bool
	}{
		{"Click Save and accept", "Save now?", true},
		{"Click Save and accept", "Delete all mails?", false},
		{"Remove the mail", "Delete the mail?", true},
		{"Click Save", "Are you sure? Please confirm.", true},
	} {
		err := newCheck(c.clause, c.clause, "").dialog(&snapshot.Dialog{Text: c.dialog}, "accept")
		require.Equal(t, c.want, err == nil, "%s / %s: %v", c.clause, c.dialog, err)
		require.NoError(t, newCheck(c.clause, c.clause, "").dialog(&snapshot.Dialog{Text: c.dialog}, "dismiss"))
	}
}

// Texts of any size and kind are read in one go.
func FuzzCheck(f *testing.F) {
	f.Add("Click Save", "Save", "e1")
	f.Add("Öffne /a{{b}}", "\xff\x00", "{{b}}")
	f.Fuzz(func(t *testing.T, clause, name, text string) {
		c := newCheck(clause, clause, "http://shop.test/")
		s := &snapshot.Snapshot{Nodes: []snapshot.Node{{Role: "button", Name: name, Text: text, Parent: -1}}}
		_ = c.act(s, 0)
		_ = c.open(text)
		_ = c.press(text)
		if err := c.text(s, text); err != nil {
			require.NotEmpty(t, err.Error())
		}
	})
}
