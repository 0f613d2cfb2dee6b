package fingerprint

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/filename"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/noise"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"
)

// Libraries that a program of C or C++ compiles into its own module have no file and no package
// that says so: their namespaces and the folders in which projects keep the sources of others do.
// Unlike a system's frames they count where nothing else does, for a project can be one of them.

// isVendoredName reports whether a native function is of a library that programs have in
// themselves, by its namespace.
func isVendoredName(name string) bool {
	name = strings.TrimPrefix(name, "<")
	i := strings.Index(name, "::")
	if i <= 0 {
		return false
	}
	switch name[:i] {
	case "boost", "absl", "folly", "fmt", "spdlog", "nlohmann", "rapidjson", "Eigen", "tbb", "google", "gtest", "testing",
		"grpc", "grpc_core", "asio", "cereal", "flatbuffers", "capnp", "kj", "re2", "leveldb", "rocksdb", "snappy",
		"simdjson", "pugi", "tinyxml2", "YAML",
		"Json", "cv", "Poco", "QtPrivate", "glm", "entt", "sol", "pybind11", "Catch", "doctest", "range", "ranges",
		"mpark", "phmap", "robin_hood", "tsl", "moodycamel", "date", "cxxopts", "CLI", "httplib", "crow", "websocketpp",
		"zmq", "thrust", "cub", "wangle", "proxygen", "fizz", "quic", "thrift", "mimalloc",
		"serde", "serde_json", "tokio", "hyper", "rayon", "rayon_core", "futures", "futures_util", "futures_core",
		"crossbeam", "crossbeam_channel", "parking_lot", "actix_web", "actix_rt", "axum", "tower", "tower_service",
		"reqwest", "hashbrown", "indexmap", "smallvec", "bytes", "regex", "clap", "tracing", "log", "anyhow", "wasm_bindgen", "js_sys", "web_sys":
		return true
	}
	return false
}

// isVendoredPath reports whether a source file is in a folder for the sources of others.
func isVendoredPath(file string) bool {
	file = filename.Tail(file)
	if strings.IndexByte(file, '\\') >= 0 {
		file = strings.ReplaceAll(file, `\`, "/")
	}
	return scan.ContainsAny("/"+file, "/third_party/", "/third-party/", "/thirdparty/", "/3rdparty/", "/3rd_party/",
		"/ThirdParty/", "/vendored/", "/_deps/", "/vcpkg_installed/", "/vcpkg/", "/.conan/", "/.conan2/", "/bazel-out/",
		"/external/", "/externals/", "/extern/", "/subprojects/",
		"/boost/", "/absl/", "/folly/", "/Pods/", "/Carthage/", "/SourcePackages/checkouts/")
}

// isLibrary reports whether a frame is of a library that is part of the program: a known one, or
// one that the crash project names.
func (a *analysis) isLibrary(s *frameState) bool {
	if a.libraries.has(s.text, s.raw.Path, s.raw.Library) {
		return true
	}
	return s.family.IsNative() && (isVendoredName(s.text) || s.raw.Path != "" && isVendoredPath(s.raw.Path))
}

// isDispatcher reports whether a library's function only calls what it was given: a function
// object, a bound call, the loop of a thread. It never says where an error is.
func isDispatcher(name string) bool {
	last := name[strings.LastIndexByte(name, ':')+1:]
	switch last {
	case "operator()", "invoke", "Invoke", "__invoke", "invoke_r", "call", "Call", "apply", "Apply", "run", "Run",
		"RunOnce", "dispatch", "Dispatch", "eval", "execute", "Execute", "do_run", "run_one", "do_run_one", "do_complete",
		"complete", "thread_proxy", "callInternal", "callSmall", "callBig", "InvokeObject", "LocalInvoker", "RemoteInvoker", "invoke_impl":
		return true
	}
	return scan.HasPrefixAny(name, "boost::detail::function::", "boost::_bi::", "boost::_mfi::", "boost::detail::thread_data",
		"boost::bind", "folly::detail::function::", "absl::internal_any_invocable::", "absl::functional_internal::",
		"QtPrivate::", "testing::internal::Handle")
}

// promoteLibraries lets the frames of libraries count as the application's where it has no other
// frame that says where the error is: main, a test or a fuzzer calls a library then, which is what
// is built. What only passes a call on stays a library's.
func (a *analysis) promoteLibraries() {
	libraries := false
	for _, i := range a.order {
		s := &a.states[i]
		libraries = libraries || s.library && !isDispatcher(s.text)
		if !s.system && !noise.IsErrorFrame(s.family, s.text) && !noise.IsThreadStart(s.family, s.text) &&
			!isHelperFrame(s) && isTellingFrame(s) {
			return
		}
	}
	if !libraries {
		return
	}
	for _, i := range a.order {
		if s := &a.states[i]; s.library && !isDispatcher(s.text) {
			s.system = false
		}
	}
}
