package fingerprint

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/rule"
)

func TestOtherWaysToOneError(t *testing.T) {
	t.Parallel()
	for name, p := range map[string][2][]string{
		"another caller":     {{"pay | cart.py", "show | views.py"}, {"pay | cart.py", "retry | jobs.py", "work | queue.py"}},
		"a decorator":        {{"pay | cart.py", "show | views.py"}, {"pay | cart.py", "wrapper | retry.py", "show | views.py"}},
		"an inlined caller":  {{"pay | cart.py", "sum | cart.py", "show | views.py"}, {"pay | cart.py", "show | views.py"}},
		"a helper that died": {{"assert_valid | checks.py", "pay | cart.py"}, {"check_args | checks.py", "pay | cart.py", "main | app.py"}},
	} {
		a, b := Compute(stack("python", "KeyError", "", p[0]...)), Compute(stack("python", "KeyError", "", p[1]...))
		require.Equal(t, a.Key, b.Key, "%s: %q %q", name, a.Explanation.Material, b.Explanation.Material)
		require.NotEqual(t, a.StackKey, b.StackKey, name)
	}
	// Names without content are read together with what is around them.
	a := Compute(stack("python", "KeyError", "", "<module> | a.py", "load | boot.py"))
	require.NotEqual(t, a.Key, Compute(stack("python", "KeyError", "", "<module> | a.py", "run_tests | boot.py")).Key)
}

func TestNearIsBounded(t *testing.T) {
	t.Parallel()
	r := stack("javascript", "TypeError", "x", "a | m.js", "b | m.js", "c | m.js", "d | m.js", "e | m.js", "f | m.js")
	res := Compute(r)
	kept := 0
	for i, f := range res.Explanation.Frames {
		require.True(t, f.Stack)
		require.Equal(t, i < maxNear, f.Kept)
		if f.Kept {
			kept++
		}
	}
	require.Equal(t, maxNear, kept)
	require.True(t, res.Explanation.Rules.Has(rule.NothingTelling))
	require.Contains(t, res.Explanation.Material, "message x")
}

func TestStackKeyOfGivenKeys(t *testing.T) {
	t.Parallel()
	r := stack("go", "E", "", "shop.Pay", "shop.Run")
	want := Compute(r).StackKey
	r.Fingerprint = make([]byte, 32)
	res := Compute(r)
	require.True(t, res.Given)
	require.Equal(t, want, res.StackKey)
	require.NotEqual(t, want, res.Key)
}

func TestCulpritIsNoHelper(t *testing.T) {
	t.Parallel()
	for want, lines := range map[string][]string{
		"pay (cart.py)":     {"assert_valid | checks.py", "pay | cart.py", "show | views.py"},
		"show (views.py)":   {"<lambda> | /usr/lib/python3/functools.py", "show | views.py"},
		"retry (jobs.py)":   {"<module> | jobs.py", "retry | jobs.py"},
		"assert_ok (a.py)":  {"assert_ok | a.py"},
		"<module> (one.py)": {"<module> | one.py"},
	} {
		require.Equal(t, want, Compute(stack("python", "KeyError", "", lines...)).Culprit)
	}
}

func TestGoClientFrames(t *testing.T) {
	t.Parallel()
	for want, f := range map[string]report.Frame{
		"shop/cart.Cart.Pay":         {Function: "Pay", Library: "shop/cart.(*Cart)", Path: "/a/cart/cart.go"},
		"shop/cart.Pay":              {Function: ")", Library: "shop/cart.Pay(..", Path: "/a/cart/cart.go"},
		"shop/order.Handle":          {Function: "Handle", Library: "shop/order"},
		"shop/cart.Handle":           {Function: "shop/cart.Handle", Library: "shop/cart"},
		"shop/user.Handle":           {Function: "user.Handle", Library: "shop/user.Handle"},
		"order.Handle":               {Function: "Handle", Path: "/srv/shop/order/handle.go"},
		"item.Pay.func":              {Function: "item.Pay.func1", Library: "/usr/bin/shop"},
		"main.Run (cmd/shop/run.go)": {Function: "Run", Library: "main", Path: "/b/cmd/shop/run.go"},
		"main.Run (run.go)":          {Function: "Run", Library: "main", Path: "/c/run.go"},
	} {
		r := &report.Report{Lang: "go", MainThread: "1", Threads: []report.Thread{{ID: "1", Frames: []report.Frame{f}}}}
		require.Equal(t, want, Compute(r).Explanation.Frames[0].Text)
	}
	// The client leaves the frame of the built-in panic without a name.
	r := &report.Report{Lang: "go", MainThread: "1", Threads: []report.Thread{{ID: "1", Frames: []report.Frame{
		{Function: "Stack", Library: "runtime/debug", Path: "/usr/local/go/src/runtime/debug/stack.go"},
		{Function: "func1", Library: "shop/web.recovered", Path: "/a/web/recover.go"},
		{Path: "/usr/local/go/src/runtime/panic.go"},
		{Function: "Pay", Library: "shop/cart", Path: "/a/cart/cart.go"},
	}}}}
	require.Equal(t, []string{"shop/cart.Pay"}, Compute(r).Explanation.Material)
}

func TestAbsoluteAddresses(t *testing.T) {
	t.Parallel()
	named := Compute(stack("c", "", "", " | libapp.so | 0x7f12345678", "shop_pay | libapp.so | 0x7f12349999", " |  | 0x7fff1234"))
	require.Equal(t, []string{"shop_pay"}, named.Explanation.Material)
	require.True(t, named.Explanation.Frames[0].Rules.Has(rule.AbsoluteAddress))
	// Without any name: what stays when the module moves by whole pages.
	a := Compute(stack("c", "SIGSEGV", "", " | libapp.so | 0x7f12345678", " | libapp.so | 0x7f12349abc"))
	b := Compute(stack("c", "SIGSEGV", "", " | libapp.so | 0x7e00001678", " | libapp.so | 0x7e00005abc"))
	require.Equal(t, a.Key, b.Key)
	require.NotEqual(t, a.Key, Compute(stack("c", "SIGSEGV", "", " | libapp.so | 0x7e00001688", " | libapp.so | 0x7e00005abc")).Key)
}

// Where only the system's functions have names, which library called them counts.
func TestLibraryOfCallersWithoutNames(t *testing.T) {
	t.Parallel()
	a := Compute(stack("c", "SIGSEGV", "", "memcpy | libc.so.6", " | /data/app/libgame.so | 0x7f12345678",
		" | libgame.so | 0x7f12349abc", "start_thread | libc.so.6"))
	require.Equal(t, []string{"signal memory-access", "call memcpy", "libgame.so"}, a.Explanation.Material)
	require.Equal(t, a.Key, Compute(stack("c", "SIGSEGV", "", "memcpy | libc.so.6", " | libgame.so | 0x7e00001bcd",
		"start_thread | libc.so.6")).Key)
	require.NotEqual(t, a.Key, Compute(stack("c", "SIGSEGV", "", "memcpy | libc.so.6", " | libads.so | 0x7e00001bcd",
		"start_thread | libc.so.6")).Key)
	// What is no file of a library moves too: code that was compiled at run time.
	b := Compute(stack("c", "SIGSEGV", "", "memcpy | libc.so.6", " | <anonymous:76b5a000> | 0x7e00001bcd"))
	require.Equal(t, []string{"signal memory-access", "memcpy"}, b.Explanation.Material)
}

func TestEndlessRecursionOfEveryPlatform(t *testing.T) {
	t.Parallel()
	cycle := func(n, turn int, head ...string) []string {
		for i := range n {
			head = append(head, []string{"walk | tree.js", "visit | item.js"}[(i+turn)%2])
		}
		return head
	}
	want := Compute(stack("javascript", "RangeError", "Maximum call stack size exceeded", cycle(10, 0)...))
	require.Equal(t, []string{"signal stack-overflow", "visit (item.js)", "walk (tree.js)"}, want.Explanation.Material)
	for _, r := range []*report.Report{
		stack("javascript", "InternalError", "too much recursion", cycle(127, 1)...),
		stack("javascript", "RangeError", "Maximum call stack size exceeded.", cycle(40, 0, "label | item.js", "text | item.js")...),
		stack("javascript", "RangeError", "Maximum call stack size exceeded", append(cycle(300, 1), "boot | main.js")...),
	} {
		require.Equal(t, want.Key, Compute(r).Key, "%q", Compute(r).Explanation.Material)
	}
	// Native code shows a memory fault; a deep stack that only contains a recursion
	// is none.
	native := func(n int, leaf string) []string {
		lines := []string{leaf}
		for range n {
			lines = append(lines, "walk(Node*)")
		}
		return append(lines, "main")
	}
	require.Contains(t, Compute(stack("c++", "SIGSEGV", "", native(5000, "alloc(int)")...)).Explanation.Material, "signal stack-overflow")
	require.Equal(t, []string{"signal memory-access", "print"},
		Compute(stack("c++", "SIGSEGV", "", native(20, "print(int)")...)).Explanation.Material)
}
