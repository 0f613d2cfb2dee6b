package fingerprint

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/fingerprinttest"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/language"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/naming"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/rule"
)

// stack returns a report of lines "function | file or library | address".
func stack(lang, class, message string, lines ...string) *report.Report {
	r := &report.Report{Lang: lang, Agent: "test", MainThread: "1", Threads: []report.Thread{{ID: "1", Fault: true}}}
	if class != "" {
		r.Classifiers = []string{class}
	}
	if message != "" {
		r.Attributes = []report.Attribute{{Key: "error.message", Value: message}}
	}
	for i, l := range lines {
		parts := append(strings.Split(l, " | "), "", "")
		f := report.Frame{Function: strings.TrimSpace(parts[0]), Address: strings.TrimSpace(parts[2]), Line: int64(i)}
		if file := strings.TrimSpace(parts[1]); language.OfFile(file) != language.Unknown && language.OfFile(file) != language.Native {
			f.Path = file
		} else {
			f.Library = file
		}
		r.Threads[0].Frames = append(r.Threads[0].Frames, f)
	}
	return r
}

func withModules(r *report.Report, modules ...report.Module) *report.Report {
	r.Modules = modules
	return r
}

func key(r *report.Report) string {
	k := Compute(r).Key
	return hex.EncodeToString(k[:])
}

type pair struct {
	name string
	a, b *report.Report
}

func samePairs() []pair {
	one := func(lang, class string, a, b []string) pair {
		return pair{lang + " " + a[0], stack(lang, class, "", a...), stack(lang, class, "", b...)}
	}
	s := func(l ...string) []string { return l }
	return []pair{
		one("c++", "SIGSEGV", s("shop::pay(int) | shop | 0x55d0c1", "main | shop | 0x55d0c9"),
			s("shop::pay(int) | shop | 0x7f1011", "main | shop | 0x7f1aa9")),
		one("c++", "", s("shop::pay(int) const", "main"), s("void shop::pay(int, char) [clone .cold]", "main", "__libc_start_main")),
		one("c++", "", s("shop::vec<int>::at(int)", "main"), s("shop::vec<std::string>::at(int)", "main")),
		one("c++", "", s("__GI_raise | libc.so.6", "abort | libc.so.6", "shop::check", "main"),
			s("__pthread_kill_implementation | libc.so.6", "raise | libc.so.6", "abort | libc.so.6", "shop::check", "main")),
		one("c++", "", s("handler", "<signal handler called>", "shop::pay", "main"), s("shop::pay", "main")),
		one("c++", "", s("(anonymous namespace)::pay", "main"), s("`anonymous namespace'::pay", "main")),
		one("c++", "", s("shop::run()::{lambda(int)#1}::operator()(int)", "main"), s("shop::run()::$_3::operator()(int)", "main")),
		one("c++", "", s("malloc | libc.so.6", "shop::pay", "main"), s("_int_malloc | libc.so.6", "malloc | libc.so.6", "shop::pay", "main")),
		one("rust", "", s("rust_begin_unwind", "core::panicking::panic_fmt", "shop::pay::h0123456789abcdef",
			"shop::main::h1111111111111111"), s("core::panicking::panic_fmt::h0000000000000001", "shop::pay::hfedcba9876543210",
			"shop::main::h2222222222222222", "std::rt::lang_start")),
		one("rust", "", s("shop::pay::{{closure}}::h0123456789abcdef"), s("shop::pay::{closure#0}")),
		one("swift", "", s("closure #1 (Swift.Int) -> () in App.Cart.load()"), s("closure #2 () -> () in App.Cart.load()")),
		one("objective-c", "", s("objc_exception_throw | libobjc.A.dylib", "-[Cart pay]", "main"),
			s("__exceptionPreprocess | CoreFoundation", "objc_exception_throw | libobjc.A.dylib", "-[Cart pay]", "main", "start | libdyld.dylib")),
		one("objective-c", "", s("__12-[Cart pay]_block_invoke"), s("__12-[Cart pay]_block_invoke_2")),
		one("java", "java.lang.NullPointerException", s("com.shop.Cart.lambda$pay$0",
			"com.shop.Cart$$Lambda$14/0x0000000800c03000.run", "java.lang.Thread.run"), s("com.shop.Cart.lambda$pay$1",
			"com.shop.Cart$$Lambda$99/0x0000000800c04440.run", "java.base/java.lang.Thread.run")),
		one("java", "java.lang.NullPointerException", s("com.shop.Cart.pay", "sun.reflect.GeneratedMethodAccessor12.invoke",
			"com.shop.Main.main"), s("com.shop.Cart.pay", "sun.reflect.NativeMethodAccessorImpl.invoke0", "com.shop.Main.main")),
		one("java", "E", s("com.shop.Cart$$EnhancerBySpringCGLIB$$3f2a91.pay"), s("com.shop.Cart$$EnhancerBySpringCGLIB$$8812ab.pay")),
		one("java", "E", s("com.shop.Cart$1.run"), s("com.shop.Cart$2.run")),
		one("kotlin", "E", s("com.shop.Cart$pay$1.invokeSuspend"), s("com.shop.Cart$pay$2.invokeSuspend",
			"kotlinx.coroutines.DispatchedTask.run")),
		one("nodejs", "TypeError", s("pay | /srv/a/src/cart.js", "run | /srv/a/src/main.js"), s("Object.pay | /home/b/src/cart.js",
			"run | /home/b/src/main.js", "processTicksAndRejections | node:internal/process/task_queues")),
		one("javascript", "TypeError", s("pay | https://x.example/main.3f9a1c.js?v=1"), s("pay | https://y.example/assets/main.88ab21.js?v=2")),
		one("javascript", "TypeError", s("pay | https://x.example/index-DfG7h12X.js"), s("pay | https://x.example/index-Zk29AbQ1.js")),
		one("javascript", "TypeError", s("pay | src/cart.js", "async run | src/main.js"), s("pay | src/cart.js")),
		one("javascript", "TypeError", s("pay | src/cart.js", "next | /a/node_modules/express/router.js"),
			s("pay | src/cart.js", "handle | /a/node_modules/express/layer.js")),
		one("python", "KeyError", s("pay | /srv/r1/shop/cart.py", "run | /usr/lib/python3.11/threading.py"),
			s("pay | /srv/r2/shop/cart.py", "run | /usr/lib/python3.12/threading.py", "_bootstrap | /usr/lib/python3.12/threading.py")),
		one("python", "KeyError", s("<listcomp> | shop/cart.py", "pay | shop/cart.py"), s("pay | shop/cart.py")),
		one("ruby", "NameError", s("block in pay | app/cart.rb"), s("block (2 levels) in pay | app/cart.rb")),
		one("ruby", "NameError", s("pay | app/cart.rb", "call | /usr/lib/gems/rack-2/rack.rb"),
			s("pay | app/cart.rb", "call! | /usr/lib/gems/rack-3/rack.rb")),
		one("php", "Error", s("class@anonymous\x00/srv/1/Cart.php:12$0->pay | Cart.php"),
			s("class@anonymous\x00/srv/2/Cart.php:14$1->pay | Cart.php")),
		one("csharp", "E", s("Shop.Cart.<PayAsync>d__12.MoveNext()",
			"System.Runtime.CompilerServices.TaskAwaiter.ThrowForNonSuccess(Task task)"), s("Shop.Cart.<PayAsync>d__14.MoveNext()")),
		one("csharp", "E", s("Shop.Cart.<>c__DisplayClass3_0.<Pay>b__1()"), s("Shop.Cart.<>c.<Pay>b__7_0()")),
		one("go", "*errors.errorString", s("runtime/debug.Stack", "main.recovered", "runtime.gopanic", "main.pay.func1",
			"main.main", "runtime.main"), s("panic", "main.pay.func2", "main.main", "runtime.goexit")),
		one("go", "E", s("main.(*Cart).Pay(0xc000)", "main.main"), s("main.Cart.Pay(0xd000)", "main.main")),
		{"direct recursion", stack("c++", "", "", "leaf", "walk", "walk", "walk", "main"), stack("c++", "", "", "leaf", "walk", "main")},
		{"mutual recursion, other entry", stack("c++", "", "", "a", "b", "a", "b", "main"), stack("c++", "", "", "b",
			"a", "b", "a", "b", "main")},
		{"modules at other addresses", withModules(stack("c", "", "", " | libshop.so | 0x7f0000001234"),
			report.Module{Start: "0x7f0000000000", Size: "65536", CodeFile: "/opt/libshop.so"}),
			withModules(stack("c", "", "", " | libshop.so | 140462610452020"), report.Module{Start: "140462610447360",
				Size: "65536", CodeFile: "/srv/libshop.so"})},
		{"message", stack("go", "E", "order 12 of a@b.example missing"), stack("go", "E", "order 99 of c@d.example missing")},
	}
}

func TestOneBugOneKey(t *testing.T) {
	t.Parallel()
	pairs := samePairs()
	require.GreaterOrEqual(t, len(pairs), 25)
	for _, p := range pairs {
		t.Run(p.name, func(t *testing.T) {
			a, b := Compute(p.a), Compute(p.b)
			require.Equal(t, a.Explanation.Material, b.Explanation.Material)
			require.Equal(t, a.Key, b.Key)
			require.NotEmpty(t, a.Explanation.Material)
		})
	}
}

func TestTwoBugsTwoKeys(t *testing.T) {
	t.Parallel()
	d := func(lang string, a, b string) pair {
		return pair{lang + " " + a, stack(lang, "E", "", strings.Split(a, ";")...), stack(lang, "E", "", strings.Split(b, ";")...)}
	}
	pairs := []pair{
		d("c++", "shop::pay;main", "shop::ship;main"),
		d("c++", "a::pay;main", "b::pay;main"),
		d("c++", "abort | libc.so.6;shop::pay;main", "abort | libc.so.6;shop::ship;main"),
		d("c++", "A::operator<(A);main", "A::operator>(A);main"),
		d("c++", "A::operator()(int);main", "A::operator[](int);main"),
		d("c++", "A::A();main", "A::~A();main"),
		d("c++", "malloc | libc.so.6;start_thread | libc.so.6", "free | libc.so.6;start_thread | libc.so.6"),
		d("rust", "<shop::Cart as core::fmt::Display>::fmt", "<shop::Item as core::fmt::Display>::fmt"),
		d("rust", "shop::pay::h0123456789abcdef", "shop::ship::h0123456789abcdef"),
		d("swift", "closure #1 in App.A.load()", "closure #1 in App.B.load()"),
		d("swift", "App.A.load(x: Int) -> Int", "App.B.load(x: Int) -> Int"),
		d("objective-c", "-[Cart pay]", "+[Cart pay]"),
		d("objective-c", "-[Cart pay:]", "-[Cart pay:with:]"),
		d("java", "com.shop.Cart.pay", "com.shop.Cart.ship"),
		d("java", "com.shop.Cart.lambda$pay$0", "com.shop.Cart.lambda$ship$0"),
		d("java", "com.shop.Cart$1.run", "com.shop.Item$1.run"),
		d("java", "com.shop.Cart$$Lambda$1.run", "com.shop.Item$$Lambda$1.run"),
		d("kotlin", "com.shop.Cart$pay$1.invokeSuspend", "com.shop.Cart$ship$1.invokeSuspend"),
		d("javascript", "pay | src/cart.js", "pay | src/order.js"),
		d("javascript", "pay | src/cart.js", "ship | src/cart.js"),
		d("javascript", "pay | a/index.js", "pay | b/index.js"),
		d("nodejs", "Cart.pay | a.js", "Item.pay | a.js"),
		d("python", "pay | shop/cart.py", "pay | shop/order.py"),
		d("python", "pay | a/__init__.py", "pay | b/__init__.py"),
		d("ruby", "block in pay | cart.rb", "block in ship | cart.rb"),
		d("php", `App\Cart::pay | Cart.php`, `App\Cart::ship | Cart.php`),
		d("csharp", "Shop.Cart.<PayAsync>d__12.MoveNext()", "Shop.Cart.<ShipAsync>d__12.MoveNext()"),
		d("csharp", "Shop.Cart.<>c.<Pay>b__1_0()", "Shop.Cart.<>c.<Ship>b__1_0()"),
		d("go", "main.pay.func1;main.main", "main.ship.func1;main.main"),
		d("go", "main.Cart.Pay;main.main", "main.Item.Pay;main.main"),
		{"class", stack("python", "KeyError", "", "pay | cart.py"), stack("python", "ValueError", "", "pay | cart.py")},
		{"anonymous functions of one bundle", stack("javascript", "TypeError", "x is undefined", "<anonymous> | main.js"),
			stack("javascript", "TypeError", "y is not a function", "<anonymous> | main.js")},
		{"no symbols, two modules", stack("c", "", "", "unknown | liba.so | 0x1000"), stack("c", "", "", "unknown | libb.so | 0x1000")},
		{"no symbols, two offsets", stack("c", "", "", "?? | liba.so | 0x1000"), stack("c", "", "", "?? | liba.so | 0x1010")},
		{"no symbols, modules by address", withModules(stack("c", "", "", " |  | 0x1010"), report.Module{Start: "0x1000",
			Size: "0x100", CodeFile: "liba.so"}),
			withModules(stack("c", "", "", " |  | 0x2010"), report.Module{Start: "0x2000", Size: "0x100", CodeFile: "libb.so"})},
		{"messages", stack("go", "", "order not found"), stack("go", "", "cart not found")},
		{"clients", stack("go", "", ""), stack("python", "", "")},
	}
	require.GreaterOrEqual(t, len(pairs), 25)
	for _, p := range pairs {
		t.Run(p.name, func(t *testing.T) {
			require.NotEqual(t, key(p.a), key(p.b), "%q", Compute(p.a).Explanation.Material)
		})
	}
}

func TestGivenKeys(t *testing.T) {
	t.Parallel()
	r := stack("unity", "NullReferenceException", "x", "Shop.Cart:Pay (int)")
	r.Attributes = append(r.Attributes, report.Attribute{Key: "_mod_fingerprint", Value: strings.Repeat("0a", 32)})
	res := Compute(r)
	require.True(t, res.Given)
	require.Equal(t, SourceAttribute, res.Explanation.Source)
	require.Equal(t, strings.Repeat("0a", 32), hex.EncodeToString(res.Key[:]))
	require.Equal(t, "Shop.Cart.Pay", res.Culprit)

	r.Fingerprint = []byte(strings.Repeat("f", 32))
	res = Compute(r)
	require.Equal(t, SourceGiven, res.Explanation.Source)
	require.Equal(t, r.Fingerprint, res.Key[:])

	r.Fingerprint = nil
	r.Attributes[1].Value = "cart"
	first := Compute(r)
	r.Attributes[1].Value = "order"
	require.Equal(t, SourceAttribute, first.Explanation.Source)
	require.NotEqual(t, first.Key, Compute(r).Key)
}

func TestTitles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		r              *report.Report
		title, culprit string
	}{
		{stack("javascript", "TypeError", "x is undefined\nmore", "checkout.pay | https://x.example/src/checkout.3f9a1c.js?v=1"),
			"TypeError: x is undefined", "pay (src/checkout.js)"},
		{stack("javascript", "TypeError", "TypeError: x is undefined"), "TypeError: x is undefined", ""},
		{stack("c++", "SIGSEGV", "", "shop::pay(int) | /opt/libshop.so.1"), "SIGSEGV in shop::pay", "shop::pay (libshop.so)"},
		{stack("c++", "", "", "shop::pay(int)"), "Crash in shop::pay", "shop::pay"},
		{stack("c++", "", "", " | liba.so | 0x10"), "Crash in liba.so 0x10", "liba.so 0x10"},
		{stack("go", "", ""), "Crash (go)", ""},
		{&report.Report{}, "Crash", ""},
		{stack("go", "E", strings.Repeat("é", 500)), "E: " + strings.Repeat("é", 200) + "…", ""},
	} {
		res := Compute(c.r)
		require.Equal(t, c.title, res.Title)
		require.Equal(t, c.culprit, res.Culprit)
	}
}

func TestExplanation(t *testing.T) {
	t.Parallel()
	r := stack("c++", "SIGABRT", "", "handler", "<signal handler called>", "__GI_raise | libc.so.6", "shop::walk<int>(int)",
		"shop::walk<char>(char)", "memcpy | libc.so.6", "main", "_start")
	res := Compute(r)
	e := res.Explanation
	require.Equal(t, SourceStack, e.Source)
	require.Equal(t, []string{"signal abort", "shop::walk"}, e.Material)
	reasons := map[int]rule.Rule{0: rule.AboveError, 1: rule.ErrorFrame, 2: rule.ErrorFrame, 3: rule.Recursion, 4: rule.TemplateArguments,
		5: rule.SystemFrame, 6: rule.BeyondTelling, 7: rule.ThreadStart}
	for i, rule := range reasons {
		require.True(t, e.Frames[i].Rules.Has(rule), "%d: %v", i, e.Frames[i].Rules.Names())
		require.Equal(t, i == 4, e.Frames[i].Kept)
		require.Equal(t, i == 4 || i == 6, e.Frames[i].Stack)
	}
	require.Contains(t, string(e.AppendJSON(nil)), `"rules":["arguments","template-arguments","recursion"]`)
}

// stackFrames reports for each frame whether it counts for StackKey.
func stackFrames(r Result) []bool {
	out := []bool{}
	for _, f := range r.Explanation.Frames {
		out = append(out, f.Stack)
	}
	return out
}

func TestGuessedAndSystemFrames(t *testing.T) {
	t.Parallel()
	r := stack("c++", "", "", "shop::pay", "shop::stale", "main")
	r.Threads[0].Frames[1].Guessed = true
	require.Equal(t, []string{"shop::pay"}, Compute(r).Explanation.Material)
	require.Equal(t, []bool{true, false, true}, stackFrames(Compute(r)))
	for i := range r.Threads[0].Frames {
		r.Threads[0].Frames[i].Guessed = true
	}
	require.Equal(t, []bool{true, true, true}, stackFrames(Compute(r)))

	only := Compute(stack("java", "E", "", "java.util.ArrayList.get", "java.util.Timer.mainLoop"))
	require.Equal(t, []string{"class E", "java.util.ArrayList.get", "java.util.Timer.mainLoop"}, only.Explanation.Material)
	errors := Compute(stack("c", "", "", "raise | libc.so.6", "abort | libc.so.6"))
	require.Equal(t, []string{"raise", "abort"}, errors.Explanation.Material)
}

func TestDeepRecursion(t *testing.T) {
	t.Parallel()
	deep := func(n int, leaf string, bottom ...string) *report.Report {
		lines := []string{leaf}
		for i := range n {
			lines = append(lines, []string{"expr", "term", "factor"}[i%3])
		}
		return stack("c++", "STACK_OVERFLOW", "", append(lines, bottom...)...)
	}
	want := []string{"signal stack-overflow", "expr", "factor", "term"}
	for _, r := range []*report.Report{deep(30, "leaf", "main"), deep(300, "other", "main"), deep(3000, "leaf", "main"),
		deep(99_999, "x", "main")} {
		require.Equal(t, want, Compute(r).Explanation.Material)
	}
	// Cut off by the client somewhere inside the cycle.
	for _, n := range []int{31, 50, 301, 302, 5000} {
		require.Equal(t, want, Compute(deep(n, "leaf")).Explanation.Material, "%d", n)
	}
}

func TestHostileReports(t *testing.T) {
	t.Parallel()
	many := func(n int, name func(i int) string) *report.Report {
		lines := make([]string, n)
		for i := range lines {
			lines[i] = name(i)
		}
		return stack("c++", "E", "m", lines...)
	}
	harmless := strings.Repeat("abcdefg.", language.MaxName/8)
	for name, r := range map[string]*report.Report{
		"different frames": many(100_000, func(i int) string { return "f" + strconv.Itoa(i) }),
		"one frame":        many(100_000, func(int) string { return "f" }),
		"almost periodic":  many(100_000, func(i int) string { return "f" + strconv.Itoa(i%17) }),
		"long names":       many(256, func(i int) string { return strings.Repeat("a<", 30_000) + strconv.Itoa(i) }),
		"addresses":        many(100_000, func(i int) string { return "| lib.so | " + strconv.Itoa(i) }),
		"long message":     stack("js", strings.Repeat("C", 1e6), strings.Repeat("'", 1e6)),
		"blank frames":     many(1000, func(int) string { return "" }),
	} {
		t.Run(name, func(t *testing.T) {
			var res Result
			require.NoError(t, fingerprinttest.Fast(func() { _, _ = naming.New(false).Normalize(language.Native, harmless) },
				func() { res = Compute(r) }))
			require.LessOrEqual(t, len(res.Explanation.Frames), maxFrames)
			require.LessOrEqual(t, len(res.Explanation.Material), maxKept+5)
			require.NotEmpty(t, res.Title)
			require.Equal(t, res, Compute(r))
		})
	}
}

// TestGoldenKeys checks the keys of Version 3. When a change of the rules makes
// it fail, raise Version and pin the new keys: groups of the old version stay.
func TestGoldenKeys(t *testing.T) {
	t.Parallel()
	require.Equal(t, 3, Version)
	for name, c := range map[string]struct {
		r   *report.Report
		key string
	}{
		"native": {stack("c++", "SIGSEGV", "", "abort", "shop::pay<int>(int) | shop | 0x10", "main"),
			"4c6da98df89a8a83e2c40a43658777bdc3050205ff8d48e581902be02a9fe627"},
		"javascript": {stack("nodejs", "TypeError", "x", "Object.pay | src/cart.3f9a1c.js"),
			"a9262a96c2a322b889e02d26325b82a4b244c48bc04ba12d227de2cf7a1733c8"},
		"java": {stack("java", "E", "", "com.shop.Cart.lambda$pay$0", "java.lang.Thread.run"),
			"dba48999bff69501f0e35b27e352d2bae1d1793e321557a43a2072991f6f25a6"},
		"address": {stack("c", "", "", "?? | liba.so | 0x1000"), "4888583f542d9bdf53507bd99fb788d89d0aca8b6c1b6f6a3815bfaeda6754e9"},
		"message": {stack("go", "E", "order 12 missing"), "e32db5d051ed78623a69965573fe294368765045f75983242a340fc9b7d93b02"},
		"client":  {stack("go", "", ""), "15ad22e1fdf664422126ab2d52769d986cc9f2e6bf9d1d1d4ba390a9a2701f5a"},
	} {
		require.Equal(t, c.key, key(c.r), name)
	}

	// One digest over the keys of every pair covers the rules of all languages.
	all := sha256.New()
	for _, p := range samePairs() {
		all.Write([]byte(key(p.a)))
	}
	require.Equal(t, "b47601039704a837a19a00445bfbf9f40fe3da6fe37369b47acddaa1a7c280e9", hex.EncodeToString(all.Sum(nil)))
}

func BenchmarkCompute(b *testing.B) {
	for _, lang := range []string{"c++", "java", "nodejs", "go"} {
		for _, n := range []int{30, 100} {
			b.Run(fmt.Sprintf("%s/%d", lang, n), func(b *testing.B) {
				r := benchReport(lang, n)
				b.ReportAllocs()
				for b.Loop() {
					Compute(r)
				}
			})
		}
	}
}

func benchReport(lang string, n int) *report.Report {
	forms := map[string]string{
		"c++":    "std::vector<int, std::allocator<int> > shop::mod%d::Cart<std::string>::pay(std::vector<int> const&, int) const | /opt/shop/libshop.so | 0x7f00%d",
		"java":   "com.shop.mod%d.Cart$$Lambda$14/0x0000000800c03000.run%d | Cart.java",
		"nodejs": "Object.pay%d [as run%d] | /srv/app/dist/checkout.3f9a1c.js",
		"go":     "example.org/shop/mod%d.(*Cart).Pay.func1.%d | cart.go",
	}
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf(forms[lang], i, i)
	}
	return stack(lang, "TypeError", "order 4711 of bob@example.org is not in '/var/db/x'", lines...)
}
