package install

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/distribution"
)

// size is a number of bytes as phones show it, in powers of 1000.
func size(n int64) string {
	units := []string{"kB", "MB", "GB", "TB"}
	if n < 1000 {
		return strconv.FormatInt(n, 10) + " bytes"
	}
	f, unit := float64(n)/1000, 0
	for f >= 999.5 && unit < len(units)-1 {
		f, unit = f/1000, unit+1
	}
	if f < 9.95 {
		return fmt.Sprintf("%.1f %s", f, units[unit])
	}
	return fmt.Sprintf("%.0f %s", f, units[unit])
}

// day is a date for people of any country: no number that could be a month.
func day(t time.Time) string { return t.UTC().Format("2 January 2006") }

// shortDay is a date for lists.
func shortDay(t time.Time) string { return t.UTC().Format("2 Jan 2006") }

// versionOf is a build's version with its code.
func versionOf(b *distribution.Build) string {
	switch {
	case b.Version != "" && b.VersionCode != "" && b.Version != b.VersionCode:
		return b.Version + " (" + b.VersionCode + ")"
	}
	return cmp.Or(b.Version, b.VersionCode, "unknown")
}

// minimumOS is the oldest system that runs the build; "" when unknown.
func minimumOS(b *distribution.Build) string {
	switch {
	case b.MinOSVersion == "":
		return ""
	case b.Platform != artifact.Android:
		return string(b.Platform) + " " + b.MinOSVersion
	}
	if name, ok := androidVersion(b.MinOSVersion); ok {
		return "Android " + name
	}
	return "Android API level " + b.MinOSVersion
}

// androidVersion is the name that people know an API level by (Android's own
// table of platform codenames, versions and API levels).
func androidVersion(level string) (string, bool) {
	names := map[string]string{
		"14": "4.0", "15": "4.0.3", "16": "4.1", "17": "4.2", "18": "4.3", "19": "4.4", "20": "4.4W", "21": "5.0",
		"22": "5.1", "23": "6.0", "24": "7.0", "25": "7.1", "26": "8.0", "27": "8.1", "28": "9", "29": "10",
		"30": "11", "31": "12", "32": "12L", "33": "13", "34": "14", "35": "15", "36": "16",
	}
	name, ok := names[level]
	return name, ok
}
