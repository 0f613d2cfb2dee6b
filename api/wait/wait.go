// Package wait serves requests that wait for the end of something: a task, a run
// or a suite run, with `?wait=SECONDS`.
//
// For reads the parameter, up to Max. A handler reads its row; when that has not
// ended it calls Watcher.Wait and then reads the row again, whatever Wait came back
// for: the end, the end of the time, or the end of the process.
//
// There is one Watcher for each kind of thing in a process. It asks the database for
// everything that is awaited in one statement, five times a second, and only while
// somebody waits; a thousand waiting requests cost what one costs. How many may wait
// is bounded, for each organization and in all. Who finds no slot is refused with
// 429.
//
// Changes does the same for open pages, which wait for any change of what they show: it
// asks for the versions of all of that in one statement each round, by a Watcher of its
// own.
package wait

import (
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/slipway-qa/slipway/storage"
)

// Max is the longest wait that a caller may ask for.
const Max = 60 * time.Second

// Deadline is that of a route with the parameter: Max and the reads around it.
const Deadline = Max + 15*time.Second

// For reads the query parameter wait, a number of seconds up to Max; 0 without it.
// The error is a *storage.InvalidError.
func For(c *gin.Context) (time.Duration, error) {
	text := c.Query("wait")
	if text == "" {
		return 0, nil
	}
	seconds, err := strconv.Atoi(text)
	if err != nil || seconds < 0 || seconds > int(Max/time.Second) {
		return 0, &storage.InvalidError{Field: "wait", Msg: "must be a number of seconds from 0 to 60"}
	}
	return time.Duration(seconds) * time.Second, nil
}
