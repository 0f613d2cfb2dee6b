package noise

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/filename"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/naming"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"
)

// isJSSystemFile reports whether a script is of an engine, a browser's extension,
// a package, a content network's copy of one, or a bundle that has only packages.
func isJSSystemFile(file string) bool {
	if scan.HasPrefixAny(file, "node:", "internal/", "native ", "chrome-extension:", "moz-extension:", "safari-extension:",
		"safari-web-extension:", "chrome:", "resource:", "extensions::", "webpack/bootstrap", "webpack/runtime",
		"electron/js2c/", "ext:", "bun:", "deno:",
		"self-hosted", "<anonymous>", "index ") {
		return true
	}
	switch file {
	case "[native code]", "native code", "native", "InternalBytecode.js", "evalmachine.<anonymous>":
		return true
	}
	tail := filename.Tail(file)
	if scan.ContainsAny(tail, "node_modules/", `node_modules\`, "webpack/bootstrap", "webpack/runtime/", "/electron/js2c/",
		"/@vite/", "/@react-refresh", "/bower_components/", "/jspm_packages/", "/.yarn/", "~/react",
		"//unpkg.com/", "//cdn.jsdelivr.net/", "//cdnjs.cloudflare.com/", "//ajax.googleapis.com/", "//code.jquery.com/",
		"//esm.sh/", "//cdn.skypack.dev/", "//www.googletagmanager.com/", "//www.google-analytics.com/", "//connect.facebook.net/",
		"//browser.sentry-cdn.com/") {
		return true
	}
	if strings.HasPrefix(tail, "src/") || strings.Contains(tail, "/src/") {
		return false // somebody's own source, whatever its name
	}
	_, base, _ := filename.Split(tail)
	if !strings.ContainsAny(file, `/\`) && (isOldNodeFile(base) || strings.HasSuffix(base, ".mjs")) {
		return true // a package's source map has no folder; a program's modules have one
	}
	name, _, _ := strings.Cut(base, ".")
	name = strings.ToLower(name)
	if version := strings.LastIndexByte(name, '-'); version > 0 && scan.AllDigits(name[version+1:]) {
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

// IsEngineFrame reports whether a frame is of a function that the engine itself
// has: one browser shows it, another does not.
func IsEngineFrame(name, file string) bool {
	return scan.IsOneOf(file, "<anonymous>", "[native code]", "native code", "native", "self-hosted") ||
		strings.HasPrefix(file, "self-hosted:") || naming.IsJSBuiltin(name) || name == "Promise" && file == ""
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

// isJSSystemName reports whether a function is of an engine, a compiler's runtime
// or a framework that is bundled with the application.
func isJSSystemName(name string) bool {
	if naming.IsJSBuiltin(name) {
		return true
	}
	switch name {
	case "Promise", "processTicksAndRejections", "__webpack_require__", "webpackJsonpCallback", "__webpack_exec__",
		"checkDeferredModules", "promiseReactionJob",
		// TypeScript, Babel, regenerator.
		"__awaiter", "__generator", "__decorate", "__spreadArray", "__extends", "fulfilled", "rejected", "asyncGeneratorStep",
		"_asyncToGenerator", "_next", "_throw", "_callSuper", "_inherits", "_classCallCheck", "_createClass",
		"_construct", "_invoke", "__esm", "__commonJS", "__toESM", "__require", "_wrapNativeSuper", "_possibleConstructorReturn",
		// React and its renderers.
		"renderWithHooks", "beginWork", "beginWork$1", "completeWork", "performUnitOfWork", "workLoopSync", "workLoopConcurrent",
		"renderRootSync", "renderRootConcurrent", "performSyncWorkOnRoot", "performConcurrentWorkOnRoot",
		"performWorkUntilDeadline", "flushSyncCallbacks", "flushSyncCallbackQueue", "scheduleUpdateOnFiber",
		"invokeGuardedCallback", "invokeGuardedCallbackDev", "invokeGuardedCallbackImpl", "invokeGuardedCallbackAndCatchFirstError",
		"invokeGuardedCallbackProd", "callCallback", "commitRoot", "commitRootImpl", "commitHookEffectListMount",
		"commitHookEffectListUnmount", "commitPassiveMountEffects", "flushPassiveEffects", "flushPassiveEffectsImpl",
		"executeDispatch", "executeDispatchesInOrder", "executeDispatchesAndRelease", "processDispatchQueue",
		"processDispatchQueueItemsInOrder", "dispatchEventsForPlugins", "batchedEventUpdates", "dispatchDiscreteEvent",
		"dispatchEventForPluginEventSystem", "attemptToDispatchEvent", "updateFunctionComponent", "updateClassComponent",
		"finishClassComponent", "mountIndeterminateComponent", "runWithFiberInDEV", "react-stack-bottom-frame", "react_stack_bottom_frame",
		"mountMemo", "updateMemo", "mountState", "updateReducer", "recoverFromConcurrentError", "performWorkOnRoot",
		"unstable_runWithPriority", "reconcileChildren",
		// React Native.
		"__callFunction", "__guard", "callFunctionReturnFlushedQueue", "invokeCallbackAndReturnFlushedQueue", "__invokeCallback",
		"flushedQueue", "__flushedQueue", "__callImmediates", "__callReactNativeMicrotasks", "_callReactNativeMicrotasksPass",
		"callReactNativeMicrotasks", "_callImmediatesPass", "_callTimer", "callTimers", "loadModuleImplementation",
		"guardedLoadModule", "metroRequire", "metroImportDefault",
		// Vue, Angular, zone.js, others.
		"callWithErrorHandling", "callWithAsyncErrorHandling", "invokeWithErrorHandling", "invokeWithErrorHandlingAndHooks",
		"flushCallbacks", "flushSchedulerQueue", "renderComponentRoot", "componentUpdateFn", "setupRenderEffect",
		"drainMicroTaskQueue", "onInvokeTask", "globalZoneAwareCallback", "executeTemplate", "detectChangesInternal",
		"wrapListenerIn_markDirtyAndPreventDefault", "executeListenerWithErrorHandling",
		"ZoneDelegate.invoke", "ZoneDelegate.invokeTask", "Zone.run", "Zone.runTask", "Zone.runGuarded", "ZoneTask.invoke",
		"ZoneTask.invokeTask", "NgZone.run", "__tryOrUnsub", "sentryWrapped":
		return true
	}
	return false
}
