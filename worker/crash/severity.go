package crash

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/report"
)

// severityWords are what clients send in the attributes severity and error.type, in lower case
// and without spaces, - and _. What stands for a crash decides nothing: what kind it is of may
// stand in the classifier.
var severityWords = map[string]crash.Severity{
	"hang": crash.Hang, "apphang": crash.Hang, "anr": crash.Hang, "applicationnotresponding": crash.Hang, "freeze": crash.Hang,
	"outofmemory": crash.OutOfMemory, "oom": crash.OutOfMemory, "oomexception": crash.OutOfMemory, "lowmemory": crash.OutOfMemory,
	"error": crash.Handled, "exception": crash.Handled, "handled": crash.Handled, "handledexception": crash.Handled,
	"handlederror": crash.Handled, "nonfatal": crash.Handled, "message": crash.Handled, "warning": crash.Handled, "info": crash.Handled,
	"crash": crash.SevereCrash, "fatal": crash.SevereCrash, "unhandledexception": crash.SevereCrash, "unhandlederror": crash.SevereCrash,
	"unhandledrejection": crash.SevereCrash,
}

// handledAttributes say whether the program caught the error.
var handledAttributes = []string{"error.handled", "handled", "mechanism.handled"}

// severityClasses are the names of errors, without their packages and in lower case, that say
// what happened: of Android, Java, Python, .NET, Ruby, C++, Node and Apple's reports.
var severityClasses = map[string]crash.Severity{
	"anr": crash.Hang, "anrexception": crash.Hang, "anrerror": crash.Hang, "applicationnotresponding": crash.Hang,
	"apphang": crash.Hang, "apphangexception": crash.Hang, "blockedthreadexception": crash.Hang, "hang": crash.Hang,
	"outofmemoryerror": crash.OutOfMemory, "outofmemoryexception": crash.OutOfMemory, "outofmemory": crash.OutOfMemory,
	"memoryerror": crash.OutOfMemory, "nomemoryerror": crash.OutOfMemory, "bad_alloc": crash.OutOfMemory, "oom": crash.OutOfMemory,
	"watchdogtermination": crash.OutOfMemory, "jetsam": crash.OutOfMemory,
}

// memoryMessages begin the messages of runtimes that have no class for it.
var memoryMessages = []string{"fatal error: runtime: out of memory", "runtime: out of memory", "out of memory",
	"allocation failed - javascript heap out of memory",
	"reached heap limit allocation failed", "memory allocation of "}

// severityOf says what a report is of: what the client says first, else what the error is
// called. What says nothing is a crash.
func severityOf(r *report.Report) crash.Severity {
	for _, name := range []string{"severity", "error.type"} {
		if s, known := severityWords[severityWord(r.Attribute(name))]; known && s != crash.SevereCrash {
			return s
		} else if known {
			return severityOfError(r)
		}
	}
	if strings.EqualFold(firstAttribute(r, handledAttributes), "true") {
		return crash.Handled
	}
	return severityOfError(r)
}

// severityOfError reads the names of the error.
func severityOfError(r *report.Report) crash.Severity {
	for _, name := range r.Classifiers {
		if i := strings.LastIndexAny(name, ".:/\\$"); i >= 0 {
			name = name[i+1:]
		}
		if s, known := severityClasses[strings.ToLower(strings.TrimSpace(name))]; known {
			return s
		}
	}
	message := r.Attribute("error.message")
	message = strings.ToLower(message[:min(len(message), maxShort)])
	if slices.ContainsFunc(memoryMessages, func(begin string) bool { return strings.HasPrefix(message, begin) }) {
		return crash.OutOfMemory
	}
	return crash.SevereCrash
}

// severityWord is a word as severityWords has it.
func severityWord(text string) string {
	if len(text) > maxShort {
		return ""
	}
	return strings.ToLower(strings.NewReplacer(" ", "", "-", "", "_", "").Replace(text))
}
