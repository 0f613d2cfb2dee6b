package fingerprint

import (
	"strings"

	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/language"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/message"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/naming"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"
)

// maxClassifiers bounds the classifiers that are read.
const maxClassifiers = 8

// classAttributes are the attributes in which clients send the class of the error
// when their classifiers say only what kind of report it is.
var classAttributes = [...]string{"error.type", "exception.type", "exception.class", "error.class", "exception.name",
	"error.name", "exception_type"}

// errorClass returns the class of the error: the first classifier that is not
// generic, else one of the attributes, else what precedes the message
// ("KeyError: 'x'"), else the first classifier.
func errorClass(r *report.Report, f language.Family, message string) string {
	first := ""
	for i, c := range r.Classifiers[:min(len(r.Classifiers), maxClassifiers)] {
		c = normalizeClassifier(c, f)
		if first == "" {
			first = c
		}
		if isWrapperClass(c) {
			return c // what follows is its cause
		}
		// What follows the first classifier may be any label of the user's.
		if c != "" && !isGenericClass(c) && (i == 0 || isClassName(c)) {
			return c
		}
	}
	for _, key := range classAttributes {
		if c := normalizeClassifier(r.Attribute(key), f); c != "" {
			if !isGenericClass(c) {
				return c
			}
			if first == "" {
				first = c
			}
		}
	}
	if first == "" {
		if class, _, ok := strings.Cut(message, ":"); ok && isClassName(class) {
			return normalizeClassifier(class, f)
		}
	}
	return first
}

// isClassName reports whether a word is written as exceptions are: an identifier,
// with or without its package, that ends in Error or Exception.
func isClassName(s string) bool {
	if len(s) > maxTitle || !scan.HasSuffixAny(s, "Error", "Exception", "Fault", "Throwable", "Interrupt", "Exit", "Failure") {
		return false
	}
	for i := 0; i < len(s); i++ {
		if !scan.IsIdent(s[i]) && s[i] != '.' && s[i] != ':' && s[i] != '\\' && s[i] != '*' && s[i] != '/' {
			return false
		}
	}
	return true
}

// isGenericClass reports whether a class says nothing about what went wrong, so
// that only the message does: the roots of the hierarchies of exceptions, texts
// raised as errors, the labels of clients, and names that a minifier shortened.
// IllegalStateException and its like (ValueError, ArgumentException) say
// something: their messages contain values more often than reasons.
func isGenericClass(class string) bool {
	short := message.ShortClass(class)
	if len(short) <= 2 && strings.HasSuffix(class, short) {
		return true // none, or a minifier's name, in small letters
	}
	switch short {
	case "addresssanitizer", "undefinedbehaviorsanitizer", "memorysanitizer", "threadsanitizer", "leaksanitizer",
		"hwaddresssanitizer", "undefined-behavior", "undefined-behaviour", "undefined behavior", "undefinedbehavior",
		"asan", "ubsan", "msan", "tsan", "libfuzzer":
		return true
	case "error", "exception", "baseexception", "throwable", "runtimeexception", "runtimeerror", "standarderror",
		"systemexception", "applicationexception", "errorexception", "logicerror", "logicexception",
		"runtime_error", "logic_error", "system_error", "unityexception", "_exception", "_error", "internalerror",
		"nsexception", "nsgenericexception", "nsinternalinconsistencyexception", "nserror", "swifterror", "domexception",
		"genericexception", "unknownerror", "unknownexception", "customerror", "invariant violation", "invariantviolation",
		"assertionerror", "assertionfailederror", "anyhow",
		"errorstring", "wraperror", "wraperrors", "joinerror", "fundamental", "withstack", "withmessage", "plainerror", "statuserror", "operror",
		"message", "msg", "log", "info", "warn", "warning", "notice", "debug", "critical", "fatal", "panic", "crash",
		"unhandled", "uncaught", "unhandled exception", "uncaught exception", "unhandledexception", "uncaughtexception",
		"unhandledrejection", "unhandled rejection", "handled", "manual", "report", "failure", "native", "minidump",
		"crashpad", "unknown", "undefined", "null", "none", "nil",
		"event", "errorevent", "promiserejectionevent", "progressevent", "customevent", "object", "string", "str",
		"number", "array", "fatal error", "fatal exception", "exc_crash", "signal":
		return true
	}
	return isWrapperClass(class)
}

// isWrapperClass reports whether a class only says that another error happened:
// its cause says which.
func isWrapperClass(class string) bool {
	switch message.ShortClass(class) {
	case "undeclaredthrowableexception", "invocationtargetexception", "executionexception", "completionexception",
		"servletexception", "nestedservletexception", "typeinitializationexception", "aggregateexception",
		"targetinvocationexception", "privilegedactionexception", "exceptionininitializererror", "beancreationexception",
		"uncheckedioexception", "uncheckedexecutionexception", "wrappedexception", "wrapperexception", "nestedruntimeexception",
		"nestedexception", "exceptiongroup", "baseexceptiongroup", "rethrownerror", "errorgroup", "aggregateerror",
		"composedexception", "compositeexception", "onerrornotimplementedexception", "undeliverableexception",
		"remoteexception", "faultexception", "jobexecutionexception", "multiexception":
		return true
	}
	return false
}

// saysAll reports whether a class says all that is known: the message is the value
// that was refused, a host or a file, or a text of the platform in the language
// of the user. Error codes in the message count nevertheless.
func saysAll(class string) bool {
	switch message.ShortClass(class) {
	case "numberformatexception", "formatexception", "inputmismatchexception", "datetimeparseexception", "unknownhostexception",
		"connectexception", "noroutetohostexception", "portunreachableexception", "sockettimeoutexception", "bindexception",
		"filenotfoundexception", "nosuchfileexception", "accessdeniedexception", "directorynotemptyexception",
		"filealreadyexistsexception", "filenotfounderror", "fileexistserror", "permissionerror", "notadirectoryerror", "isadirectoryerror",
		"directorynotfoundexception", "pathtoolongexception", "drivenotfoundexception", "unauthorizedaccessexception",
		"nullreferenceexception", "nullpointerexception", "outofmemoryexception", "outofmemoryerror", "memoryerror",
		"stackoverflowexception", "stackoverflowerror", "indexoutofrangeexception", "arrayindexoutofboundsexception",
		"stringindexoutofboundsexception",
		"dividebyzeroexception", "zerodivisionerror", "overflowexception", "accessviolationexception", "invalidcastexception",
		"objectdisposedexception", "timeoutexception", "operationcanceledexception", "taskcanceledexception", "threadabortexception",
		"badimageformatexception", "socketexception", "win32exception", "connectionrefusederror", "connectionreseterror",
		"connectionabortederror", "brokenpipeerror", "gaierror", "keyboardinterrupt":
		return true
	}
	return false
}

// isNumbered reports whether errors of a class differ by a number in the message:
// that of the operating system, the database or the response.
func isNumbered(class string) bool {
	switch message.ShortClass(class) {
	case "oserror", "ioerror", "environmenterror", "windowserror", "win32exception", "comexception", "errnoexception",
		"systemcallerror", "socketexception", "sqlexception", "pdoexception", "dbexception", "httperror", "httpexception", "httprequestexception",
		"httpstatusexception", "httpclienterrorexception", "httpservererrorexception", "webexception", "requestexception",
		"clientresponseerror", "responseerror", "axioserror", "statuscodeerror", "apiexception", "apierror", "externalexception":
		return true
	}
	return false
}

// normalizeClassifier removes the generated parts of an exception's class.
func normalizeClassifier(class string, f language.Family) string {
	class = strings.TrimSpace(scan.OneLine(class, maxTitle))
	for _, p := range [...]string{"Uncaught (in promise) ", "Uncaught ", "uncaught exception ", "builtins.", "exceptions."} {
		class = strings.TrimPrefix(class, p)
	}
	if f == language.JVM || f == language.DotNet || f == language.PHP {
		var n naming.Namer
		class, _ = n.Normalize(f, class)
	}
	return class
}
