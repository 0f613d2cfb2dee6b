package snapshot_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/snapshot"
)

const androidSource = `<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>
<hierarchy index="0" class="hierarchy" rotation="0" width="1080" height="1920">
 <android.widget.FrameLayout class="android.widget.FrameLayout" bounds="[0,0][1080,1920]" displayed="true">
  <android.widget.TextView text="Contacts" heading="true" bounds="[0,0][1080,100]"/>
  <android.widget.EditText resource-id="com.app:id/search_field" hint="Search people" text="Search people" bounds="[0,100][1080,200]" ` +
	`clickable="true" focused="true"/>
  <android.widget.EditText resource-id="com.app:id/secret" hint="PIN" text="1234" password="true" bounds="[0,200][1080,300]"/>
  <androidx.recyclerview.widget.RecyclerView resource-id="com.app:id/people" scrollable="true" bounds="[0,300][1080,1700]">
   <android.view.ViewGroup clickable="true" bounds="[0,300][1080,400]">` +
	`<android.widget.TextView text="Ann" resource-id="com.app:id/name" bounds="[0,300][500,400]"/>` +
	`<android.widget.ImageButton resource-id="com.app:id/delete" content-desc="Delete" clickable="true" bounds="[900,300][1000,400]"/>` +
	`</android.view.ViewGroup>
   <android.view.ViewGroup clickable="true" bounds="[0,400][1080,500]">` +
	`<android.widget.TextView text="Bob &quot;B&quot; O'Neil" resource-id="com.app:id/name" bounds="[0,400][500,500]"/>` +
	`<android.widget.ImageButton resource-id="com.app:id/delete" content-desc="Delete" clickable="true" bounds="[900,400][1000,500]"/>` +
	`</android.view.ViewGroup>
  </androidx.recyclerview.widget.RecyclerView>
  <android.widget.CheckBox text="Favourites only" checkable="true" checked="true" bounds="[0,1700][1080,1800]"/>
  <node class="android.app.ActionBar$Tab" text="People" selected="true" clickable="true" bounds="[0,1800][500,1900]"/>
  <android.widget.Button text="Save" enabled="false" bounds="[500,1800][800,1900]"/>
  <android.widget.Button text="Gone" displayed="false" bounds="[500,1800][800,1900]"/>
  <android.widget.TextView text="12:45" resource-id="com.app:id/clock" bounds="[800,1800][1000,1900]"/>
  <android.widget.ImageView bounds="[800,1800][1000,1900]"/>
 </android.widget.FrameLayout>
</hierarchy>`

const iosSource = `<?xml version="1.0" encoding="UTF-8"?>
<AppiumAUT><XCUIElementTypeApplication type="XCUIElementTypeApplication" name="Shop" label="Shop" enabled="true" visible="true" x="0" ` +
	`y="0" width="390" height="844">
 <XCUIElementTypeStatusBar type="XCUIElementTypeStatusBar" name="bar" visible="true" x="0" y="0" width="390" height="40"/>
 <XCUIElementTypeTextField type="XCUIElementTypeTextField" name="email" value="you@web.com" placeholderValue="you@web.com" ` +
	`visible="true" x="0" y="50" width="390" height="40"/>
 <XCUIElementTypeSecureTextField type="XCUIElementTypeSecureTextField" name="pw" value="•••" label="Password" visible="true" x="0" ` +
	`y="90" width="390" height="40"/>
 <XCUIElementTypeSwitch type="XCUIElementTypeSwitch" name="news" label="Newsletter" value="1" visible="true" x="0" y="130" width="390" ` +
	`height="40"/>
 <XCUIElementTypeTable type="XCUIElementTypeTable" visible="true" x="0" y="170" width="390" height="400">
  <XCUIElementTypeCell type="XCUIElementTypeCell" visible="true" x="0" y="170" width="390" height="40">` +
	`<XCUIElementTypeStaticText type="XCUIElementTypeStaticText" name="Lamp" label="Lamp" value="Lamp" visible="true" x="0" y="170" ` +
	`width="90" height="40"/><XCUIElementTypeButton type="XCUIElementTypeButton" name="Add" label="Add" visible="true" x="300" y="170" ` +
	`width="90" height="40"/></XCUIElementTypeCell>
  <XCUIElementTypeCell type="XCUIElementTypeCell" visible="true" x="0" y="210" width="390" height="40">` +
	`<XCUIElementTypeStaticText type="XCUIElementTypeStaticText" name="Chair" label="Chair" value="Chair" visible="true" x="0" y="210" ` +
	`width="90" height="40"/><XCUIElementTypeButton type="XCUIElementTypeButton" name="Add" label="Add" visible="true" x="300" y="210" ` +
	`width="90" height="40"/></XCUIElementTypeCell>
 </XCUIElementTypeTable>
 <XCUIElementTypeTabBar type="XCUIElementTypeTabBar" visible="true" x="0" y="800" width="390" height="44">` +
	`<XCUIElementTypeButton type="XCUIElementTypeButton" name="tab.cart" label="Cart" value="1" visible="true" x="0" y="800" width="100" ` +
	`height="44"/></XCUIElementTypeTabBar>
 <XCUIElementTypeAlert type="XCUIElementTypeAlert" name="Sure?" label="Sure?" visible="true" x="50" y="300" width="290" height="200">` +
	`<XCUIElementTypeButton type="XCUIElementTypeButton" name="OK" label="OK" visible="true" x="60" y="450" width="100" height="40"/>` +
	`</XCUIElementTypeAlert>
 <XCUIElementTypeKeyboard type="XCUIElementTypeKeyboard" visible="true" x="0" y="600" width="390" height="200">` +
	`<XCUIElementTypeKey type="XCUIElementTypeKey" name="a" label="a" visible="true" x="0" y="600" width="30" height="40"/>` +
	`</XCUIElementTypeKeyboard>
</XCUIElementTypeApplication></AppiumAUT>`

func plainText(s string) string { return s }

func readApp(t *testing.T, source string) *snapshot.App {
	t.Helper()
	app, err := snapshot.ReadApp([]byte(source), plainText)
	require.NoError(t, err)
	return app
}

// node returns the only node of a role and name.
func node(t *testing.T, s *snapshot.Snapshot, role, name string) snapshot.Node {
	t.Helper()
	var found []snapshot.Node
	for _, n := range s.Nodes {
		if n.Role == role && n.Name == name {
			found = append(found, n)
		}
	}
	require.Len(t, found, 1, "%s %q in %s", role, name, s.Outline())
	return found[0]
}

func TestReadsAndroid(t *testing.T) {
	t.Parallel()
	app := readApp(t, androidSource)
	s := app.Snapshot
	require.Equal(t, [2]int{1080, 1920}, [2]int{s.Width, s.Height})
	require.Equal(t, "heading", node(t, s, "heading", "Contacts").Role)
	field := node(t, s, "textbox", "Search people")
	require.True(t, field.Editable && field.Interactive && field.Focused && field.InView)
	require.Empty(t, field.Value, "it shows its hint")
	require.Equal(t, "search_field", field.NameAttr)
	secret := node(t, s, "textbox", "PIN")
	require.True(t, secret.Password)
	require.Empty(t, secret.Value)
	row := node(t, s, "listitem", "Ann Delete")
	require.True(t, row.Interactive)
	require.Equal(t, [4]int{0, 300, 1080, 100}, row.Box)
	require.Equal(t, "y", node(t, s, "list", "").Scrolls)
	require.Equal(t, "true", node(t, s, "checkbox", "Favourites only").Checked)
	require.Equal(t, "true", node(t, s, "tab", "People").Selected)
	require.True(t, node(t, s, "button", "Save").Disabled)
	require.NotContains(t, s.Outline(), "Gone")
	require.Equal(t, "text", node(t, s, "text", "12:45").Role)
	for i, n := range s.Nodes {
		require.Less(t, n.Parent, i)
	}
	again := readApp(t, androidSource)
	require.Equal(t, s.Nodes, again.Snapshot.Nodes, "refs are the same in each snapshot")
}

func TestReadsIOS(t *testing.T) {
	t.Parallel()
	s := readApp(t, iosSource).Snapshot
	require.Equal(t, "Shop", s.Title)
	email := node(t, s, "textbox", "you@web.com")
	require.Empty(t, email.Value)
	require.Equal(t, "email", email.ID)
	require.True(t, node(t, s, "textbox", "Password").Password)
	require.Equal(t, "true", node(t, s, "switch", "Newsletter").Checked)
	require.True(t, node(t, s, "listitem", "Lamp Add").Interactive)
	require.Equal(t, "true", node(t, s, "tab", "Cart").Selected)
	require.True(t, node(t, s, "alertdialog", "Sure?").Modal)
	for _, n := range s.Nodes {
		require.NotEqual(t, "a", n.Name, "a key of the keyboard")
	}
}

func TestLocatesInApps(t *testing.T) {
	t.Parallel()
	android, ios := readApp(t, androidSource), readApp(t, iosSource)
	find := func(app *snapshot.App, role, name string, nth int) snapshot.Located {
		t.Helper()
		for _, n := range app.Snapshot.Nodes {
			if n.Role == role && n.Name == name {
				if nth == 0 {
					return app.Locate(n.Ref)
				}
				nth--
			}
		}
		require.FailNow(t, "no such node", name)
		return snapshot.Located{}
	}
	for _, c := range []struct {
		app        *snapshot.App
		role, name string
		nth        int
		want       string
	}{
		{android, "heading", "Contacts", 0, `//android.widget.TextView[@text="Contacts"]`},
		{android, "textbox", "Search people", 0, `//*[@resource-id="com.app:id/search_field"]`},
		{android, "button", "Delete", 0, `//android.view.ViewGroup[.//*[@text="Ann"]]//*[@content-desc="Delete"]`},
		{android, "button", "Delete", 1,
			`//android.view.ViewGroup[.//*[@text=concat("Bob ", '"', "B", '"', " O'Neil")]]//*[@content-desc="Delete"]`},
		{android, "listitem", "Ann Delete", 0, `//android.view.ViewGroup[.//*[@text="Ann"]]`},
		{android, "tab", "People", 0, `//*[@class="android.app.ActionBar$Tab"][@text="People"]`},
		{android, "text", "12:45", 0, `//*[@resource-id="com.app:id/clock"]`},
		{ios, "button", "OK", 0, `//XCUIElementTypeButton[@label="OK"]`},
		{ios, "textbox", "you@web.com", 0, `//XCUIElementTypeTextField[@name="email"]`},
		{ios, "button", "Add", 1, `//XCUIElementTypeCell[.//*[@label="Chair"]]//XCUIElementTypeButton[@label="Add"]`},
	} {
		at := find(c.app, c.role, c.name, c.nth)
		require.Equal(t, c.want, at.Selector.Value)
		require.Nil(t, at.Selector.Index)
		require.NoError(t, step.Validate([]step.Step{{Tool: step.Tool{Type: step.Click, Args: step.Args{Selector: &at.Selector}}}}))
	}
	require.Empty(t, android.Locate("a0").Selector.Type)
	// What is read of an element is not what it is found by.
	require.Equal(t, `//android.widget.TextView[@text="Contacts"]`, find(android, "heading", "Contacts", 0).Selector.Value)
	require.Nil(t, find(android, "heading", "Contacts", 0).Place)
	require.Equal(t, `//*[@resource-id="com.app:id/clock"]`, find(android, "text", "12:45", 0).Place.Value)
}

// Only its place is left of what nothing tells from its likes.
func TestLocatesLikes(t *testing.T) {
	t.Parallel()
	app := readApp(t, `<hierarchy><a.Box><a.Button clickable="true" bounds="[0,0][9,9]"/>`+
		`<a.Button clickable="true" bounds="[9,0][18,9]"/></a.Box></hierarchy>`)
	require.Len(t, app.Snapshot.Nodes, 2)
	at := app.Locate(app.Snapshot.Nodes[1].Ref).Selector
	require.Equal(t, "//a.Button", at.Value)
	require.Equal(t, 1, *at.Index)
}

func TestRedactsApps(t *testing.T) {
	t.Parallel()
	app, err := snapshot.ReadApp([]byte(androidSource), func(s string) string { return strings.ReplaceAll(s, "Ann", "***") })
	require.NoError(t, err)
	require.NotContains(t, app.Snapshot.Outline(), "Ann")
}

func TestHostileApps(t *testing.T) {
	t.Parallel()
	for _, source := range []string{"", "x", "<a", strings.Repeat("<a>", 100), `<!DOCTYPE a [<!ENTITY b "c">]><a text="&b;"`} {
		_, err := snapshot.ReadApp([]byte(source), plainText)
		require.Error(t, err, source)
	}
	deep := strings.Repeat(`<a.View clickable="true">`, 5000) + strings.Repeat(`</a.View>`, 5000)
	require.True(t, readApp(t, deep).Snapshot.Truncated)
	wide := "<h>" + strings.Repeat(`<a.Button text="x" bounds="[0,0][99999999999999999999,9]"/>`, 30000) + "</h>"
	app := readApp(t, wide)
	require.True(t, app.Snapshot.Truncated)
	require.Len(t, app.Snapshot.Nodes, 3000)
	require.Equal(t, 2999, *app.Locate(app.Snapshot.Nodes[2999].Ref).Selector.Index)
}

func FuzzReadApp(f *testing.F) {
	f.Add([]byte(androidSource))
	f.Add([]byte(iosSource))
	f.Fuzz(func(t *testing.T, source []byte) {
		app, err := snapshot.ReadApp(source, plainText)
		if err != nil {
			return
		}
		for i, n := range app.Snapshot.Nodes {
			require.Less(t, n.Parent, i)
			if i < 50 {
				require.Equal(t, step.XPath, app.Locate(n.Ref).Selector.Type)
			}
		}
	})
}
