package fingerprint

import "strings"

// isJSSystemFile reports whether a script is of an engine, a browser's extension,
// a package, a content network's copy of one, or a bundle that has only packages.
func isJSSystemFile(file string) bool {
	if hasPrefixAny(file, "node:", "internal/", "native ", "chrome-extension:", "moz-extension:", "safari-extension:",
		"safari-web-extension:", "chrome:", "resource:", "extensions::", "webpack/bootstrap", "webpack/runtime",
		"electron/js2c/", "ext:", "bun:", "deno:",
		"self-hosted", "<anonymous>", "index ") {
		return true
	}
	switch file {
	case "[native code]", "native code", "native", "InternalBytecode.js", "evalmachine.<anonymous>":
		return true
	}
	tail := pathTail(file)
	if containsAny(tail, "node_modules/", `node_modules\`, "webpack/bootstrap", "webpack/runtime/", "/electron/js2c/",
		"/@vite/", "/@react-refresh", "/bower_components/", "/jspm_packages/", "/.yarn/", "~/react",
		"//unpkg.com/", "//cdn.jsdelivr.net/", "//cdnjs.cloudflare.com/", "//ajax.googleapis.com/", "//code.jquery.com/",
		"//esm.sh/", "//cdn.skypack.dev/", "//www.googletagmanager.com/", "//www.google-analytics.com/", "//connect.facebook.net/",
		"//browser.sentry-cdn.com/") {
		return true
	}
	if strings.HasPrefix(tail, "src/") || strings.Contains(tail, "/src/") {
		return false // somebody's own source, whatever its name
	}
	_, base, _ := splitFile(tail)
	if !strings.ContainsAny(file, `/\`) && (isOldNodeFile(base) || strings.HasSuffix(base, ".mjs")) {
		return true // a package's source map has no folder; a program's modules have one
	}
	name, _, _ := strings.Cut(base, ".")
	name = strings.ToLower(name)
	if version := strings.LastIndexByte(name, '-'); version > 0 && allDigits(name[version+1:]) {
		name = name[:version] // jquery-3.6.0.min.js
	}
	switch name {
	case "vendor", "vendors", "vendors~main", "chunk-vendors", "vendor-react", "react-vendor", "polyfills", "polyfill",
		"webpack-runtime", "react-dom", "react-dom-client", "react-dom-server", "react-jsx-runtime", "vue",
		"vue-router", "vuex", "jquery", "jquery-ui", "angular", "lodash", "underscore", "backbone", "ember", "d3",
		"axios", "core-js", "regenerator-runtime", "rxjs", "preact", "svelte-internal", "gtm", "gtag", "tslib":
		return strings.HasSuffix(base, "js")
	case "framework":
		return strings.Contains(tail, "/_next/")
	}
	return false
}

// isEngineFrame reports whether a frame is of a function that the engine itself
// has: one browser shows it, another does not.
func isEngineFrame(name, file string) bool {
	return isOneOf(file, "<anonymous>", "[native code]", "native code", "native", "self-hosted") ||
		strings.HasPrefix(file, "self-hosted:") || isJSBuiltin(name) || name == "Promise" && file == ""
}

// isOldNodeFile reports whether a file without a folder is one of Node's own, as
// its versions before 16 write them.
func isOldNodeFile(base string) bool {
	switch base {
	case "module.js", "events.js", "net.js", "fs.js", "timers.js", "vm.js", "dns.js", "http.js", "https.js", "assert.js",
		"buffer.js", "child_process.js", "domain.js", "util.js", "querystring.js", "zlib.js", "crypto.js",
		"_http_client.js", "_http_server.js", "_http_common.js", "_http_incoming.js", "_http_outgoing.js", "_stream_readable.js",
		"_stream_writable.js", "_stream_transform.js", "_stream_duplex.js", "_tls_wrap.js", "_tls_common.js", "bootstrap_node.js", "node.js":
		return true
	}
	return false
}
