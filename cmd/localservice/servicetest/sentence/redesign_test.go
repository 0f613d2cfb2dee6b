package sentence

import (
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
	redesign := func(change string) redesigned {
		r, err := redesignFile(folder, "demo/page.html", change)
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
	_, err := redesignFile(folder, "demo/none.html", Other)
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
	require.True(t, site.changes(p, IDs))
	require.True(t, site.changes(p, Wrap))
	require.False(t, site.changes(p, Order), "nothing is marked")
	require.True(t, site.changes(&Pair{Page: "/npm/kit/page.html"}, Order))
	site.files = fstest.MapFS{"kit/page.html": {Data: []byte("<p>text")}}
	require.False(t, site.changes(&Pair{Page: "/npm/kit/page.html"}, Order))
}
