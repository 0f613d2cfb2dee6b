package native

import (
	"encoding/hex"
	"strings"
)

// ocamlName returns the name of a function of OCaml, as backtraces of its runtime write it, of a
// symbol of its native compiler: camlStdlib__List__map_123 is Stdlib.List.map. Since 5.1 points
// stand between the parts. Those of the runtime, which is in C, begin with caml_.
func ocamlName(symbol string) (string, bool) {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(symbol, "_"), "caml")
	if !ok || rest == "" || rest[0] < 'A' || rest[0] > 'Z' {
		return "", false
	}
	parts := strings.Split(strings.ReplaceAll(rest, "__", "."), ".")
	if len(parts) < 2 {
		return "", false
	}
	last := len(parts) - 1
	parts[last] = withoutStamp(parts[last])
	if parts[last] == "fun" {
		parts[last] = "(fun)"
	}
	for i, part := range parts {
		if parts[i], ok = ocamlText(part); !ok {
			return "", false
		}
	}
	return strings.Join(parts, "."), true
}

// withoutStamp drops the number by which a compiler tells functions of one name apart.
func withoutStamp(name string) string {
	plain := strings.TrimRight(name, "0123456789")
	if plain == name || !strings.HasSuffix(plain, "_") || len(plain) < 2 {
		return name
	}
	return plain[:len(plain)-1]
}

// ocamlText reads characters that symbols cannot have: $2b is a plus.
func ocamlText(part string) (string, bool) {
	if part == "" {
		return "", false
	}
	if !strings.Contains(part, "$") {
		return part, true
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(part, "$")
		b.WriteString(before)
		if !found {
			return b.String(), true
		}
		if len(after) < 2 {
			return "", false
		}
		char, err := hex.DecodeString(after[:2])
		if err != nil || char[0] < ' ' || char[0] > '~' {
			return "", false
		}
		b.Write(char)
		part = after[2:]
	}
}
