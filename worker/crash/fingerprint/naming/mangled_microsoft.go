package naming

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"
)

// microsoftReader reads the name of a decorated symbol of Microsoft's compilers
// from left to right. A digit in a symbol repeats an earlier part of it.
type microsoftReader struct {
	rest string
	seen []string
}

// Bounds of a decorated symbol.
const (
	maxDecoratedParts = 32
	maxDecoratedDepth = 8
	maxRepeatedParts  = 10 // one digit
)

// microsoftName returns the qualified name of a decorated symbol without its
// types, or "" when it cannot be read.
//
//	?pay@Cart@shop@@QEAAHXZ  ->  shop::Cart::pay
//	??0Cart@shop@@QEAA@XZ    ->  shop::Cart::Cart
func microsoftName(s string) string {
	r := microsoftReader{rest: s[1:]}
	name := r.function(0)
	return name
}

// function reads a function's name and its scopes.
func (r *microsoftReader) function(depth int) string {
	special := ""
	if strings.HasPrefix(r.rest, "?") && !strings.HasPrefix(r.rest, "?$") {
		r.rest = r.rest[1:]
		if special = r.operator(); special == "" {
			return ""
		}
	}
	parts := r.scopes(depth)
	if len(parts) == 0 {
		if strings.HasPrefix(special, "operator") {
			return special
		}
		return ""
	}
	switch special {
	case "":
	case "constructor":
		parts = append([]string{parts[0]}, parts...)
	case "destructor":
		parts = append([]string{"~" + parts[0]}, parts...)
	default:
		parts = append([]string{special}, parts...)
	}
	for i, j := 0, len(parts)-1; i < j; i, j = i+1, j-1 {
		parts[i], parts[j] = parts[j], parts[i]
	}
	return strings.Join(parts, "::")
}

// operator reads what stands for the name of a constructor or an operator.
func (r *microsoftReader) operator() string {
	if r.rest == "" {
		return ""
	}
	code := r.rest[:1]
	if (code == "_" || code == "?") && len(r.rest) > 1 {
		code = r.rest[:2]
	}
	name := ""
	switch code {
	case "0":
		name = "constructor"
	case "1":
		name = "destructor"
	case "B":
		name = "operator cast"
	case "_G", "_E", "_D":
		// The compiler's wrappers around a destructor.
		name = "destructor"
	case "_U":
		name = "operator new[]"
	case "_V":
		name = "operator delete[]"
	case "_0":
		name = "operator/="
	default:
		const codes = "2 new\x003 delete\x004=\x005>>\x006<<\x007!\x008==\x009!=\x00A[]\x00C->\x00D*\x00E++\x00F--\x00G-\x00H+\x00I&\x00J->*\x00K/\x00L%\x00M<\x00N<=\x00O>\x00P>=\x00Q,\x00R()\x00S~\x00T^\x00U|\x00V&&\x00W||\x00X*=\x00Y+=\x00Z-="
		for entry := range strings.SplitSeq(codes, "\x00") {
			if entry[:1] == code {
				name = "operator" + entry[1:]
			}
		}
	}
	r.rest = r.rest[len(code):]
	return name
}

// scopes reads the parts of a qualified name, innermost first, to its "@".
func (r *microsoftReader) scopes(depth int) []string {
	var parts []string
	for len(parts) < maxDecoratedParts {
		if r.rest == "" {
			return parts
		}
		if r.rest[0] == '@' {
			r.rest = r.rest[1:]
			return parts
		}
		part, ok := r.part(depth)
		if !ok {
			return nil
		}
		if part != "" {
			parts = append(parts, part)
		}
	}
	return nil
}

// part reads one part of a qualified name. It returns "" for a part that only
// numbers a scope.
func (r *microsoftReader) part(depth int) (string, bool) {
	if depth > maxDecoratedDepth {
		return "", false
	}
	switch {
	case scan.IsDigit(r.rest[0]):
		k := int(r.rest[0] - '0')
		r.rest = r.rest[1:]
		if k >= len(r.seen) {
			return "", false
		}
		return r.seen[k], true
	case strings.HasPrefix(r.rest, "?$"):
		// A template counts its own parts from 0.
		name, arguments, ok := strings.Cut(r.rest[2:], "@")
		inner := microsoftReader{rest: arguments, seen: []string{name}}
		if !ok || !inner.template(depth+1) {
			return "", false
		}
		r.rest = inner.rest
		return r.remember(name), true
	case strings.HasPrefix(r.rest, "?A0x"), strings.HasPrefix(r.rest, "?A@"):
		_, after, ok := strings.Cut(r.rest, "@")
		if !ok {
			return "", false
		}
		r.rest = after
		return r.remember("{anon}"), true
	case strings.HasPrefix(r.rest, "??"):
		// A name inside a function, which has a symbol of its own.
		r.rest = r.rest[2:]
		inner := microsoftReader{rest: r.rest}
		name := inner.function(depth + 1)
		if name == "" {
			return "", false
		}
		_, after, ok := strings.Cut(inner.rest, "@")
		if !ok {
			return "", false
		}
		r.rest = after
		return name, true
	case r.rest[0] == '?':
		// A numbered scope: "?1", or letters for larger numbers.
		i := 1
		for i < len(r.rest) && (scan.IsDigit(r.rest[i]) || r.rest[i] >= 'A' && r.rest[i] <= 'P') {
			i++
		}
		if i == 1 {
			return "", false
		}
		r.rest = strings.TrimPrefix(r.rest[i:], "@")
		return "", true
	}
	name, after, ok := strings.Cut(r.rest, "@")
	if !ok || name == "" {
		return "", false
	}
	r.rest = after
	if strings.HasPrefix(name, "<lambda_") {
		name = "lambda"
	}
	return r.remember(name), true
}

func (r *microsoftReader) remember(part string) string {
	if len(r.seen) < maxRepeatedParts {
		r.seen = append(r.seen, part)
	}
	return part
}

// template reads the arguments of a template to its "@". They are not kept.
func (r *microsoftReader) template(depth int) bool {
	for range maxDecoratedParts {
		if strings.HasPrefix(r.rest, "@") {
			r.rest = r.rest[1:]
			return true
		}
		if !r.typ(depth) {
			return false
		}
	}
	return false
}

// typ reads one type, or one value, among the arguments of a template.
func (r *microsoftReader) typ(depth int) bool {
	if depth > maxDecoratedDepth || r.rest == "" {
		return false
	}
	c := r.rest[0]
	r.rest = r.rest[1:]
	switch {
	case c >= 'C' && c <= 'O', c == 'X', c == 'Z', scan.IsDigit(c): // int, void, an earlier type
		return true
	case c == '_':
		return r.skip(1)
	case c == 'V', c == 'U', c == 'T':
		return len(r.scopes(depth+1)) > 0
	case c == 'W':
		return r.skip(1) && len(r.scopes(depth+1)) > 0
	case c == '?': // const volatile
		return r.skip(1) && r.typ(depth+1)
	case c == 'P', c == 'Q', c == 'R', c == 'S', c == 'A', c == 'B':
		return r.pointer(depth)
	case c != '$':
		return false
	}
	switch {
	case strings.HasPrefix(r.rest, "$V"), strings.HasPrefix(r.rest, "$Z"), strings.HasPrefix(r.rest, "$T"):
		return r.skip(2)
	case strings.HasPrefix(r.rest, "$Q"):
		return r.skip(2) && r.pointer(depth)
	case strings.HasPrefix(r.rest, "$C"):
		return r.skip(3) && r.typ(depth+1)
	case strings.HasPrefix(r.rest, "$A6"):
		return r.skip(3) && r.functionType(depth)
	case strings.HasPrefix(r.rest, "0"):
		r.rest = strings.TrimPrefix(r.rest[1:], "?")
		if r.rest != "" && scan.IsDigit(r.rest[0]) {
			return r.skip(1)
		}
		_, after, ok := strings.Cut(r.rest, "@")
		r.rest = after
		return ok
	}
	return false
}

// pointer reads what a pointer or a reference points to.
func (r *microsoftReader) pointer(depth int) bool {
	r.rest = strings.TrimLeft(scan.Truncate(r.rest, 3), "EIF") + r.rest[min(3, len(r.rest)):]
	if r.rest == "" {
		return false
	}
	if r.rest[0] == '6' {
		return r.skip(1) && r.functionType(depth)
	}
	return r.rest[0] >= 'A' && r.rest[0] <= 'D' && r.skip(1) && r.typ(depth+1)
}

// functionType reads a calling convention, a result and arguments.
func (r *microsoftReader) functionType(depth int) bool {
	if !r.skip(1) || !r.typ(depth+1) {
		return false
	}
	for range maxDecoratedParts {
		if after, ok := strings.CutPrefix(r.rest, "XZ"); ok {
			r.rest = after
			return true
		}
		if after, ok := strings.CutPrefix(r.rest, "@"); ok {
			r.rest = after
			return r.skip(1)
		}
		if !r.typ(depth + 1) {
			return false
		}
	}
	return false
}

func (r *microsoftReader) skip(n int) bool {
	if len(r.rest) < n {
		return false
	}
	r.rest = r.rest[n:]
	return true
}
