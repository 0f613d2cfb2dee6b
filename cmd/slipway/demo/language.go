package demo

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Names of the crash projects.
const (
	androidCrashes = "demo-lamps-android"
	courierCrashes = "demo-courier"
	appleCrashes   = "demo-lamps-ios"
	webCrashes     = "demo-lamps-web"
	serverCrashes  = "demo-lamps-server"
)

// frames are a stack, the innermost first.
type frames []map[string]any

// fault is a bug: reports of it are one group.
type fault struct {
	project  string
	name     string // part of the group's title
	class    string
	message  string // %d is a number that differs from report to report
	stack    func(version string) frames
	versions []string
	daily    func(day int) int // how many reports came so many days ago; today is 0
}

// language is how reports of a crash project look besides.
type language struct {
	lang, version, agent string
	symbolication        string
	os                   string
	devices              []string
	more                 func(report, attributes map[string]any, version string)
}

func steady(n int) func(int) int { return func(int) int { return n } }

// rising is a bug that spreads since some days.
func rising(since, most int) func(int) int {
	return func(day int) int { return max(0, most*(since-day)/since) }
}

// falling is one that a release has mended.
func falling(until, most int) func(int) int {
	return func(day int) int {
		if day < until {
			return 0
		}
		return 1 + most*(day-until)/30
	}
}

func each(days int, n int) func(int) int {
	return func(day int) int {
		if day%days == 0 {
			return n
		}
		return 0
	}
}

var lampsVersions = []string{"2.0.0", "2.0.1", "2.1.0", "2.1.1", "2.2.0", "2.2.1", "2.3.0"}

// faults are the bugs, each with its own course over the days.
var faults = []fault{
	{androidCrashes, "Price.cents", "java.lang.ArithmeticException", "divide by zero", obfuscated("a.b", "a", 3, "a.c", "b", 9),
		lampsVersions, rising(12, 7)},
	{androidCrashes, "Cart.restore", "java.lang.NullPointerException", "Parameter specified as non-null is null: parameter bundle",
		obfuscated("a.b", "b", 5, "a.c", "b", 9), lampsVersions[:4], falling(14, 5)},
	{androidCrashes, "Loader.decode", "java.lang.OutOfMemoryError", "Failed to allocate a %d byte allocation",
		obfuscated("a.d", "a", 4, "a.d", "b", 6),
		lampsVersions[4:6], falling(5, 8)},
	{courierCrashes, "Route.next", "RangeError", "Invalid value: Not in inclusive range 0..%d: -1",
		plain("Route.next", "package:courier/route.dart", 88, "RoutePage.build", "package:courier/route_page.dart", 31),
		[]string{"1.1.0", "1.2.0"}, steady(2)},
	{courierCrashes, "Signature.toPng", "StateError", "Bad state: no strokes",
		plain("Signature.toPng", "package:courier/signature.dart", 52, "SignaturePage.done", "package:courier/signature_page.dart", 19),
		[]string{"1.2.0"}, rising(1, 6)},
	{appleCrashes, "Cart.total", "EXC_BAD_ACCESS", "Attempted to dereference a null pointer", native(0x1040, 0x2020),
		lampsVersions[2:], each(2, 3)},
	{appleCrashes, "RoomView.place", "EXC_BREAKPOINT", "Unexpectedly found nil while unwrapping an Optional value", native(0x3010, 0x2020),
		[]string{"2.3.0"}, rising(3, 6)},
	{webCrashes, "total", "TypeError", "Cannot read properties of undefined (reading 'price')", minified(24, 70),
		[]string{"5.1.0", "5.2.0", "5.3.0"}, steady(3)},
	{webCrashes, "submit", "NetworkError", "Failed to fetch", minified(60, 70), []string{"5.2.0", "5.3.0"}, each(3, 5)},
	{serverCrashes, "average", "ZeroDivisionError", "division by zero",
		plain("average", "/srv/lamps/stats.py", 12, "report", "/srv/lamps/report.py", 40), []string{"9.4", "9.5"}, each(7, 4)},
	{serverCrashes, "reserve", "StockError", "lamp %d is out of stock",
		plain("reserve", "/srv/lamps/stock.py", 77, "order", "/srv/lamps/orders.py", 18), []string{"9.4", "9.5", "9.6"}, steady(2)},
	{serverCrashes, "main.Mailer.Send", "runtime error: index out of range", "index out of range [%d] with length 0",
		plain("main.(*Mailer).Send", "/go/src/mailer/send.go", 64, "main.(*Queue).run", "/go/src/mailer/queue.go", 29),
		[]string{"1.8.0", "1.9.0"}, falling(8, 3)},
}

// regressing are bugs that were resolved in a version and came back in a later one.
var regressing = []struct{ project, name, resolved, back string }{
	{androidCrashes, "Cart.restore", "2.1.1", "2.3.0"},
	{serverCrashes, "main.Mailer.Send", "1.9.0", "1.9.1"},
}

// languageOf says how reports of a fault look. A server runs two programs.
func languageOf(f *fault) language {
	phones := []string{"Pixel 8", "Pixel 6a", "SM-S921B", "Redmi Note 12", "Fairphone 5"}
	switch f.project {
	case androidCrashes:
		return language{lang: "java", version: "17", agent: "backtrace-android", symbolication: "proguard", os: "Android", devices: phones,
			more: func(_, attributes map[string]any, version string) {
				for _, r := range releasesOf(lampsPackage) {
					if r.version == version {
						attributes["symbolication_id"] = r.mappingID()
						attributes["application.version_code"] = fmt.Sprint(r.code)
					}
				}
			}}
	case courierCrashes:
		return language{lang: "dart", version: "3.6", agent: "flutter-crashes", os: "Android", devices: phones[1:4]}
	case appleCrashes:
		return language{lang: "swift", version: "6", agent: "backtrace-cocoa", os: "iOS", devices: []string{"iPhone14,5",
			"iPhone15,2", "iPhone16,1", "iPad13,4"},
			more: func(report, _ map[string]any, version string) {
				report["modules"] = []any{map[string]any{"start": "0x100000000", "size": 0x100000, "code_file": "/var/containers/Lamps.app/Lamps",
					"debug_file": "Lamps", "debug_identifier": imageID(version)}}
			}}
	case webCrashes:
		return language{lang: "javascript", version: "2024", agent: "@backtrace/browser", symbolication: "sourcemap", os: "Web",
			devices: []string{"Chrome 141", "Firefox 143", "Safari 19"}}
	}
	if strings.HasPrefix(f.name, "main.") {
		return language{lang: "go", version: "1.26", agent: "crash-go", os: "Linux", devices: []string{"mailer-1", "mailer-2"}}
	}
	return language{lang: "python", version: "3.13", agent: "backtracepython", os: "Linux", devices: []string{"web-1", "web-2", "web-3"}}
}

func plain(function, file string, line int, caller, from string, at int) func(string) frames {
	return func(string) frames {
		return frames{{"funcName": function, "library": file, "line": line}, {"funcName": caller, "library": from, "line": at}}
	}
}

// obfuscated is a stack as R8 leaves it.
func obfuscated(class, method string, line int, callerClass, caller string, at int) func(string) frames {
	return func(string) frames {
		return frames{{"funcName": class + "." + method, "library": "SourceFile", "line": line},
			{"funcName": callerClass + "." + caller, "library": "SourceFile", "line": at},
			{"funcName": "android.os.Handler.dispatchMessage", "library": "Handler.java", "line": 106}}
	}
}

// native is a stack of addresses in the image of the app.
func native(offsets ...int) func(string) frames {
	return func(string) frames {
		var list frames
		for _, offset := range offsets {
			list = append(list, map[string]any{"address": fmt.Sprintf("0x%x", 0x100000000+offset), "library": "/var/containers/Lamps.app/Lamps"})
		}
		return list
	}
}

// imageID identifies the image of a version, as Breakpad writes it.
func imageID(version string) string {
	digits := strings.ReplaceAll(version, ".", "")
	return strings.Repeat("0", 16-len(digits)) + digits + "5111BA7DE30A7EB0" + "0"
}

// breakpadSymbols is what dump_syms would write for the image of a version.
func breakpadSymbols(version string) []byte {
	return []byte("MODULE mac arm64 " + imageID(version) + " Lamps\n" +
		"FILE 0 /src/Lamps/Cart.swift\nFILE 1 /src/Lamps/CartView.swift\nFILE 2 /src/Lamps/RoomView.swift\n" +
		"FUNC 1000 100 0 Lamps.Cart.total() -> Swift.Int\n1000 20 14 0\n1020 40 17 0\n1060 a0 19 0\n" +
		"FUNC 2000 80 0 Lamps.CartView.refresh() -> ()\n2000 80 52 1\n" +
		"FUNC 3000 80 0 Lamps.RoomView.place(lamp: Lamps.Lamp) -> ()\n3000 80 131 2\n")
}

// scriptURL is where pages load the script from.
const scriptURL = "https://lamps.example.com/static/app.js"

// The script, in one line, and its sources.
const (
	script = `function t(e){return e.items.map(i=>i.price).reduce((a,b)=>a+b)}function u(e){return fetch(e)}function v(e){t(e.cart);u(e.url)}` +
		"\n//# sourceMappingURL=app.js.map\n"
	cartSource = "export function total(cart) {\n  return cart.items\n    .map((item) => item.price)\n    .reduce((a, b) => a + b);\n}\n"
	paySource  = "export function submit(url) {\n  return fetch(url);\n}\n\nexport function checkout(form) {\n  total(form.cart);\n  submit(form.url);\n}\n"
)

// minified is a stack in the script: its column, and that of the caller.
func minified(column, caller int) func(string) frames {
	name := "t"
	if column != 24 {
		name = "u"
	}
	return func(string) frames {
		return frames{{"funcName": name, "library": scriptURL, "line": 1, "column": scriptColumn(name)},
			{"funcName": "v", "library": scriptURL, "line": 1, "column": scriptColumn("v") + caller - 70}}
	}
}

// scriptColumn is where the body of a function of the script begins, from 1.
func scriptColumn(name string) int {
	return strings.Index(script, "function "+name+"(e){") + len("function t(e){") + 1
}

// sourceMap leads from the script to its sources.
func sourceMap() ([]byte, error) {
	type segment struct{ column, source, line, from, name int }
	start := func(name string) int { return strings.Index(script, "function "+name+"(") }
	segments := []segment{
		{start("t"), 0, 0, 7, 0}, {scriptColumn("t") - 1, 0, 1, 2, 0},
		{start("u"), 1, 0, 7, 1}, {scriptColumn("u") - 1, 1, 1, 2, 1},
		{start("v"), 1, 4, 7, 2}, {scriptColumn("v") - 1, 1, 5, 2, 2},
	}
	var before segment
	var mappings []string
	for _, s := range segments {
		mappings = append(mappings, quantity(s.column-before.column)+quantity(s.source-before.source)+quantity(s.line-before.line)+
			quantity(s.from-before.from)+quantity(s.name-before.name))
		before = s
	}
	return json.Marshal(map[string]any{"version": 3, "file": "app.js", "sources": []string{"src/cart.js", "src/checkout.js"},
		"sourcesContent": []string{cartSource, paySource}, "names": []string{"total", "submit", "checkout"},
		"mappings": strings.Join(mappings, ",")})
}

// quantity writes a number as source maps do: in Base64, five bits a digit, the sign last.
func quantity(n int) string {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	rest := n << 1
	if n < 0 {
		rest = -n<<1 | 1
	}
	var b strings.Builder
	for {
		digit := rest & 31
		if rest >>= 5; rest > 0 {
			digit |= 32
		}
		b.WriteByte(digits[digit])
		if rest == 0 {
			return b.String()
		}
	}
}
