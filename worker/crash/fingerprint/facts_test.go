package fingerprint

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/rule"
)

// contextLines returns the material without frames.
func contextLines(r *report.Report) []string {
	e := Compute(r).Explanation
	frames := 0
	for _, f := range e.Frames {
		if f.Kept {
			frames++
		}
	}
	return e.Material[:len(e.Material)-frames]
}

func TestKindsOfNativeCrashes(t *testing.T) {
	t.Parallel()
	for want, reports := range map[string][][2]string{
		"signal memory-access": {{"SIGSEGV", ""}, {"SIGBUS", ""}, {"EXC_BAD_ACCESS (SIGSEGV)", ""},
			{"EXCEPTION_ACCESS_VIOLATION_READ", ""}, {"0xC0000005", ""}, {"", "Segmentation fault"},
			{"Crash", "Unhandled exception: Access violation reading location 0x10"},
			{"AddressSanitizer", "SEGV on unknown address 0x0 (pc 0x5 bp 0x7)"}, {"heap-buffer-overflow", ""},
			{"AddressSanitizer", "AddressSanitizer: stack-buffer-overflow on address 0x602000000018 at pc 0x4 bp 0x7 sp 0x8"},
			{"SourceAv", ""}, {"SourceAvNearNull", ""}, {"DestAvNotNearNull", "x"}, {"BranchAv", ""}},
		"signal arithmetic": {{"SIGFPE", ""}, {"EXC_ARITHMETIC", ""}, {"EXCEPTION_INT_DIVIDE_BY_ZERO", ""}},
		"signal trap": {{"SIGILL", ""}, {"SIGTRAP", ""}, {"EXC_BREAKPOINT (SIGTRAP)", ""},
			{"EXCEPTION_ILLEGAL_INSTRUCTION", ""}},
		"signal abort": {{"SIGABRT", ""}, {"EXC_CRASH (SIGABRT)", ""}, {"", "Aborted"}},
		"signal use-after-free": {{"", "ERROR: AddressSanitizer: heap-use-after-free on address 0x60"},
			{"heap-use-after-free", "READ of size 4"}},
		"signal double-free": {{"SIGABRT", "free(): double free detected in tcache 2"},
			{"", "AddressSanitizer: attempting double-free on 0x60"}},
		"signal undefined signed integer overflow": {{"UndefinedBehaviorSanitizer",
			"a.c:3:7: runtime error: signed integer overflow: 2147483647 + 1 cannot"},
			{"", "/b/a.c:9:1: runtime error: signed integer overflow: 5 * 7 cannot"},
			{"undefined-behavior", "mix.cpp:14:20: runtime error: signed integer overflow: 1 + 1 cannot"}},
		"signal assertion n > 0": {{"SIGABRT", "a.out: a.c:3: pay: Assertion `n > 0' failed."},
			{"EXC_CRASH (SIGABRT)", "Assertion failed: (n > 0), function pay, file a.c, line 3."},
			{"", "Assertion failed: n > 0, file a.c, line 30"}},
		"class std::out_of_range": {{"SIGABRT",
			"terminate called after throwing an instance of 'std::out_of_range'\n  what():  vector"}, {"std::out_of_range",
			"map::at"}, {"", "libc++abi: terminating due to uncaught exception of type std::out_of_range: map"}},
		"message bad cart <num>": {{"std::runtime_error", "bad cart 12"},
			{"", "terminate called after throwing an instance of 'std::runtime_error'\n  what():  bad cart 77"}},
		"class NSRangeException": {{"NSRangeException", "index 5 beyond bounds"}},
	} {
		for _, c := range reports {
			require.Equal(t, []string{want}, contextLines(stack("c++", c[0], c[1], "shop::pay")), "%q", c)
		}
	}
	number := stack("c", "", "", "pay")
	number.Attributes = []report.Attribute{{Key: "signal", Value: "11"}}
	require.Equal(t, []string{"signal memory-access"}, contextLines(number))
}

func TestAbortsDifferByReason(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"signal trap", "message Fatal error: Index out of range"}, contextLines(stack("swift",
		"EXC_BREAKPOINT", "Fatal error: Index out of range: file Shop/Cart.swift, line 12", "Shop.Cart.pay()")))
	require.Equal(t, []string{"message called 'Option::unwrap()' on a <str> value"}, contextLines(stack("rust", "panic",
		"thread 'main' panicked at src/a.rs:3:5:\ncalled `Option::unwrap()` on a `None` value", "shop::pay")))
	require.Equal(t, []string{"message index <num> of <num>"},
		contextLines(stack("rust", "panic", "thread 'main' panicked at 'index 3 of 2', src/a.rs:3:5", "shop::pay")))
}

func TestCauses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lang, class, message string
		want                 []string
	}{
		{"java", "java.lang.RuntimeException", "java.sql.SQLException: row 12", []string{"class java.sql.SQLException"}},
		{"java", "java.lang.RuntimeException", "Unable to start activity X: java.lang.NullPointerException: cart",
			[]string{"class java.lang.NullPointerException"}},
		{"java", "java.lang.RuntimeException", "cart 12 is lost", []string{"message cart <num> is lost"}},
		{"java", "java.util.concurrent.ExecutionException", "java.io.IOException: x", []string{"class java.io.IOException"}},
		{"java", "shop.CartException", "lost\nCaused by: java.io.IOException: x\n\tat a.b\nCaused by: java.net.ConnectException: y",
			[]string{"class shop.CartException", "cause java.net.ConnectException"}},
		{"java", "org.springframework.web.util.NestedServletException", "failed; nested exception is shop.CartException: x",
			[]string{"class shop.CartException"}},
		{"csharp", "System.AggregateException", "One or more errors occurred. ---> System.IO.IOException: x",
			[]string{"class System.IO.IOException"}},
		{"python", "ValueError",
			"Traceback\nKeyError: 'x'\n\nDuring handling of the above exception, another exception occurred:\nValueError: y",
			[]string{"class ValueError", "cause KeyError"}},
		{"go", "*fmt.wrapError", "load cart 12: connect: refused", []string{"message load cart <num>: connect: refused"}},
	} {
		require.Equal(t, c.want, contextLines(stack(c.lang, c.class, c.message, "shop.Cart.pay | Cart")), c.message)
	}
	r := stack("java", "java.lang.reflect.UndeclaredThrowableException", "", "shop.Cart.pay")
	r.Attributes = []report.Attribute{{Key: "error.cause", Value: "java.io.IOException: disk"}}
	require.Equal(t, []string{"class java.io.IOException"}, contextLines(r))
	r.Attributes = nil
	r.Classifiers = append(r.Classifiers, "shop.CartException")
	require.Equal(t, []string{"class shop.CartException"}, contextLines(r))
}

func TestClasses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lang, class, message string
		want                 []string
	}{
		{"go", "*errors.errorString", "order 12 missing", []string{"message order <num> missing"}},
		{"javascript", "Message", "cart empty", []string{"message cart empty"}},
		{"javascript", "t", "cart empty", []string{"message cart empty"}},
		{"javascript", "TypeError", "cart empty", []string{"class TypeError"}},
		{"python", "", "KeyError: 'x'", []string{"class KeyError"}},
		{"python", "OSError", "[Errno 28] No space left on device", []string{"class OSError", "code 28"}},
		{"java", "E", "x", []string{"class E"}},
		{"c++", "", "transaction 12 aborted by peer", []string{"message transaction <num> aborted by peer"}},
		{"python", "", "Traceback (most recent call last):\n  File \"a.py\", line 3\nKeyError: 'x'", []string{"class KeyError"}},
		{"go", "", "panic: cart 12 lost", []string{"message cart <num> lost"}},
	} {
		require.Equal(t, c.want, contextLines(stack(c.lang, c.class, c.message, "shop.Cart.pay | shop")), c.message)
	}
	// Without a stack the message counts, unless the class says all of it.
	for _, c := range []struct {
		class, message string
		want           []string
	}{
		{"java.lang.NumberFormatException", `Für Eingabe: "abc"`, []string{"class java.lang.NumberFormatException"}},
		{"System.ComponentModel.Win32Exception", "Zugriff verweigert (0x80070005)",
			[]string{"class System.ComponentModel.Win32Exception", "code 0x80070005", "message 0x80070005"}},
		{"java.lang.IllegalStateException", "cart 12 closed", []string{"class java.lang.IllegalStateException", "message cart <num> closed"}},
		{"KeyError", "'user_id'", []string{"class KeyError", "message 'user_id'"}},
	} {
		e := Compute(stack("java", c.class, c.message)).Explanation
		require.Equal(t, c.want, e.Material)
		require.True(t, e.Rules.Has(rule.NoStack))
	}
	r := stack("go", "error", "x", "shop/cart.Pay")
	r.Attributes = append(r.Attributes, report.Attribute{Key: "error.type", Value: "*shop.CartError"})
	require.Equal(t, []string{"class *shop.CartError"}, contextLines(r))
}

func TestStacksOfTheSystemOnly(t *testing.T) {
	t.Parallel()
	lines := []string{"malloc | libc.so.6", "start_thread | libc.so.6"}
	a := Compute(stack("c", "SIGSEGV", "heap of cart 12 is gone", lines...))
	require.True(t, a.Explanation.Rules.Has(rule.SystemStack))
	require.NotEqual(t, a.Key, Compute(stack("c", "SIGFPE", "heap of cart 12 is gone", lines...)).Key)
	require.NotEqual(t, a.Key, Compute(stack("c", "SIGSEGV", "no space for cart 12", lines...)).Key)
	require.Equal(t, a.Key, Compute(stack("c", "SIGSEGV", "heap of cart 77 is gone", lines...)).Key)
}

func TestEngineMessages(t *testing.T) {
	t.Parallel()
	for want, messages := range map[string][]string{
		"property x of undefined": {"Cannot read properties of undefined (reading 'x')", "Cannot read property 'x' of undefined",
			`can't access property "x", y is undefined`, "undefined is not an object (evaluating 'y.x')",
			"Cannot set properties of undefined (setting 'x')", "undefined is not an object (evaluating 'a.y.x = 1')"},
		"property x of null": {"Cannot read properties of null (reading 'x')", `can't access property "x", a.b is null`,
			"null is not an object (evaluating 'a.b.x')"},
		"pay is not a function": {"cart.pay is not a function",
			"cart.pay is not a function. (In 'cart.pay()', 'cart.pay' is undefined)", "pay is not a function",
			"(intermediate value).pay is not a function"},
		"cart is not defined": {"Can't find variable: cart", "Property 'cart' doesn't exist", "cart is not defined"},
		"fetch failed":        {"Failed to fetch", "NetworkError when attempting to fetch resource.", "Load failed"},
		"invalid JSON": {"Unexpected token } in JSON at position 17",
			"JSON.parse: unexpected character at line 1 column 1 of the JSON data", "JSON Parse error: Unrecognized token '<'",
			`Unexpected token '<', "<!DOCTYPE "... is not valid JSON`},
	} {
		for _, m := range messages {
			e := Compute(stack("javascript", "Error", "Uncaught Error: "+m)).Explanation
			require.Equal(t, []string{"message " + want}, e.Material, m)
		}
	}
	require.False(t, Compute(stack("javascript", "Error", "the cart is empty")).Explanation.Rules.Has(rule.EngineMessage))
}
