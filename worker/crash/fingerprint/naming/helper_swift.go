package naming

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"
)

// compilerHelper returns the kind of a function that the compilers of Swift and
// Objective-C make for a type or a block, and reports whether s is one. Whose type
// it is does not count: the same code serves many.
//
//	outlined destroy of App.View?  ->  outlined destroy
func compilerHelper(s string) (string, bool) {
	if !startsAsCompilerHelper(s) {
		return "", false
	}
	if strings.IndexByte(s, ' ') > 0 {
		for _, kind := range [...]string{"outlined ", "reabstraction thunk", "type metadata accessor", "type metadata completion",
			"type metadata instantiation", "value witness", "lazy protocol witness", "lazy cache variable",
			"protocol conformance descriptor", "protocol witness table", "associated type witness", "base witness table",
			"nominal type descriptor", "destroy for ", "destroy value witness", "thunk for @", "_symbolic ",
			"merged reabstraction", "partial apply forwarder for reabstraction", "partial apply for thunk for @"} {
			if !strings.HasPrefix(s, kind) {
				continue
			}
			if tail, ok := strings.CutPrefix(s, "outlined "); ok {
				return "outlined " + Identifier(tail+" ", 0), true
			}
			return strings.TrimRight(strings.TrimSuffix(kind, "@"), " "), true
		}
	}
	for _, kind := range [...]string{"initializeWithCopy", "initializeWithTake", "assignWithCopy", "assignWithTake",
		"initializeBufferWithCopyOfBuffer", "getEnumTag", "destructiveInjectEnumTag", "destructiveProjectEnumData", "storeEnumTagSinglePayload"} {
		if strings.HasPrefix(s, kind) {
			return kind, true
		}
	}
	if scan.HasPrefixAny(s, "OUTLINED_FUNCTION_", "_OUTLINED_FUNCTION_", "objectdestroy", "block_destroy_helper", "block_copy_helper",
		"__copy_helper_block_", "__destroy_helper_block_", "___copy_helper_block_", "___destroy_helper_block_",
		"_copy_helper_block_", "_destroy_helper_block_",
		"__swift_memcpy", "swift_memcpy", "__swift_project_boxed_opaque_existential",
		"__swift_mutable_project_boxed_opaque_existential", "__swift_destroy_boxed_opaque_existential",
		"__swift_allocate_boxed_opaque_existential", "__swift_assign_boxed_opaque_existential") {
		name := strings.TrimLeft(s, "_")
		name, _, _ = strings.Cut(name, ".")
		end := len(name)
		for i := 1; i < len(name); i++ {
			if scan.IsDigit(name[i]) && name[i-1] == '_' || scan.IsDigit(name[i]) && strings.HasPrefix(name, "swift_memcpy") {
				end = i
				break
			}
		}
		// The letters of a block's helper (e8_32s) say what it captures.
		if i := strings.Index(name[:end], "_block_e"); i > 0 {
			end = i + len("_block")
		}
		return strings.TrimRight(name[:end], "_"), true
	}
	return "", false
}

// startsAsCompilerHelper reports whether a name begins as one of the functions that
// compilerHelper knows. Hardly any name does, and every native name is asked.
func startsAsCompilerHelper(s string) bool {
	if len(s) < len("outlined ") {
		return false
	}
	switch s[:2] {
	case "OU", "ou", "ob", "re", "ty", "va", "la", "pr", "as", "ba", "no", "de", "th", "me", "pa", "in", "ge", "st",
		"sw", "bl", "_O", "_s", "_c", "_d", "__":
		return s[2] != 'd' || s[:2] != "st" // std::
	}
	return false
}

// IsCompilerHelper reports whether a normalized name is of such a function.
func IsCompilerHelper(name string) bool {
	if _, ok := compilerHelper(name); ok {
		return true
	}
	return scan.HasPrefixAny(name, "swift_", "_swift_", "__swift_", "copy_helper_block", "destroy_helper_block", "_symbolic") ||
		scan.IsOneOf(name, "<deduplicated_symbol>", "value witness", "thunk for")
}
