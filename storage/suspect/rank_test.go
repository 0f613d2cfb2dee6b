package suspect

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/distribution/buildcommit"
)

// shared is how much the best place of a frame has in common with a path.
func shared(f Frame, path string) (most int) {
	for _, p := range places(&f) {
		most = max(most, p.shared(segments(path)))
	}
	return most
}

func TestPathsOfFrames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, function, path string
		want                 int
	}{
		{"/builds/x/src/a/b.kt", "", "src/a/b.kt", 3},
		{"src/a/b.kt", "", "app/src/a/b.kt", 3},
		{"./src/../src/a/b.kt", "", "src/a/b.kt", 3},
		{"/builds/x/src/a/b.kt", "", "src/a/ab.kt", 0},
		{"/builds/x/src/a/ab.kt", "", "a/b.kt", 0},
		{"/builds/x/src/aa/b.kt", "", "a/b.kt", 0},
		{"/builds/lib2/src/main.c", "", "lib1/src/main.c", 0},
		{"/builds/x/Src/a/b.kt", "", "src/a/b.kt", 0},
		{`C:\agent\Shop\src\cart.cpp`, "", "Shop/src/Cart.cpp", 3},
		{"main.c", "", "src/main.c", 1},
		{"https://shop.example.com/static/js/cart.js?v=3#x", "", "static/js/cart.js", 3},
		{"https://shop.example.com/cart.js", "", "shop.example.com/cart.js", 1},
		{"webpack://shop/./src/cart.ts", "", "web/src/cart.ts", 2},
		{"webpack:///src/cart.ts", "", "web/src/cart.ts", 2},
		{"package:shop/src/cart.dart", "", "lib/src/cart.dart", 3},
		{"github.com/acme/shop/cart/pay.go", "", "cart/pay.go", 2},
		{"Cart.java", "com.example.shop.Cart.pay", "app/src/main/java/com/example/shop/Cart.java", 4},
		{"Cart.java", "com.example.shop.Cart$Line.<init>", "com/example/shop/Cart.java", 4},
		{"Cart.java", "app//com.example.shop.Cart.pay(int)", "com/example/shop/Cart.java", 4},
		{"Cart.java", "com.example.shop.Cart.pay", "com/other/shop/Cart.java", 0},
		{"CartUtil.kt", "com.example.shop.CartUtilKt.pay", "com/example/shop/CartUtil.kt", 4},
		{"Cart.kt", "com.example.shop.Cart.pay", "app/src/main/kotlin/cart/Cart.kt", 1},
		{"SourceFile", "com.example.shop.Cart.pay", "src/com/example/shop/Cart.kt", 4},
		{"", "com.example.shop.Cart.pay", "src/com/example/shop/Cart.java", 4},
		{"", "com.example.shop.Cart.pay", "src/com/example/shop/CartTest.java", 0},
		{"", "pay", "src/pay.c", 0},
		{"", "", "", 0},
		{"/", "..", "/", 0},
		{"../../..", "com..Cart.pay", "Cart.java", 0},
	} {
		require.Equal(t, c.want, shared(Frame{File: c.file, Function: c.function}, c.path), "%s (%s) and %s", c.file, c.function, c.path)
	}
	require.Equal(t, 2, shared(Frame{Function: "pay", Library: "/srv/shop/cart/pay.py"}, "cart/pay.py"), "a script is its library")
	require.Zero(t, shared(Frame{Function: "pay", File: "/srv/other.py", Library: "/srv/shop/cart/pay.py"}, "cart/pay.py"))
	require.Zero(t, shared(Frame{Function: "pay", Library: "/usr/lib/libpay.so"}, "src/libpay.c"))
	require.Equal(t, 2, shared(Frame{File: strings.Repeat("a/", 100_000) + "b/c.go"}, "b/c.go"), "of a long path the end counts")
}

var yes, no = true, false

func commit(id string, paths ...string) Ranked {
	return Ranked{Commit: buildcommit.Commit{ID: id, Paths: paths}}
}

// ranked are the ids of commits with what they are suspected for.
func ranked(list []Ranked) (texts []string) {
	for _, c := range list {
		text := c.ID
		for _, r := range c.Reasons {
			text += " " + string(r.What)
		}
		texts = append(texts, text)
	}
	return texts
}

func TestRanking(t *testing.T) {
	t.Parallel()
	frames := []Frame{
		{Function: "malloc", File: "/usr/src/libc/malloc.c", Own: &no},
		{Function: "pay", File: "/builds/7/shop/src/cart/pay.c", Own: &yes},
		{Function: "checkout", File: "/builds/7/shop/src/ui/checkout.c", Own: &yes},
		{Function: "main", File: "main.c", Own: &yes},
	}
	suspects, others := Rank([]Ranked{
		commit("docs", "README.md", "src/cart/pay.c.md"),
		commit("name", "tools/main.c"),
		commit("library", "libc/malloc.c"),
		commit("folder", "src/cart/total.c"),
		commit("own", "src/ui/checkout.c"),
		commit("late", "src/cart/pay.c", "x"),
		commit("both", "src/cart/pay.c", "src/ui/checkout.c"),
		commit("early", "src/cart/pay.c"),
		commit("none"),
	}, frames)
	require.Equal(t, []string{
		"both crashing_frame_file own_frame_file recency",
		"late crashing_frame_file recency",
		"early crashing_frame_file recency",
		"own own_frame_file recency",
		"docs folder recency", // pay.c.md is another file beside pay.c
		"folder folder recency",
		"name file_name recency",
	}, ranked(suspects))
	require.Equal(t, []string{"library", "none"}, ranked(others))
	require.Equal(t, []string{"src/cart/pay.c"}, suspects[0].Reasons[0].Paths)
	require.Equal(t, "pay", suspects[0].Reasons[0].Function)
	for _, s := range suspects {
		sum := 0
		for _, r := range s.Reasons {
			sum += r.Points
		}
		require.Equal(t, sum, s.Score)
		require.LessOrEqual(t, s.Score, 100)
	}

	// All reasons at once come to more.
	suspects, _ = Rank([]Ranked{commit("all", "src/cart/pay.c", "src/cart/total.c", "src/ui/checkout.c", "tools/main.c")}, frames)
	require.Equal(t, []string{"all crashing_frame_file own_frame_file folder file_name recency"}, ranked(suspects))
	require.Equal(t, 100, suspects[0].Score)

	// Recency is no reason alone, and of frames that nobody knows all count.
	suspects, others = Rank([]Ranked{commit("a", "x.c"), commit("b", "y/z.c")}, frames)
	require.Empty(t, suspects)
	require.Len(t, others, 2)
	suspects, _ = Rank([]Ranked{commit("a", "src/cart/pay.c")}, []Frame{{File: "/b/src/cart/pay.c"}})
	require.Len(t, suspects, 1)
	for _, nothing := range [][]Frame{nil, {{}}, {{Function: "f", File: "a/b.c", Own: &no}}} {
		suspects, others = Rank([]Ranked{commit("a", "a/b.c")}, nothing)
		require.Empty(t, suspects)
		require.Len(t, others, 1)
	}
	suspects, others = Rank(nil, frames)
	require.Empty(t, suspects)
	require.Empty(t, others)
}

// Of several files that a frame's path may be, those count that share most of it.
func TestNearestFileOfSeveral(t *testing.T) {
	t.Parallel()
	suspects, others := Rank([]Ranked{commit("root", "src/main.rs"), commit("own", "crates/pay/src/main.rs")},
		[]Frame{{Function: "main", File: "/builds/x/crates/pay/src/main.rs", Own: &yes}})
	require.Equal(t, []string{"own crashing_frame_file recency"}, ranked(suspects)[:1])
	for _, c := range append(suspects[1:], others...) {
		for _, r := range c.Reasons {
			require.NotEqual(t, CrashingFile, r.What)
		}
	}
	suspects, _ = Rank([]Ranked{commit("a", "a/src/main.rs"), commit("b", "b/src/main.rs")}, []Frame{{File: "src/main.rs", Own: &yes}})
	require.Len(t, suspects, 2, "nobody knows which of the two")
}

func FuzzRank(f *testing.F) {
	f.Add("/builds/x/src/a.kt", "com.example.A.b", "src/a.kt")
	f.Add(`C:\a\..\b.c`, "a(b) <c>", "webpack:///../b.c")
	f.Add("package:a/b.dart", "A.", "lib/b.dart")
	f.Fuzz(func(t *testing.T, file, function, path string) {
		suspects, others := Rank([]Ranked{commit("a", path), commit("b", path, file)},
			[]Frame{{Function: function, File: file}, {Function: file, File: path}})
		if len(suspects)+len(others) != 2 {
			t.Fatal("a commit is lost")
		}
		for _, s := range suspects {
			if s.Score < 1 || s.Score > 100 || len(s.Reasons) == 0 {
				t.Fatalf("%+v", s)
			}
		}
	})
}
