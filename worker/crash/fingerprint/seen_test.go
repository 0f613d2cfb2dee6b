package fingerprint

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/report"
)

// seenPair is a pair that was grouped wrongly once. Frames are separated by semicolons.
type seenPair struct {
	name, lang     string
	classA, classB string
	messageA       string
	messageB       string
	a, b           string
}

func (p *seenPair) reports() (a, b *report.Report) {
	frames := func(text string) []string {
		if text == "" {
			return nil
		}
		return strings.Split(text, ";")
	}
	return stack(p.lang, p.classA, p.messageA, frames(p.a)...), stack(p.lang, p.classB, p.messageB, frames(p.b)...)
}

const (
	reactURL  = "https://reactjs.org/docs/error-decoder.html?invariant="
	dartFirst = "_kDartIsolateSnapshotInstructions"
)

// TestSeenOtherBugs are two bugs each, which were one group.
func TestSeenOtherBugs(t *testing.T) {
	t.Parallel()
	for _, p := range []seenPair{
		{"offsets of Flutter", "dart", "RangeError", "RangeError", "", "",
			dartFirst + "+0x1341b7 | libapp.so;" + dartFirst + "+0x133d03 | libapp.so", dartFirst + "+0x2241b7 | libapp.so;" +
				dartFirst + "+0x111d03 | libapp.so"},
		{"offsets of Flutter below the function that throws", "dart", "TypeError", "TypeError", "", "",
			dartFirst + "+0x100 | App;" + dartFirst + "+0x133d03 | App", dartFirst + "+0x100 | App;" + dartFirst + "+0x999d03 | App"},
		{"nearest symbol of a stripped library", "c++", "SIGSEGV", "SIGSEGV", "", "", "JNI_OnLoad+0x2a3f10 | libgame.so",
			"JNI_OnLoad+0x4b0010 | libgame.so"},
		{"numbers of WebAssembly in a browser", "javascript", "RuntimeError", "RuntimeError", "unreachable", "unreachable",
			"wasm-function[412] | wasm://wasm/00b1d3fe;draw | https://x.example/a.js",
			"wasm-function[77] | wasm://wasm/00b1d3fe;draw | https://x.example/a.js"},
		{"numbers of WebAssembly in native code", "wasm", "SIGABRT", "SIGABRT", "", "", "wasm-function[412]", "wasm-function[77]"},
		{"React's numbers", "javascript", "Error", "Error", "Minified React error #31; visit " + reactURL +
			"31&args[]=a for the full message", "Minified React error #310; visit " + reactURL + "310 for the full message",
			"x | https://x.example/vendors.js", "x | https://x.example/vendors.js"},
		{"arities of Elixir", "elixir", "KeyError", "KeyError", "", "", "Shop.Cart.pay/1;Shop.Api.call/2", "Shop.Cart.pay/2;Shop.Api.call/2"},
		{"what boost calls", "c++", "SIGSEGV", "SIGSEGV", "", "", "boost::function0<void>::operator()() const;shop::Cart::pay()",
			"boost::function0<void>::operator()() const;shop::Order::ship()"},
		{"who reads an array of Swift", "swift", "EXC_BREAKPOINT", "EXC_BREAKPOINT", "", "",
			"specialized Array.subscript.getter | Shop;CartView.body.getter | Shop",
			"specialized Array.subscript.getter | Shop;OrderList.row(at:) | Shop"},
		{"parameters of IL2CPP", "unity", "NullReferenceException", "NullReferenceException", "", "",
			"Player_Hit_m0123ABCD (Player_t1* __this, const RuntimeMethod* method)",
			"Player_Heal_m89ABCDEF (Player_t1* __this, const RuntimeMethod* method)"},
		{"demystified .NET", "csharp", "System.Exception", "System.Exception", "", "", "async Task Shop.Cart.PayAsync(int id)",
			"async Task Shop.Cart.ShipAsync(int id)"},
		{"a library that is the program", "c++", "SIGSEGV", "SIGSEGV", "", "", "absl::Cord::Append(int);LLVMFuzzerTestOneInput",
			"absl::StrSplit(int);LLVMFuzzerTestOneInput"},
		{"a Swift method that is named as a clone", "swift", "EXC_BREAKPOINT", "EXC_BREAKPOINT", "", "",
			"PlayerView.resume() | App", "PlayerView.pause() | App"},
		{"panics without a stack", "rust", "panic", "panic",
			"thread 'a' panicked at crates/codec/src/huffman.rs:88:17:\nindex out of bounds: the len is 2 but the index is 2",
			"thread 'a' panicked at crates/codec/src/window.rs:31:9:\nindex out of bounds: the len is 3 but the index is 3", "", ""},
		{"faults that the kernel logged", "c", "", "",
			"a[1]: segfault at 18 ip 000055d0a1c0b3f4 sp 00007ffd9a0e1d30 error 4 in a[55d0a1bf8000+2c000]",
			"a[1]: segfault at 20 ip 000055d0a1c0b111 sp 00007ffd9a0e1d30 error 4 in a[55d0a1bf8000+2c000]", "", ""},
		{"faults that Windows logged", "c++", "", "",
			"Faulting module name: shop.dll, version: 1\nException code: 0xc0000005\nFault offset: 0x0000000000012f3a",
			"Faulting module name: shop.dll, version: 1\nException code: 0xc0000005\nFault offset: 0x0000000000000f3a", "", ""},
		{"offsets of Apple's", "swift", "EXC_BAD_ACCESS", "EXC_BAD_ACCESS", "", "", "0x104a4c000 + 2023856 | Shop",
			"0x104a4c000 + 3023856 | Shop"},
		{"checks without a stack", "c++", "", "", "FATAL queue.cc(88): Check failed: n > 0", "FATAL cache.cc(12): Check failed: n > 0", "", ""},
		{"out of memory in two files", "php", "", "",
			"Allowed memory size of 134217728 bytes exhausted in /srv/a/Csv.php on line 88",
			"Allowed memory size of 134217728 bytes exhausted in /srv/a/Resize.php on line 88", "", ""},
		{"one function of Haskell's library", "haskell", "", "", "Prelude.head: empty list", "Prelude.head: empty list",
			"head | src/Parse.hs", "head | src/Page.hs"},
		{"causes of one class below a library", "java", "jakarta.servlet.ServletException", "jakarta.servlet.ServletException",
			"failed\nCaused by: java.lang.IllegalStateException: no open period", "failed\nCaused by: java.lang.IllegalStateException: no tax table",
			"org.springframework.web.servlet.FrameworkServlet.processRequest", "org.springframework.web.servlet.FrameworkServlet.processRequest"},
		{"callers of OCaml's library", "ocaml", "Not_found", "Not_found", "", "", "Stdlib__List.assoc;Ledger__Currency.rate",
			"Stdlib__List.assoc;Ledger__Account.parent"},
		{"callers of a library of Apple's", "swift", "SIGKILL", "SIGKILL", "", "",
			"sqlite3VdbeExec | libsqlite3.dylib;Routes.clean() | App", "sqlite3VdbeExec | libsqlite3.dylib;Thumbs.fill() | App"},
		{"a use after free and a null pointer", "c++", "AddressSanitizer", "SIGSEGV",
			"AddressSanitizer: heap-use-after-free on address 0x60", "", "shop::pay()", "shop::pay()"},
		{"an arithmetic error and a verdict", "c", "FPE", "SourceAv", "", "", "pay", "pay"},
	} {
		a, b := p.reports()
		require.NotEqual(t, key(a), key(b), "%s: %q", p.name, Compute(a).Explanation.Material)
	}
}

// TestSeenSameBugs are one bug each, which was two groups.
func TestSeenSameBugs(t *testing.T) {
	t.Parallel()
	for _, p := range []seenPair{
		{"Flutter, another start", "dart", "RangeError", "RangeError", "", "",
			dartFirst + "+0x1341b7 | libapp.so;" + dartFirst + "+0x133d03 | libapp.so;" + dartFirst + "+0x5 | libapp.so",
			dartFirst + "+0x1341B7 | libapp.so;" + dartFirst + "+0x133d03 | libapp.so;" + dartFirst + "+0x9 | libapp.so"},
		{"WebAssembly in two browsers", "javascript", "RuntimeError", "RuntimeError", "", "",
			"app.wasm.wasm-function[412]:0x3a1f7 | https://x.example/app.wasm:wasm-function[412]:0x3a1f7",
			"wasm-function[412] | https://x.example/app.3f9a1c22.wasm:wasm-function[412]:0x3a1f7"},
		{"React's arguments", "javascript", "Error", "Error", "Minified React error #31; visit " + reactURL +
			"31&args[]=object%20with for the full message", "Minified React error #31; visit " + reactURL +
			"31&args[]=a&args[]=b for the full message",
			"x | https://x.example/vendors.js", "x | https://x.example/vendors.js"},
		{"arguments of Elixir", "elixir", "FunctionClauseError", "FunctionClauseError", "", "",
			`Shop.Cart.pay(%{a: 1, b: [1, 2]}, "x, y")`, "Shop.Cart.pay/2"},
		{"a closure of Erlang", "elixir", "KeyError", "KeyError", "", "", `anonymous fn/1 in Shop.Cart.total/1`, `Shop.Cart."-total/1-fun-0-"/1`},
		{"Rust in a browser", "javascript", "RuntimeError", "RuntimeError", "", "",
			"raster::fill_span::h2c81a9d4b0ef7731 | wasm://wasm/00b1d3fe", "raster::fill_span::h90c7bb12ea4410f3 | https://x.example/paint_bg.wasm"},
		{"IL2CPP with parameters", "unity", "NullReferenceException", "NullReferenceException", "", "",
			"Player_Hit_m0123ABCD (Player_t1* __this, int32_t n, const RuntimeMethod* method)", "Player_Hit_m99999999"},
		{"demystified and not", "csharp", "System.Exception", "System.Exception", "", "",
			"async Task<List<int>> Shop.Cart.PayAsync(int id)", "Shop.Cart.<PayAsync>d__3.MoveNext()"},
		{"demystified lambda", "csharp", "System.Exception", "System.Exception", "", "",
			"void Shop.Cart.Pay(int id)+(string s) => { }", "Shop.Cart.<>c__DisplayClass3_0.<Pay>b__1(String s)"},
		{"demystified local function", "csharp", "System.Exception", "System.Exception", "", "",
			"(int a, string b) Shop.Cart.Pay(int id)+Total(int n)", "Shop.Cart.<Pay>g__Total|3_0(Int32 n)"},
		{"demystified constructor", "csharp", "System.Exception", "System.Exception", "", "", "new Shop.Cart(int id)",
			"Shop.Cart..ctor(Int32 id)"},
		{"references of Erlang", "elixir", "RuntimeError", "RuntimeError", "no reply from #Reference<0.1.2.3>",
			"no reply from #Reference<0.3283091.1992.5>", "x", "x"},
		{"a sanitizer and the signal", "c++", "AddressSanitizer", "SIGSEGV",
			"AddressSanitizer: heap-buffer-overflow on address 0x602000000018 at pc 0x4", "", "shop::pay()", "shop::pay()"},
		{"verdicts of CASR", "c", "SourceAv", "SourceAvNearNull", "", "", "pay;main", "pay;main"},
		{"a verdict and the signal", "c", "DestAvNearNull", "SIGSEGV", "", "", "pay;main", "pay;main"},
		{"a fault that the kernel logged", "c", "", "",
			"[102931.55] a[8812]: segfault at 18 ip 000055d0a1c0b3f4 sp 00007ffd9a0e1d30 error 4 in a[55d0a1bf8000+2c000] likely on CPU 3",
			"[ 5510.0] a[411]: segfault at 18 ip 0000562f37e1f3f4 sp 00007ffc1b7743a0 error 4 in a[562f37e0c000+2c000]", "", ""},
		{"a fault that Windows logged", "c++", "", "",
			"Faulting module name: shop.dll, version: 1\nException code: 0xc0000005\nFault offset: 0x0000000000012f3a\nFaulting process id: 0x12",
			"Faulting module name: shop.dll, version: 2\nException code: 0xc0000005\nFault offset: 0x12f3a\nFaulting process id: 0x99", "", ""},
		{"an offset of Apple's, another start", "swift", "EXC_BAD_ACCESS", "EXC_BAD_ACCESS", "", "",
			"0x104a4c000 + 2023856 | Shop | 0x104c3a1b0", "0x100a40000 + 2023856 | Shop | 0x100c2e1b0"},
		{"wrapped and bare", "java", "java.util.concurrent.ExecutionException", "java.io.IOException",
			"row 7 failed\nCaused by: java.io.IOException: disk 3", "disk 4", "com.shop.Cart.pay", "com.shop.Cart.pay"},
		{"out of memory in one file", "php", "", "",
			"Allowed memory size of 134217728 bytes exhausted in /srv/a/Csv.php on line 88",
			"Allowed memory size of 268435456 bytes exhausted in /srv/b/Csv.php on line 91", "", ""},
		{"major versions of Go", "go", "panic", "panic", "", "", "example.org/jobd/sched.(*S).assign", "example.org/jobd/v2/sched.(*S).assign"},
		{"where a recursion met its end", "swift", "EXC_BAD_ACCESS", "EXC_BAD_ACCESS", "", "",
			"szone_malloc_should_clear | libsystem_malloc.dylib;A.m() | App;B.n() | App;A.m() | App;B.n() | App;A.m() | App",
			"A.m() | App;B.n() | App;A.m() | App;B.n() | App;A.m() | App"},
		{"traps of WebAssembly in two engines", "javascript", "RuntimeError", "RuntimeError", "memory access out of bounds",
			"index out of bounds", "a::b | https://x.example/a.wasm", "a::b | wasm://wasm/00b1d3fe"},
		{"Swift's trap, worded and not", "swift", "EXC_BREAKPOINT", "EXC_BREAKPOINT",
			"Shop/A.swift:8: Fatal error: Unexpectedly found nil while unwrapping an Optional value", "", "A.m() | App", "A.m() | App"},
		{"panics without a stack, elsewhere in time", "rust", "panic", "panic",
			"thread 'a' panicked at src/ring.rs:77:19:\nthe len is 64", "thread 'b' panicked at src/ring.rs:80:1:\nthe len is 4096", "", ""},
		{"a vendored library inside", "c++", "SIGSEGV", "SIGSEGV", "", "", "folly::Optional<int>::value();shop::pay()",
			"absl::optional_internal::get();shop::pay()"},
	} {
		a, b := p.reports()
		require.Equal(t, key(a), key(b), "%s: %q and %q", p.name, Compute(a).Explanation.Material, Compute(b).Explanation.Material)
	}
}

func TestCulpritIsTheCaller(t *testing.T) {
	t.Parallel()
	r := stack("swift", "EXC_BREAKPOINT", "", "specialized Array.subscript.getter | Shop",
		"generic specialization <Int> of Swift.Array._checkSubscript(_:wasNativeTypeChecked:) | Shop", "CartView.total() | Shop")
	require.Equal(t, "CartView.total (Shop)", Compute(r).Culprit)
}

func TestLibrariesOfAProject(t *testing.T) {
	t.Parallel()
	withPath := func(r *report.Report, path string) *report.Report {
		r.Threads[0].Frames[0].Path = path
		return r
	}
	for _, c := range []struct {
		pattern string
		a, b    *report.Report
	}{
		{"acme", stack("c++", "SIGSEGV", "", "acme::Buffer::grow()", "shop::pay()"), stack("c++", "SIGSEGV", "",
			"acme::Buffer::shrink()", "shop::pay()")},
		{"com.acme", stack("java", "E", "", "com.acme.Json.read", "com.shop.Cart.pay"),
			stack("java", "E", "", "com.acme.Json.next", "com.shop.Cart.pay")},
		{"libacme.so", stack("c++", "SIGSEGV", "", "grow | /opt/libacme.so", "shop::pay()"),
			stack("c++", "SIGSEGV", "", "shrink | /opt/libacme.so.2", "shop::pay()")},
		{"vendor/acme", withPath(stack("javascript", "E", "", "grow", "pay"), "/srv/vendor/acme/a.js"),
			withPath(stack("javascript", "E", "", "shrink", "pay"), "vendor/acme/b.js")},
	} {
		with := NewLibraries([]string{c.pattern})
		require.NotEqual(t, Compute(c.a).Key, Compute(c.b).Key, c.pattern)
		require.Equal(t, with.Compute(c.a).Key, with.Compute(c.b).Key, "%s: %q", c.pattern, with.Compute(c.a).Explanation.Material)
	}
	require.False(t, NewLibraries([]string{"acme"}).has("acmeshop::pay", "", ""))
	alone := stack("c++", "SIGSEGV", "", "acme::Buffer::grow()", "main")
	require.Equal(t, "acme::Buffer::grow", NewLibraries([]string{"acme"}).Compute(alone).Culprit, "where nothing else is")
}
