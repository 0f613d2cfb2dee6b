package noise

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/filename"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"
)

// isDartSystemFile reports whether a library is Dart's, Flutter's or a usual
// package. The application's own files are in a package too.
func isDartSystemFile(file string) bool {
	if scan.HasPrefixAny(file, "dart:", "dart-sdk/", "org-dartlang-sdk:") || strings.Contains(filename.Tail(file), "/.pub-cache/") {
		return true
	}
	rest, ok := strings.CutPrefix(file, "package:")
	if !ok {
		rest, ok = strings.CutPrefix(file, "packages/")
	}
	if !ok {
		return false
	}
	name, _, _ := strings.Cut(rest, "/")
	switch name {
	case "flutter", "flutter_test", "flutter_bloc", "bloc", "provider", "riverpod", "flutter_riverpod", "dio", "http",
		"get", "get_it", "rxdart", "mobx", "async", "collection", "stack_trace", "go_router", "auto_route", "sqflite", "hive", "drift",
		"firebase_core", "firebase_messaging", "cloud_firestore", "shared_preferences", "url_launcher", "sentry", "sentry_flutter",
		"graphql", "graphql_flutter", "chopper", "retrofit", "json_annotation", "freezed_annotation", "path_provider", "intl":
		return true
	}
	return false
}

// isElixirLibrary reports whether a module is of Elixir, Erlang or a usual package.
func isElixirLibrary(name string) bool {
	first, _, _ := strings.Cut(name, ".")
	switch first {
	case "Enum", "Stream", "Map", "Keyword", "List", "String", "Kernel", "GenServer", "Supervisor", "Task", "Agent",
		"Process", "File", "IO", "Access", "Code", "Module", "Registry", "Mix", "ExUnit", "IEx", "Logger", "Regex", "Integer", "Float",
		"Phoenix", "Plug", "Ecto", "DBConnection", "Postgrex", "Oban", "Absinthe", "Bandit", "Cowboy", "Jason", "Poison",
		"Tesla", "HTTPoison", "Finch", "Mint", "ThousandIsland", "Broadway", "Swoosh", "Sentry",
		"lists", "maps", "erlang", "gen_server", "gen_statem", "gen_event", "supervisor", "proc_lib", "erl_eval", "ets",
		"file", "timer", "application", "cowboy_handler", "cowboy_stream_h", "cowboy_http", "ranch", "hackney", "elixir",
		"io_lib", "binary", "re", "gen":
		return strings.Contains(name, ".")
	}
	return false
}
