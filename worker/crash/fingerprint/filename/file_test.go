package filename

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFileNames(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"src/cart.js":                                                               "cart.js",
		"https://x.example/main.3f9a1c22.js?v=7":                                    "main.js",
		"https://x.example/index-DfG7h12X.js":                                       "index.js",
		"https://x.example/assets/index-B-x_3kLz.js":                                "assets/index.js",
		"https://x.example/assets/Cart-Cq_-9aZb.js":                                 "Cart.js",
		"https://x.example/assets/cart-BQJZ3KXA.js":                                 "cart.js",
		"https://x.example/assets/shop-cartItem.js":                                 "shop-cartItem.js",
		"https://x.example/assets/shop-list_all.js":                                 "shop-list_all.js",
		"https://x.example/shop-checkout.js":                                        "shop-checkout.js",
		"https://x.example/app.myModule.js":                                         "app.myModule.js",
		"https://x.example/jquery-3.6.0.min.js":                                     "jquery-3.6.0.js",
		"https://x.example/static/js/2.3f9a1c22.chunk.js":                           "chunk.js",
		"https://x.example/static/js/main.3f9a1c22.chunk.js":                        "main.js",
		"https://x.example/_next/static/chunks/pages/cart-0123456789abcd.js":        "cart.js",
		"https://x.example/_next/static/chunks/app/cart/page-3f9a1c22b1.js":         "cart/page.js",
		"https://x.example/_next/static/chunks/117-3f9a1c22b1.js":                   "chunk.js",
		"https://x.example/main-es2015.3f9a1c22b1.js":                               "main.js",
		"https://x.example/chunk-2d0a4b5c.3f9a1c22.js":                              "chunk.js",
		"https://x.example/_nuxt/CpOvQ8-x.js":                                       "chunk.js",
		"/srv/app/src/index.ts":                                                     "index.js",
		"/srv/app/dist/index.js":                                                    "index.js",
		"node:net":                                                                  "net.js",
		"node:internal/process/task_queues":                                         "task_queues.js",
		"https://x.example/cart/4711":                                               inlineScript,
		"https://x.example/":                                                        inlineScript,
		"https://x.example/cart.html":                                               "cart.html",
		"blob:https://x.example/0f8fad5b-d9cb-469f-a165-70867728950e":               "blob",
		"webpack-internal:///./src/cart.js":                                         "cart.js",
		"webpack://shop/./src/Cart.vue?3f9a":                                        "Cart.vue",
		"app:///index.android.bundle":                                               "main.bundle",
		"file:///data/user/0/com.shop/files/index.android.bundle":                   "main.bundle",
		"http://localhost:8081/index.bundle//&platform=ios&dev=true":                "main.bundle",
		"address at index.android.bundle:1:2345":                                    "main.bundle",
		"https://x.example/app.js line 5 > eval":                                    "app.js",
		"eval at pay (https://x.example/app.js:5:3), <anonymous>":                   "app.js",
		"http://localhost:5173/src/cart.ts?t=1699999999":                            "cart.js",
		`C:\shop\cart.py`:                                                           "cart.py",
		"/tmp/ipykernel_4711/1234567.py":                                            "cell.py",
		"<ipython-input-12-3f9a1c22>":                                               "<ipython-input>",
		"/srv/r1/shop/views.py":                                                     "shop/views.py",
		"/srv/storage/framework/views/0123456789abcdef0123456789abcdef01234567.php": "compiled.php",
	} {
		name, _ := Normalize(in)
		require.Equal(t, want, name, in)
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"main.3f9a1c.js":                    "main.js",
		"https://x.example/a/main.js?v=1#x": "main.js",
		"main.3f9a1c22.chunk.js":            "main.js",
		"chunk-2d0a4b5c.js":                 "chunk.js",
		"index-DfG7h12X.js":                 "index.js",
		"facade.js":                         "facade.js",
		"MyModule.js":                       "MyModule.js",
		"jquery.min.js":                     "jquery.js",
		`C:\app\cart.py`:                    "cart.py",
		"src/checkout/index.js":             "checkout/index.js",
		"shop/__init__.py":                  "shop/__init__.py",
		"webpack:///./src/cart.ts":          "cart.js",
		"/a/0123456789abcdef0123/index.js":  "index.js",
		"":                                  "",
	} {
		got, _ := Normalize(in)
		require.Equal(t, want, got, "%q", in)
	}
}

func FuzzFile(f *testing.F) {
	f.Add("https://x.example/a/main.3f9a1c22.chunk.js?v=1#x")
	f.Add("/var/db/x.sqlite")
	f.Add(`C:\Users\bob\AppData\Local\Shop\app.exe`)
	f.Fuzz(func(_ *testing.T, s string) {
		_ = dropFileHash(s)
		_, _ = Normalize(s)
	})
}
