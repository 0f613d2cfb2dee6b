package fingerprint

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/filename"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/language"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/message"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/naming"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/rule"
)

// documented is what docs/crashes.md shows: its tables of rules, and its explanation.
type documented struct {
	text        string
	explanation string
	rows        []documentedRow
}

type documentedRow struct {
	heading             string
	rule, before, after string // rule is "" in the table of messages
}

func readDocument(t *testing.T) documented {
	t.Helper()
	raw, err := os.ReadFile("../../../docs/crashes.md")
	require.NoError(t, err)
	d := documented{text: string(raw)}
	_, rest, _ := strings.Cut(d.text, "```json\n")
	d.explanation, _, _ = strings.Cut(rest, "```")
	heading, columns := "", 0
	for line := range strings.Lines(d.text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "#"):
			heading, columns = strings.TrimLeft(line, "# "), 0
		case line == "| Rule | Before | After |":
			columns = 3
		case line == "| Before | After |":
			columns = 2
		case !strings.HasPrefix(line, "| "):
			if !strings.HasPrefix(line, "|-") {
				columns = 0
			}
		case columns > 0:
			cells := strings.Split(strings.Trim(line, "| "), " | ")
			require.Len(t, cells, columns, line)
			for i, c := range cells {
				cells[i] = codeSpan(c)
			}
			if columns == 2 {
				cells = append([]string{""}, cells...)
			}
			d.rows = append(d.rows, documentedRow{heading, cells[0], cells[1], cells[2]})
		}
	}
	return d
}

// codeSpan returns the text of a code span of Markdown, "" for (none).
func codeSpan(cell string) string {
	cell = strings.TrimSpace(cell)
	if cell == "(none)" {
		return ""
	}
	fence := cell[:len(cell)-len(strings.TrimLeft(cell, "`"))]
	text := strings.TrimSuffix(strings.TrimPrefix(cell, fence), fence)
	return strings.TrimSpace(text)
}

// documentedFamilies are the families of the headings of docs/crashes.md.
func documentedFamilies() map[string][]language.Family {
	return map[string][]language.Family{
		"Names":                                {language.Native},
		"C, C++, Rust, Swift, Objective-C":     {language.Native},
		"Java, Kotlin, Scala, Clojure, Groovy": {language.JVM},
		"JavaScript":                           {language.JS},
		"Python, Ruby, PHP, Dart, Elixir":      {language.Python, language.Ruby, language.PHP, language.Dart, language.Elixir},
		"C# and Unity":                         {language.DotNet},
		"Go":                                   {language.Go},
	}
}

// TestDocumentedRules checks that each row of docs/crashes.md is true.
func TestDocumentedRules(t *testing.T) {
	t.Parallel()
	families, tables := documentedFamilies(), map[string]int{}
	for _, row := range readDocument(t).rows {
		tables[row.heading]++
		switch row.heading {
		case "Messages":
			require.Equal(t, row.after, message.Normalize(row.before))
		case "Files and addresses":
			name, rules := filename.Normalize(row.before)
			require.Equal(t, row.after, name)
			require.Contains(t, rules.Names(), row.rule, row.before)
		default:
			found := false
			for _, f := range families[row.heading] {
				var n naming.Namer
				name, rules := n.Normalize(f, row.before)
				for _, rule := range rules.Names() {
					found = found || name == row.after && rule == row.rule
				}
			}
			require.True(t, found, "%s: %s %q", row.heading, row.rule, row.before)
		}
	}
	require.Len(t, tables, len(families)+2, "a table is not read")
}

// TestDocumentedNames checks that docs/crashes.md has every rule that an explanation
// can name.
func TestDocumentedNames(t *testing.T) {
	t.Parallel()
	text := readDocument(t).text
	for r := range rule.Count {
		require.Contains(t, text, "`"+r.String()+"`")
	}
}

// TestDocumentedExample checks the explanation that docs/crashes.md shows, and that
// its two reports are one group.
func TestDocumentedExample(t *testing.T) {
	t.Parallel()
	shop := Compute(stack("python", "KeyError", "'price'", "<listcomp> | /srv/shop/cart.py", "total | /srv/shop/cart.py",
		"show | /srv/shop/views.py",
		"get_response | /usr/lib/python3/dist-packages/django/core/handlers/base.py"))
	got, err := json.Marshal(shop.Explanation)
	require.NoError(t, err)
	require.JSONEq(t, readDocument(t).explanation, string(got))
	job := Compute(stack("python", "KeyError", "'price'", `<listcomp> | C:\jobs\shop\cart.py`, `total | C:\jobs\shop\cart.py`,
		`wrapper | C:\jobs\shop\retry.py`, `nightly | C:\jobs\shop\report.py`))
	require.Equal(t, shop.Key, job.Key)
	require.NotEqual(t, shop.StackKey, job.StackKey)
}

// TestDocumentedGroups checks the statements of docs/crashes.md about two reports.
func TestDocumentedGroups(t *testing.T) {
	t.Parallel()
	guessed := stack("c", "SIGSEGV", "", "old_call | shop", "pay | shop")
	guessed.Threads[0].Frames[0].Guessed = true
	given := stack("c#", "X", "", "Cart.Pay")
	given.Attributes = append(given.Attributes, report.Attribute{Key: attributeFingerprint, Value: "login"})
	given2 := stack("c#", "Y", "", "Cart.Open")
	given2.Attributes = given.Attributes
	segv := func(lines ...string) *report.Report { return stack("c", "SIGSEGV", "", lines...) }
	cart := func(class, message string) *report.Report {
		return stack("python", class, message, "pay | shop/cart.py")
	}
	offset := func(start, address string) *report.Report {
		return withModules(segv(" |  | "+address), report.Module{Start: start, Size: "0x10000", CodeFile: "/opt/shop"})
	}
	for name, c := range map[string]struct {
		same bool
		a, b *report.Report
	}{
		"helper": {true, stack("python", "KeyError", "", "assert_valid | a.py", "pay | c.py"),
			stack("python", "KeyError", "", "pay | c.py")},
		"above-error": {true, stack("c", "SIGABRT", "", "raise", "abort", "__assert_fail", "pay"),
			stack("c", "SIGABRT", "", "pay", "__libc_start_main")},
		"guessed-frame": {true, guessed, segv("pay | shop")},
		"async-frame": {true, stack("js", "TypeError", "", "pay | c.js", "async show | p.js"),
			stack("js", "TypeError", "", "pay | c.js")},
		"lambdas": {false, stack("python", "KeyError", "", "<lambda> | cart.py", "total | cart.py"),
			stack("python", "KeyError", "", "<lambda> | cart.py", "price | cart.py")},
		"recursion": {true, stack("java", "E", "", "a.F.a", "a.F.b", "a.F.a", "a.F.b", "a.F.g"),
			stack("java", "E", "", "a.F.a", "a.F.b", "a.F.g")},
		"class":         {false, cart("KeyError", ""), cart("TypeError", "")},
		"error number":  {false, cart("OSError", "[Errno 13] Permission denied"), cart("OSError", "[Errno 28] No space left")},
		"generic-class": {false, cart("Exception", "cart is empty"), cart("Exception", "card was refused")},
		"telling class": {true, cart("ValueError", "bad price 17 of 'lamp'"), cart("ValueError", "no price")},
		"helper-on-top": {false, stack("java", "java.lang.IllegalStateException", "cart is empty", "a.Check.fail",
			"a.Cart.pay"), stack("java", "java.lang.IllegalStateException", "no price", "a.Check.fail", "a.Cart.pay")},
		"system-frames-only": {false, stack("java", "java.lang.IllegalStateException", "Fragment not attached",
			"android.app.Fragment.a"), stack("java", "java.lang.IllegalStateException", "Not allowed after onSaveInstanceState",
			"android.app.Fragment.a")},
		"nothing-telling": {false, stack("js", "TypeError", "t is null", "a | m.js", "b | m.js"),
			stack("js", "TypeError", "x is bad", "a | m.js", "b | m.js")},
		"no-stack": {true, stack("python", "TimeoutError", "order 4711 took 12 s"),
			stack("python", "TimeoutError", "order 4712 took 3 s")},
		"class-says-all": {true, stack("java", "java.net.UnknownHostException", "Unable to resolve host",
			"java.net.Inet6AddressImpl.lookup"), stack("java", "java.net.UnknownHostException", "Host nicht gefunden",
			"java.net.Inet6AddressImpl.lookup")},
		"cause": {false, stack("java", "java.util.concurrent.ExecutionException", "java.io.IOException: reset",
			"a.Jobs.wait"), stack("java", "java.util.concurrent.ExecutionException", "a.CartException: empty", "a.Jobs.wait")},
		"signal":               {true, segv("read_row"), stack("c", "EXC_BAD_ACCESS", "", "read_row")},
		"signals":              {false, segv("read_row"), stack("c", "SIGABRT", "", "read_row")},
		"sanitizer":            {true, segv("read_row"), stack("c", "AddressSanitizer", "heap-buffer-overflow on address 0x602", "read_row")},
		"other sanitizer":      {false, segv("read_row"), stack("c", "AddressSanitizer", "heap-use-after-free on address 0x602", "read_row")},
		"verdict":              {true, segv("read_row"), stack("c", "SourceAvNearNull", "", "read_row")},
		"system-call":          {false, segv("memcpy | libc.so.6", "read_row"), segv("pthread_mutex_lock | libc.so.6", "read_row")},
		"names of system-call": {true, segv("__memmove_avx_unaligned_erms | libc.so.6", "read_row"), segv("memcpy | libc.so.6", "read_row")},
		"engine-message": {true, stack("js", "TypeError", "Cannot read properties of undefined (reading 'price')", "<anonymous> | app.js"),
			stack("js", "TypeError", `can't access property "price", a is undefined`, "/< | app.js")},
		"module-offset":    {true, offset("0x55d0c0000", "0x55d0c1010"), offset("0x7f1000000", "0x7f1001010")},
		"absolute-address": {true, segv(" | libapp.so | 0x7f12345678", "pay"), segv(" | libapp.so | 0x7e00009abc", "pay")},
		"given":            {true, given, given2},
	} {
		a, b := Compute(c.a), Compute(c.b)
		require.Equal(t, c.same, a.Key == b.Key, "%s: %q %q", name, a.Explanation.Material, b.Explanation.Material)
	}
}
