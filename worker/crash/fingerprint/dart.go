package fingerprint

import (
	"strconv"
	"strings"
)

// dart normalizes names of Dart's virtual machine and of its compilers to
// JavaScript.
//
//	_CartState.pay.<anonymous closure>.<anonymous closure>  ->  _CartState.pay.lambda
//	new Cart.fromJson                                       ->  Cart.fromJson
func (n *namer) dart(s string) string {
	if text, ok := sectionOffset(s); ok {
		return text
	}
	if rest, ok := strings.CutPrefix(s, "new "); ok {
		s = rest
		n.noteRule(RuleJSReceiver)
	}
	if i := strings.IndexByte(s, '('); i > 0 {
		s = strings.TrimSpace(s[:i])
		n.noteRule(RuleArguments)
	}
	for _, closure := range [...]string{"<anonymous closure>", "<fn>", "<closure>"} {
		if i := strings.Index(s, closure); i >= 0 {
			s = s[:i] + "lambda"
			n.noteRule(RuleLambda)
		}
	}
	s = n.dartPrivate(s)
	if i := strings.IndexByte(s, '<'); i > 0 && strings.HasSuffix(s, ">") {
		s = s[:i]
		n.noteRule(RuleTemplateArguments)
	}
	return s
}

// dartPrivate removes the number of the library that a private name belongs to.
//
//	_Parser@1026248._read@1026248  ->  _Parser._read
func (n *namer) dartPrivate(s string) string {
	if strings.IndexByte(s, '@') <= 0 {
		return s
	}
	n.out = n.out[:0]
	for i := 0; i < len(s); {
		if s[i] == '@' && i > 0 {
			if digits := countDigits(s[i+1:]); digits > 0 {
				n.noteRule(RuleLocalScope)
				i += 1 + digits
				continue
			}
		}
		n.out = append(n.out, s[i])
		i++
	}
	return n.result(s)
}

// isDartSystemFile reports whether a library is Dart's, Flutter's or a usual
// package. The application's own files are in a package too.
func isDartSystemFile(file string) bool {
	if hasPrefixAny(file, "dart:", "dart-sdk/", "org-dartlang-sdk:") || strings.Contains(pathTail(file), "/.pub-cache/") {
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

// elixir normalizes names of the Erlang virtual machine.
//
//	anonymous fn/1 in Shop.Cart.pay/2, Shop.Cart."-pay/2-fun-0-"/1  ->  Shop.Cart.pay.lambda
//	:lists.map/2                                                    ->  lists.map
func (n *namer) elixir(s string) string {
	if strings.HasPrefix(s, "(") {
		// (shop 0.1.0) lib/shop/cart.ex:12: Shop.Cart.pay/2
		s = strings.TrimSpace(s[bracketEnd(s, 0):])
		if i := strings.LastIndex(s, ": "); i > 0 {
			s = s[i+2:]
		}
		n.noteRule(RuleModulePrefix)
	}
	lambda := false
	for range 4 {
		i := strings.Index(s, " in ")
		if i < 0 || !strings.HasPrefix(s, "anonymous fn") && !strings.HasPrefix(s, "fn ") {
			break
		}
		s, lambda = s[i+len(" in "):], true
		n.noteRule(RuleLambda)
	}
	if module, rest, ok := strings.Cut(s, `"-`); ok {
		if function, tail, ok := strings.Cut(rest, "/"); ok && function != "" {
			s, lambda = module+function, true
			if digits := countDigits(tail); digits > 0 {
				s += "/" + tail[:digits]
			}
			n.noteRule(RuleLambda)
		}
	}
	if i := strings.IndexByte(s, '('); i > 0 && strings.HasSuffix(s, ")") {
		// Where the arguments did not fit, they are written instead of their number.
		s = s[:i] + "/" + strconv.Itoa(countArguments(s[i+1:len(s)-1]))
		n.noteRule(RuleArguments)
	} else if i > 0 {
		s = s[:i]
		n.noteRule(RuleArguments)
	}
	if rest := strings.TrimPrefix(strings.TrimPrefix(s, ":"), "Elixir."); rest != s {
		s = rest
		n.noteRule(RuleModulePrefix)
	}
	if i := strings.IndexByte(s, ':'); i > 0 && i+1 < len(s) && isIdent(s[i+1]) {
		s = s[:i] + "." + s[i+1:] // lists:map
		n.noteRule(RuleModulePrefix)
	}
	if lambda && !strings.HasSuffix(s, ".lambda") {
		s += ".lambda"
	}
	return s
}

// countArguments counts what commas outside of brackets and strings separate.
func countArguments(s string) int {
	if strings.TrimSpace(s) == "" {
		return 0
	}
	count, depth := 1, 0
	var quote byte
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote != 0 && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
		case c == '<' && i+1 < len(s) && s[i+1] == '<':
			depth, i = depth+1, i+1
		case c == '>' && i+1 < len(s) && s[i+1] == '>':
			depth, i = depth-1, i+1
		case c == ',' && depth == 0:
			count++
		}
	}
	return count
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

// isDartAccessor reports whether a frame is a getter that the compiler wrote for a private late
// field: it has a file and no line, and its caller in the same file has one.
func (a *analysis) isDartAccessor(i int32) bool {
	if int(i)+1 >= len(a.states) {
		return false
	}
	s, caller := &a.states[i], &a.states[i+1]
	_, name := splitScope(familyDart, s.text)
	return strings.HasPrefix(name, "_") && s.raw.Path != "" && s.raw.Line == 0 && caller.raw.Line > 0 && caller.raw.Path == s.raw.Path
}
