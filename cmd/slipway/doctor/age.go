package doctor

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"time"

	"github.com/slipway-qa/slipway/cmd/localservice"
	"github.com/slipway-qa/slipway/cmd/slipway/setting"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/tasks/dispatch"
)

// postgresEnds are the days of the last releases of PostgreSQL's major versions. Source:
// https://www.postgresql.org/support/versioning/, read in 2026.
var postgresEnds = map[int]string{13: "2025-11-13", 14: "2026-11-12", 15: "2027-11-11", 16: "2028-11-09", 17: "2029-11-08",
	18: "2030-11-14"}

// soon is how long before the end of a version the doctor names it.
const soon = 90 * 24 * time.Hour

// postgresAge returns what is to be said of a major version of PostgreSQL; "" for one
// that is maintained for a while.
func postgresAge(major int, now time.Time) string {
	day, known := postgresEnds[major]
	end, err := time.Parse(time.DateOnly, day)
	switch {
	case major == 0 || known && err == nil && now.Add(soon).Before(end):
		return ""
	case !known && major > 18: // younger than the table
		return ""
	case !known:
		return fmt.Sprintf("version %d gets no corrections any more; take 17 or later", major)
	case now.Before(end):
		return fmt.Sprintf("version %d gets its last corrections on %s; plan the way to 17 or later", major, day)
	}
	return fmt.Sprintf("version %d gets no corrections since %s; take 17 or later", major, day)
}

// redisAge returns what is to be said of a version of Redis. Its project maintains the
// newest release, the minor version before and the major version before. Source: the
// security policy of the project, https://github.com/redis/redis/security/policy.
func redisAge(version string) string {
	major, minor := leading(version)
	if major == 0 || major > 7 || major == 7 && minor >= 2 {
		return ""
	}
	return fmt.Sprintf("version %d.%d is not maintained by its project, at most by a distribution; take 7.2 or later", major, minor)
}

// browserAge compares a browser with its driver: they need the same major version.
func browserAge(browser, driver string) string {
	b, _ := leading(browser)
	d, _ := leading(driver)
	if b == 0 || d == 0 || b == d {
		return ""
	}
	return fmt.Sprintf("version %d does not fit chromedriver %d: both need the same major version", b, d)
}

var firstVersion = regexp.MustCompile(`(\d+)(?:\.(\d+))?`)

// leading returns the first version number of a text, such as the output of --version.
func leading(text string) (major, minor int) {
	found := firstVersion.FindStringSubmatch(text)
	if found == nil {
		return 0, 0
	}
	major, _ = strconv.Atoi(found[1])
	minor, _ = strconv.Atoi(found[2])
	return major, minor
}

// versionOf returns what a program on this machine says of its version; "" when it
// cannot be had.
func versionOf(ctx context.Context, program string) string {
	found, err := localservice.Find(program)
	if err != nil {
		return ""
	}
	output, err := exec.CommandContext(ctx, found.Path, "--version").Output()
	if err != nil {
		return ""
	}
	return string(output)
}

// ages returns a line for each server or program that is old or does not fit, by its name.
func ages(ctx context.Context, s *setting.Settings, now time.Time) map[string]string {
	postgres, _ := leading(versionOf(ctx, localservice.PostgreSQL))
	redis := versionOf(ctx, localservice.Redis)
	if s.DatabaseURL != "" {
		postgres = 0
		if db, err := storage.Open(storage.Config{URL: string(s.DatabaseURL), MaxConns: 1}); err == nil {
			postgres, _ = db.ServerMajor(ctx)
			_ = db.Close()
		}
	}
	if s.RedisURL != "" {
		redis = ""
		if r, err := dispatch.OpenRedis(s.Redis()); err == nil {
			redis, _ = r.ServerVersion(ctx)
			_ = r.Close()
		}
	}
	lines := map[string]string{localservice.PostgreSQL: postgresAge(postgres, now), localservice.Redis: redisAge(redis)}
	if s.WebDriverURL == "" {
		lines[localservice.Chromium] = browserAge(versionOf(ctx, localservice.Chromium), versionOf(ctx, localservice.Chromedriver))
	}
	return lines
}
