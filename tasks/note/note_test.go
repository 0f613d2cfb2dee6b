package note_test

import (
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/tasks/note"
)

func TestHTML(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ in, want string }{
		"empty":        {" \r\n\t", ""},
		"paragraph":    {"Faster start.", "<p>Faster start.</p>\n"},
		"line breaks":  {"one\r\ntwo\rthree", "<p>one<br>\ntwo<br>\nthree</p>\n"},
		"emphasis":     {"*a* **b** ~~c~~ `d`", "<p><em>a</em> <strong>b</strong> <del>c</del> <code>d</code></p>\n"},
		"list":         {"- a\n- b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n"},
		"numbers":      {"1. a\n2. b", "<ol>\n<li>a</li>\n<li>b</li>\n</ol>\n"},
		"headings":     {"# A\n## B\n##### C", "<h3>A</h3>\n<h4>B</h4>\n<h6>C</h6>\n"},
		"quoted title": {"> # A", "<blockquote>\n<h3>A</h3>\n</blockquote>\n"},
		"code":         {"```go\na < b\n```", "<pre><code>a &lt; b\n</code></pre>\n"},
		"image":        {"![a **cat**](https://x.example/cat.png)", "<p>a <strong>cat</strong></p>\n"},
		"raw html":     {"a <b onclick=x>b</b> c", "<p>a b c</p>\n"},
		"html block":   {"<div onclick=x>\nhello\n</div>\n\nafter", "\n<p>after</p>\n"},
		"table": {"| a | b |\n|:--|--:|\n| *1* | <b>2</b> |", `<div class="wide" tabindex="0"><table>` + "\n<thead>\n<tr>\n" +
			`<th align="left">a</th>` + "\n" + `<th align="right">b</th>` + "\n</tr>\n</thead>\n<tbody>\n<tr>\n" +
			`<td align="left"><em>1</em></td>` + "\n" + `<td align="right">2</td>` + "\n</tr>\n</tbody>\n</table></div>\n"},
		"no table":      {"a | b", "<p>a | b</p>\n"},
		"table as text": {"&lt;table>", "<p>&lt;table&gt;</p>\n"},
		"separator":     {"a\n\n--------------------------------------------------", "<p>a</p>\n<hr>\n"},
		"entities":      {"a & b &lt;script&gt;", "<p>a &amp; b &lt;script&gt;</p>\n"},
		"control":       {"a\x00b\x1bc", "<p>abc</p>\n"},
		"turned around": {"a\u202Egpj.exe", "<p>agpj.exe</p>\n"},
		"broken utf-8":  {"a\xffb", "<p>a\uFFFDb</p>\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, strings.ReplaceAll(string(note.HTML(tc.in)), "<br />", "<br>"))
		})
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	const rel = ` rel="nofollow noreferrer noopener" target="_blank"`
	for in, want := range map[string]string{
		"[a](https://x.example/?a=1&b=2)": `<a href="https://x.example/?a=1&amp;b=2"` + rel + `>a</a>`,
		"https://x.example/a":             `<a href="https://x.example/a"` + rel + `>https://x.example/a</a>`,
		"<https://x.example>":             `<a href="https://x.example"` + rel + `>https://x.example</a>`,
		"[m](mailto:qa@x.example)":        `<a href="mailto:qa@x.example" rel="nofollow noreferrer">m</a>`,
		"[a](/admin)":                     "a",
		"[a](//evil.example/)":            "a",
		"[a](ftp://x.example/)":           "a",
		"[a](itms-services://?x)":         "a",
	} {
		require.Equal(t, "<p>"+want+"</p>\n", string(note.HTML(in)), in)
	}
}

// allowed is every tag that may come out, in full.
var allowed = regexp.MustCompile(
	`^<(?:/?(?:p|strong|em|del|ul|ol|li|blockquote|code|pre|h[3-6]|a|table|thead|tbody|tr|th|td|/div)|/div|div class="wide" ` +
		`tabindex="0"|t[hd] align="(?:left|center|right)"|br ?/?|hr ?/?` +
		`|a href="(?:https?:|mailto:)[^"<>\x00-\x20]*" rel="nofollow noreferrer(?: noopener)?"(?: target="_blank")?)>$`)

var tags = regexp.MustCompile(`<[^>]*>?`)

func requireSafe(t *testing.T, in string) {
	t.Helper()
	out := string(note.HTML(in))
	require.True(t, utf8.ValidString(out))
	for _, tag := range tags.FindAllString(out, -1) {
		require.Regexp(t, allowed, tag, "%q gives %q", in, out)
	}
	require.NotContains(t, tags.ReplaceAllString(out, ""), ">", "%q gives %q", in, out)
}

func attacks() []string {
	return []string{
		`<script>alert(1)</script>`, `<ScRiPt src=//evil.example/x.js></sCrIpT>`, "<scr\x00ipt>alert(1)</script>",
		`<scr<script>ipt>alert(1)</scr</script>ipt>`, `<<script>alert(1)//<</script>`,
		`<img src=x onerror=alert(1)>`, `<img src="x" onerror = "alert(1)"`, `<svg onload=alert(1)>`,
		`<svg><script>alert(1)</script></svg>`, `<svg><a xlink:href="javascript:alert(1)"><text>x</text></a></svg>`,
		`<math><mtext></p><script>alert(1)</script>`, `<iframe srcdoc="<script>alert(1)</script>">`,
		`<a href="javascript:alert(1)">x</a>`, `[x](javascript:alert(1))`, `[x](JaVaScRiPt:alert(1))`,
		"[x](java\tscript:alert(1))", `[x](&#106;avascript:alert(1))`, `[x](&#x6A;avascript&colon;alert(1))`,
		`[x](javascript&#58;alert(1))`, `[x]( javascript:alert(1))`, `[x](<javascript:alert(1)>)`,
		`<javascript:alert(1)>`, "[x][r]\n\n[r]: javascript:alert(1)", `[x](data:text/html;base64,PHNjcmlwdD4=)`,
		`![x](data:image/svg+xml;base64,PHN2Zz4=)`, `![x" onerror="alert(1)](x)`, `[x](vbscript:msgbox(1))`,
		`[x](https://a.example/" onmouseover="alert(1))`, `[x](https://a.example/ "t\" onmouseover=\"alert(1)")`,
		`<https://a.example/"onmouseover=alert(1)>`, "[x](https://a.example/\" onfocus=alert(1) autofocus=\")",
		"```\" onmouseover=\"alert(1)\n```", "```<script>\nalert(1)\n```", "`<script>alert(1)</script>`",
		`<style>*{background:url(javascript:alert(1))}</style>`, `<p style="x:expression(alert(1))">`,
		`<!--<script>-->alert(1)`, `<![CDATA[<script>alert(1)</script>]]>`, `<?php echo 1 ?>`, `<!DOCTYPE x [<!ENTITY a "b">]>`,
		`&lt;script&gt;alert(1)&lt;/script&gt;`, `\<script>alert(1)\</script>`, `<base href=//evil.example>`,
		`<form action=//evil.example><input type=submit>`, `<meta http-equiv=refresh content="0;url=//evil.example">`,
		`<a href="https://a.example" target=_top onclick=x>y</a>`, `<details open ontoggle=alert(1)>`, "<x\fonclick=y>",
		"| <script>alert(1)</script> |\n|---|\n| <img src=x onerror=alert(1)> |", "|a|\n|:-:|\n|[x](javascript:alert(1))|",
		`<table onclick=x><tr><td align="left" style="x">a</td></tr></table>`,
		`# <script>alert(1)</script>`, "- <script>\n- alert(1)", `https://a.example/<script>alert(1)</script>`,
		`[<img src=x onerror=alert(1)>](https://a.example)`, `noscript<noscript><p title="</noscript><img src=x onerror=alert(1)>">`,
	}
}

func TestAttacks(t *testing.T) {
	t.Parallel()
	for _, in := range attacks() {
		requireSafe(t, in)
	}
}

// TestHostileSizes has the texts for which parsers of Markdown are slow.
func TestHostileSizes(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"> ", ">", "- ", "1. ", " ", "\t", "[", "![", "]", "*", "**a ", "_a*", "`", "``a",
		"<", "</", "&", "&#", "(", "[a](", "[a][",
		"~~", "\\", "http://a.", "a@", "<a href=\"", "<!--", "#", "|", "|-", "|a\n|-\n", "- a\n", "- a\n ", "> a\n",
		"[a]: b\n", "[a]: <\n", "*a\n", "a\n\n", "\n", "  - a\n", "a **", "www.", "a _"} {
		for _, in := range []string{strings.Repeat(part, note.MaxLength*2/len(part)), nested(part)} {
			start := time.Now()
			requireSafe(t, in)
			require.Less(t, time.Since(start), time.Minute, "%q", part) // it takes milliseconds; quadratic is minutes
		}
	}
}

// TestWideTables: a row is filled up to its head's width, so that little text makes very
// many cells.
func TestWideTables(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{"", "> ", "  "} {
		in := prefix + strings.Repeat("|a", 500) + "|\n" + prefix + strings.Repeat("|-", 500) + "|\n" + strings.Repeat(prefix+"|\n", 20_000)
		in = in[:min(len(in), note.MaxLength)]
		out := note.HTML(in)
		require.NotContains(t, out, "<td")
		require.Less(t, len(out), 4*len(in))
	}
	small := "| a | b |\n|---|---|\n" + strings.Repeat("| 1 | 2 |\n", 1000)
	require.Equal(t, 2000, strings.Count(string(note.HTML(small)), "<td>"))
}

// nested repeats the part once more in each line.
func nested(part string) string {
	var b strings.Builder
	for n := 1; b.Len() < note.MaxLength; n++ {
		b.WriteString(strings.Repeat(part, n) + "a\n")
	}
	return b.String()
}

func TestLength(t *testing.T) {
	t.Parallel()
	out := string(note.HTML(strings.Repeat("ä", note.MaxLength)))
	require.True(t, utf8.ValidString(out))
	require.NotContains(t, out, "\uFFFD")
	require.Contains(t, out, " …")
	require.Less(t, len(out), note.MaxLength+64)
}

func FuzzHTML(f *testing.F) {
	for _, in := range attacks() {
		f.Add(in)
	}
	f.Fuzz(func(t *testing.T, in string) {
		requireSafe(t, in)
	})
}
