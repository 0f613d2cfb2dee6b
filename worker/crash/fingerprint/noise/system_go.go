package noise

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"
)

// isGoStandard reports whether a function is of the standard library, whose import
// paths begin with a known word without a dot.
func isGoStandard(name string) bool {
	end := strings.IndexAny(name, "./")
	if end < 0 {
		return false
	}
	switch name[:end] {
	case "archive", "bufio", "bytes", "cmp", "compress", "container", "context", "crypto", "database", "debug", "embed",
		"encoding", "errors", "expvar", "flag", "fmt", "go", "hash", "html",
		"image", "index", "internal", "io", "iter", "log", "maps", "math", "mime", "net", "os", "path", "plugin",
		"reflect", "regexp", "runtime", "slices", "sort", "strconv", "strings",
		"sync", "syscall", "testing", "text", "time", "unicode", "unique", "unsafe", "vendor", "weak":
		return true
	}
	return isGoLibrary(name)
}

// isGoLibrary reports whether a function is of a framework or driver that many
// programs use: without the path of the source file nothing else shows it.
func isGoLibrary(name string) bool {
	return name[0] == 'g' && scan.HasPrefixAny(name, "golang.org/x/", "google.golang.org/", "go.uber.org/", "go.opentelemetry.io/",
		"gorm.io/", "gopkg.in/", "go.mongodb.org/",
		"github.com/gin-gonic/", "github.com/labstack/", "github.com/gorilla/", "github.com/go-chi/", "github.com/gofiber/",
		"github.com/valyala/", "github.com/julienschmidt/",
		"github.com/jackc/", "github.com/lib/pq", "github.com/go-sql-driver/", "github.com/jmoiron/", "github.com/redis/",
		"github.com/go-redis/", "github.com/gomodule/",
		"github.com/sirupsen/", "github.com/rs/zerolog", "github.com/spf13/", "github.com/stretchr/", "github.com/pkg/errors",
		"github.com/urfave/", "github.com/aws/", "github.com/Azure/", "github.com/backtrace-labs/", "github.com/getsentry/")
}
