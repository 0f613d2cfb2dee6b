package sentence

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
)

const packagePage = `<!DOCTYPE html><html><head><style>#town { color: red }</style></head><body><main><form id="find"><p>` +
	`<label for="town">Town</label><input id="town"></p>
<p><label>Street <input></label></p>
<p><label>Garden <input type="checkbox"></label></p><p>No field</p><button>Save</button></form></main>
<table><tbody><tr><td><label>1 <input></label></td></tr><tr><td><label>2 <input></label></td></tr></tbody></table>
<a href="#town" aria-controls="town find">go</a><script src="a.js?v=1"></script>` +
	`<script src="https://example.com/b.js"></script></body></html>`

func TestRedesign(t *testing.T) {
	t.Parallel()
	folder := fstest.MapFS{"demo/page.html": {Data: []byte(packagePage)}, "demo/a.js": {Data: []byte(`document.querySelector("#find")`)}}
	site := &Site{set: &Set{}, files: folder}
	redesign := func(change string) redesigned {
		r, err := redesignFile(folder, "demo/page.html", change, site.script)
		require.NoError(t, err)
		return r
	}
	require.Equal(t, packagePage, redesign(Plain).page)
	require.Equal(t, withTheme(packagePage), redesign(Theme).page)

	ids := redesign(IDs)
	town := renamed("town")
	require.Equal(t, map[string]string{"town": town}, ids.names, "a script looks for the other one")
	for _, text := range []string{`<style>#` + town + ` {`, `for="` + town + `"`, `<input id="` + town + `"`, `href="#` + town + `"`,
		`aria-controls="` + town + ` find"`, `<form id="find">`} {
		require.Contains(t, ids.page, text)
	}

	order := redesign(Order).page
	require.Regexp(t, `(?s)Garden.*Street.*Town.*No field.*Save`, order)
	require.Regexp(t, `(?s)>1 <.*>2 <`, order, "rows are data")

	wrapped := redesign(Wrap).page
	require.Contains(t, wrapped, `<body><div class="shell"><main>`)
	require.Contains(t, wrapped, `<span class="shell"><input id="town"/></span>`)
	require.Contains(t, wrapped, `<span class="shell"><button>Save</button></span>`)
	require.Contains(t, wrapped, `Garden <input type="checkbox"/>`)

	other := redesign(Other)
	require.Equal(t, ids.names, other.names)
	require.Contains(t, other.page, `<span class="shell"><input id="`+town+`"/></span>`)
	require.Contains(t, other.page, "sepia")
	require.Less(t, strings.Index(other.page, "Garden"), strings.Index(other.page, "Street"))
	_, err := redesignFile(folder, "demo/none.html", Other, site.script)
	require.Error(t, err)
}

func TestRename(t *testing.T) {
	t.Parallel()
	names := map[string]string{"a": "x", "b-c": "y"}
	for text, want := range map[string]string{
		`#a`: "#x", `.b-c > .other`: ".y > .other", `#ab #a-b .a1`: "#ab #a-b .a1",
		`document.getElementById("a").b.a.c`:                `document.getElementById("x").b.a.c`,
		`//p[@id='b-c']//i[contains(@class,'a')]`:           `//p[@id='y']//i[contains(@class,'x')]`,
		`document.querySelectorAll(".a, .b-c").length===12`: `document.querySelectorAll(".x, .y").length===12`,
	} {
		require.Equal(t, want, rename(text, names), text)
	}
}

func TestPairIsRenamed(t *testing.T) {
	t.Parallel()
	set := &Set{pages: fstest.MapFS{"shop/index.html": {Data: []byte(`<b id="~cart~"></b><!--w--><i></i><!--/w-->`)}}}
	site := &Site{set: set, files: fstest.MapFS{"kit/page.html": {Data: []byte(packagePage)}}}
	p := &Pair{Page: "/shop/index.html", Oracle: `document.querySelector("#cart").textContent==="1"`,
		Solution: []step.Step{{Tool: step.Tool{Type: step.Click, Args: step.Args{Selector: &step.Selector{Type: "css", Value: "#cart"}}}}}}
	same, err := site.renamed(p, Wrap)
	require.NoError(t, err)
	require.Same(t, p, same)
	other, err := site.renamed(p, Other)
	require.NoError(t, err)
	require.Equal(t, `document.querySelector("#`+renamed("cart")+`").textContent==="1"`, other.Oracle)
	require.Equal(t, "#"+renamed("cart"), other.Solution[0].Tool.Args.Selector.Value)
	require.Equal(t, "#cart", p.Solution[0].Tool.Args.Selector.Value)
}

func TestChangesOfPages(t *testing.T) {
	t.Parallel()
	set := &Set{pages: fstest.MapFS{"index.html": {Data: []byte(`<b id="~cart~"></b><!--w--><i></i><!--/w-->`)}},
		mounts: map[string]string{"/assets/": "kit"}}
	site := &Site{set: set, files: fstest.MapFS{"kit/page.html": {Data: []byte(packagePage)}, "kit/none.html": {Data: []byte("<p>text")}}}
	for _, c := range []struct {
		page, change string
		want         bool
	}{
		{"/index.html", IDs, true}, {"/index.html?a=1", Wrap, true}, {"tls:/index.html#top", IDs, true},
		{"/private/index.html", IDs, true}, {"/index.html", Order, false}, // nothing is marked
		{"/npm/kit/page.html", Order, true}, {"/assets/page.html", Order, true}, {"/npm/kit/none.html", Order, false},
		{"/npm/kit/", Order, false},
	} {
		changes, err := site.changes(&Pair{Page: c.page}, c.change)
		require.NoError(t, err, c.page)
		require.Equal(t, c.want, changes, c.page)
	}
	for _, page := range []string{"/npm/kit/lost.html", "/lost.html"} {
		_, err := site.changes(&Pair{Page: page}, Wrap)
		require.Error(t, err, page)
		_, err = site.renamed(&Pair{Page: page, Oracle: "true"}, IDs)
		require.Error(t, err, page)
	}
}

func TestIDsThatScriptsName(t *testing.T) {
	t.Parallel()
	site := &Site{set: &Set{pages: fstest.MapFS{"own.js": {Data: []byte(`find("c")`)}}, mounts: map[string]string{"/assets/": "kit/dist"}},
		files: fstest.MapFS{
			"kit/a.js": {Data: []byte(`import{x}from"./b.js"; export {y} from '/npm/kit/dist/d.js'`)}, "kit/b.js": {Data: []byte(`import "./a.js"; find("b")`)},
			"kit/dist/d.js": {Data: []byte(`find("d")`)}, "kit/bare.js": {Data: []byte(`import "vue"`)},
		}}
	all := []string{"a", "b", "c", "d"}
	for script, want := range map[string][]string{
		`<script src="/own.js?v=1"></script>`:                            {"a", "b", "d"},
		`<script src="/npm/kit/dist/d.js"></script>`:                     {"a", "b", "c"},
		`<script src="/assets/d.js"></script>`:                           {"a", "b", "c"},
		`<script src="../kit/dist/d.js"></script>`:                       {"a", "b", "c"},
		`<script type="module" src="a.js"></script>`:                     {"c"},
		`<script type="module">import "./dist/d.js"</script>`:            {"a", "b", "c"},
		`<script type="module" src="bare.js"></script>`:                  nil,
		`<button onclick="find('a')">`:                                   {"b", "c", "d"},
		`<script src="https://example.com/own.js"></script>`:             all,
		`<script type="module" src="https://example.com/a.js"></script>`: all,
	} {
		page := script + `<b id="a"></b><b id="b"></b><b id="c"></b><b id="d"></b>`
		names := redesign(page, IDs, scripts{page: "/npm/kit/page.html", read: site.script}).names
		require.ElementsMatch(t, want, slices.Collect(maps.Keys(names)), script)
	}
}

func TestStepsAreRenamed(t *testing.T) {
	t.Parallel()
	const steps = `[{"id":"1","tool":{"type":"input_text","args":{"selector":"#cart","text":"\"#cart\" > .cart"}}},
		{"id":"2","tool":{"type":"drag","args":{"selector":{"type":"css","value":"p>#cart","within":{"type":"xpath","value":"//p[@id=\"cart\"]"}},"target":".cart"}}},
		{"id":"3","tool":{"type":"assert","args":{"selector":{"type":"text","value":"#cart"},"matcher":{"name":"text","args":{"value":"#cart"}}}}}]`
	set := &Set{pages: fstest.MapFS{"index.html": {Data: []byte(`<b id="~cart~">`)}}}
	p := &Pair{Page: "/index.html", Oracle: "true"}
	require.NoError(t, json.Unmarshal([]byte(steps), &p.Solution))
	other, err := (&Site{set: set}).renamed(p, IDs)
	require.NoError(t, err)
	cart := renamed("cart")
	args := func(i int) step.Args { return other.Solution[i].Tool.Args }
	require.Equal(t, "#"+cart, args(0).Selector.Value)
	require.Equal(t, `"#cart" > .cart`, *args(0).Text, "it is typed")
	require.Equal(t, "p>#"+cart, args(1).Selector.Value)
	require.Equal(t, `//p[@id="`+cart+`"]`, args(1).Selector.Within.Value)
	require.Equal(t, "."+cart, args(1).Target.Value)
	require.Equal(t, "#cart", args(2).Selector.Value, "it is a text")
	require.Equal(t, "#cart", args(2).Matcher.Args.Value)
}

func TestRedesignOfPagesOfOurOwn(t *testing.T) {
	t.Parallel()
	set := &Set{pages: fstest.MapFS{"index.html": {Data: []byte(`<b id="~cart~"></b><!--w--><i></i><!--/w-->`)}}}
	trial := &Trial{Site: &Site{set: set}}
	r, err := trial.Redesign(t.Context(), &Pair{Page: "/index.html", Without: []string{IDs}})
	require.NoError(t, err)
	require.Equal(t, Redesign{Changes: []string{Wrap}, Parts: []string{Wrap}}, r)
	_, err = trial.Redesign(t.Context(), &Pair{Page: "/lost.html"})
	require.Error(t, err)

	r = Redesign{}
	p := &Pair{Page: "/index.html", Without: []string{IDs}}
	for change, want := range map[string]bool{IDs: false, Order: false, Wrap: true} {
		ok, err := trial.makes(t.Context(), p, change, false, &r)
		require.NoError(t, err)
		require.Equal(t, want, ok, change)
	}
	require.ElementsMatch(t, []Left{{Change: IDs, Why: AnotherTask}, {Change: Order, Why: NothingToChange}}, r.Left)
}
