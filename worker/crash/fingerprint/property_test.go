package fingerprint

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/report"
)

// clone returns a report whose threads can be changed without changing r.
func clone(r *report.Report) *report.Report {
	c := *r
	c.Threads = make([]report.Thread, len(r.Threads))
	for i, t := range r.Threads {
		t.Frames = append([]report.Frame(nil), t.Frames...)
		c.Threads[i] = t
	}
	return &c
}

// TestWhatKeysDoNotDependOn changes what must not matter in random reports.
func TestWhatKeysDoNotDependOn(t *testing.T) {
	t.Parallel()
	langs := map[string][]string{
		"c++": {"shop::pay(int)", "shop::Cart::add", "memcpy", "abort", "die", "main", "std::vector<int>::at",
			"shop::run()::{lambda()#1}::operator()"},
		"java":       {"com.shop.Cart.pay", "com.shop.Cart.lambda$pay$0", "java.util.ArrayList.get", "a.b.c", "com.shop.Main.main"},
		"javascript": {"pay", "t", "<anonymous>", "Cart.add", "async run", ""},
		"python":     {"pay", "<module>", "wrapper", "check_args", "<listcomp>"},
		"go":         {"shop/cart.(*Cart).Pay", "main.main", "net/http.HandlerFunc.ServeHTTP", "shop/cart.Run.func1"},
	}
	files := map[string][]string{"javascript": {"src/cart.js", "node:net", "m.js"}, "python": {"shop/cart.py", "shop/views.py"},
		"go": {"/a/cart.go"}}
	random := rand.New(rand.NewPCG(1, 2))
	for lang, names := range langs {
		for range 400 {
			r := &report.Report{Lang: lang, MainThread: "7", Classifiers: []string{"E"},
				Attributes: []report.Attribute{{Key: "error.message", Value: "cart 12 is empty"}}}
			frames := func(n int) []report.Frame {
				list := make([]report.Frame, n)
				for i := range list {
					list[i] = report.Frame{Function: names[random.IntN(len(names))], Library: "libshop.so"}
					if paths := files[lang]; paths != nil {
						list[i].Path = paths[random.IntN(len(paths))]
					}
				}
				return list
			}
			thread := report.Thread{ID: "7", Fault: true, Frames: frames(3 + random.IntN(10))}
			r.Threads = []report.Thread{thread}
			want := Compute(r)

			changed := clone(r)
			for i := range changed.Threads[0].Frames {
				f := &changed.Threads[0].Frames[i]
				f.Line, f.Column, f.SourceCode = random.Int64N(1000), random.Int64N(100), fmt.Sprint(random.IntN(9))
				f.Address = fmt.Sprintf("0x7f%010x", random.Uint64N(1<<40))
			}
			if lang == "c++" || lang == "java" || lang == "go" {
				require.Equal(t, want.Key, Compute(changed).Key, "addresses and lines: %q", want.Explanation.Material)
			}
			for i := range changed.Threads[0].Frames {
				changed.Threads[0].Frames[i].Address = ""
			}
			require.Equal(t, want.Key, Compute(changed).Key, "lines: %q", want.Explanation.Material)
			require.Equal(t, want.StackKey, Compute(changed).StackKey)

			changed = clone(r)
			others := []report.Thread{{ID: "1", Frames: []report.Frame{{Function: "idle"}}}, {ID: "2", Frames: thread.Frames[:1]}}
			changed.Threads = append(others, changed.Threads...)
			require.Equal(t, want.Key, Compute(changed).Key, "other threads")

			// What is beyond a telling frame is another way to the same error.
			place := report.Frame{Function: map[string]string{"java": "com.shop.Order.ship", "c++": "shop::Order::ship(int)",
				"go": "shop/order.Ship"}[lang], Path: "src/order" + extension(lang)}
			if place.Function == "" {
				place.Function = "ship"
			}
			near := append(thread.Frames[:random.IntN(3):3], place)
			one, other := clone(r), clone(r)
			one.Threads[0].Frames = append(near[:len(near):len(near)], frames(random.IntN(6))...)
			other.Threads[0].Frames = append(near[:len(near):len(near)], frames(random.IntN(6))...)
			a, b := Compute(one), Compute(other)
			require.Equal(t, a.Key, b.Key, "another caller: %s\n%s", a.Explanation.AppendJSON(nil), b.Explanation.AppendJSON(nil))
		}
	}
}

func extension(lang string) string {
	switch lang {
	case "javascript":
		return ".js"
	case "python":
		return ".py"
	case "go":
		return ".go"
	case "java":
		return ".java"
	}
	return ""
}

// FuzzCompute checks that any report has a key of bounded material, and the same
// key twice.
func FuzzCompute(f *testing.F) {
	f.Add("c++", "SIGSEGV", "Assertion `x' failed", "shop::pay(int)", "libshop.so", "0x7f00", uint16(3))
	f.Add("go", "*errors.errorString", "a: b", ")", "main.pay(..", "", uint16(1))
	f.Add("javascript", "RangeError", "too much recursion", "walk", "a.js", "", uint16(300))
	f.Add("", "", "thread 'main' panicked at 'x', a.rs:1", "", "", "1", uint16(2))
	f.Add("java", "RuntimeException", "x\nCaused by: a.BException: c", "a.b.c", "", "", uint16(2))
	f.Fuzz(func(t *testing.T, lang, class, message, function, library, address string, depth uint16) {
		r := stack(lang, class, message)
		for i := range int(depth % 1000) {
			fr := report.Frame{Function: function, Library: library, Address: address}
			if i%3 == 1 {
				fr = report.Frame{Function: library, Path: function}
			}
			r.Threads[0].Frames = append(r.Threads[0].Frames, fr)
		}
		res := Compute(r)
		require.Equal(t, res, Compute(r))
		require.NotEmpty(t, res.Title)
		require.LessOrEqual(t, len(res.Explanation.Material), maxKept+6)
		kept := 0
		for _, fr := range res.Explanation.Frames {
			if fr.Kept {
				kept++
				require.True(t, fr.Stack)
			}
		}
		require.LessOrEqual(t, kept, maxKept)
	})
}
