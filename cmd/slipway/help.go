package main

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/alecthomas/kong"
)

// helpGroup is a part of a command's help: settings of one thing, and the commands that
// read them. The same title may come twice; its settings stand together.
type helpGroup struct {
	title    string
	commands string
	settings string // variables without SLIPWAY_
}

// tierCommands are the commands that run a tier.
const tierCommands = "up api worker scheduler"

// helpGroups holds every setting once, in the order of the help.
var helpGroups = []helpGroup{
	{"Addresses", tierCommands + " admin backup restore", "REGION"},
	{"Addresses", "up api", "LISTEN BASE_DOMAIN TRUSTED_PROXIES"},
	{"Addresses", "up api worker", "PUBLIC_URL VENDOR ALLOW_PRIVATE_ADDRESSES"},
	{"Addresses", "worker scheduler", "OPS_LISTEN"},
	{"Services", tierCommands + " admin backup restore migrate doctor", "DATABASE_URL"},
	{"Services", tierCommands, "DATABASE_CONNS"},
	{"Services", tierCommands + " migrate", "DATABASE_DIRECT_URL"},
	{"Services", tierCommands + " doctor", "REDIS_URL REDIS_PASSWORD REDIS_SENTINEL_PASSWORD"},
	{"Services", tierCommands + " backup restore doctor", "OBJECTS_URL"},
	{"Services", tierCommands, "OBJECTS_PUBLIC_URL DELETE_DELAY"},
	{"Services", tierCommands + " admin backup restore", "SIGNING_KEY SIGNING_KEYS_OLD"},
	{"Builds", "up api", "MAX_UPLOAD_BYTES PACKAGE_READERS PROFILE_CERTIFICATE PROFILE_KEY DEVICE_ISSUERS"},
	{"Builds", "up worker", "APPLE_ROOTS"},
	{"Tests", "up worker doctor", "WEBDRIVER_URL"},
	{"Tests", "up api worker", "ALLOW_FILE_URLS ALLOW_METADATA_ADDRESSES RUN_SCREENSHOTS WEBDRIVER_UNSAFE_CAPABILITIES"},
	{"Tests", "up worker", "BROWSER_MEMORY_BYTES BROWSER_PROCESSES RUN_PARALLEL RUN_TIMEOUT RUN_DAYS"},
	{"Generation of tests", "up worker", "GENERATION_PARALLEL GENERATION_VERIFY MODEL_PROVIDER MODEL_URL MODEL_KEY MODEL_NAME MODEL_USE " +
		"MODEL_INPUT_PRICE MODEL_OUTPUT_PRICE MODEL_CALLS_PER_TASK MODEL_TOKENS_PER_TASK MODEL_USD_PER_TASK MODEL_USD_PER_DAY " +
		"MODEL_USD_PER_ORGANIZATION_DAY"},
	{"Crashes", "up worker", "CRASH_DAYS CRASH_DUPLICATES"},
	{"Crashes", "up api", "CRASH_REPORT_BYTES CRASH_ATTACHMENT_BYTES CRASH_ATTACHMENTS CRASH_BYTES_IN_FLIGHT"},
	{"Symbols", "up api", "MAX_SYMBOL_BYTES"},
	{"Symbols", "up worker", "SYMBOL_CACHE_BYTES SYMBOL_READERS"},
	{"Symbols", "up worker symbols", "SYMBOL_READER_BYTES SYMBOL_FOLDER"},
	{"Sessions of apps", "up api", "SESSION_EVENTS SESSION_BYTES"},
	{"Sessions of apps", "up worker", "SESSION_DAYS SESSION_SILENCE SESSION_PROJECT_BYTES SESSION_ORGANIZATION_BYTES"},
	{"Mail", "up api worker", "SMTP_URL MAIL_FROM"},
	{"Mail", "up worker", "MAIL_RATE MAIL_CONNECTIONS MAIL_JOURNAL"},
	{"What is kept", "up worker", "TASK_DAYS MAIL_DAYS WEBHOOK_DAYS AUDIT_DAYS"},
	{"Quotas", "up api worker", "QUOTA_STORED_BYTES QUOTA_BUILDS QUOTA_CRASHES_PER_DAY QUOTA_RUNS_PER_DAY"},
	{"Load", "up api", "CONNECTIONS CONNECTIONS_PER_ADDRESS SEARCHES"},
	{"Tasks", "up worker", "WORKER_POOLS WORKER_DRAIN"},
	{"Tasks", "up worker scheduler", "RESCUE_AFTER"},
	{"Health and stop", tierCommands, "READY_CAPABILITIES"},
	{"Health and stop", "up api", "STOP_DELAY METRICS_PUBLIC"},
	{"Health and stop", "worker", "READY_LAG READY_LAG_CRITICAL"},
	{"Log", tierCommands + " admin backup restore migrate", "LOG_LEVEL LOG_FORMAT"},
}

// helpPlace is where a setting stands in the help, and whose it is.
type helpPlace struct {
	title    string
	commands []string
	order    int // groups of one title stand together
}

// helpPlaces are the places by variable.
var helpPlaces = sync.OnceValue(func() map[string]helpPlace {
	places, titles := map[string]helpPlace{}, []string{}
	for _, g := range helpGroups {
		at := slices.Index(titles, g.title)
		if at < 0 {
			at, titles = len(titles), append(titles, g.title)
		}
		for _, name := range strings.Fields(g.settings) {
			places["SLIPWAY_"+name] = helpPlace{g.title, strings.Fields(g.commands), 1000*(at+1) + len(places)}
		}
	}
	return places
})

// groupSettings puts the settings into their groups, and says of each what it takes.
func groupSettings(app *kong.Application) error {
	places := helpPlaces()
	for _, flag := range app.Flags {
		flag.PlaceHolder = placeHolder(flag)
		for _, env := range flag.Envs {
			place, ok := places[env]
			if !ok {
				return fmt.Errorf("%s is in no group of the help", env)
			}
			flag.Group = &kong.Group{Key: place.title, Title: place.title + ":"}
		}
	}
	slices.SortStableFunc(app.Flags, func(a, b *kong.Flag) int { return places[variableOf(a)].order - places[variableOf(b)].order })
	return nil
}

func variableOf(flag *kong.Flag) string {
	if len(flag.Envs) == 0 {
		return ""
	}
	return flag.Envs[0]
}

// placeHolder is what stands for the value of a flag; its default stands in its text.
func placeHolder(flag *kong.Flag) string {
	switch {
	case flag.IsBool():
		return ""
	case flag.Enum != "":
		return strings.Join(slices.DeleteFunc(flag.EnumSlice(), func(s string) bool { return s == "" }), "|")
	case flag.Target.Type() == reflect.TypeFor[time.Duration](), flag.Target.Type() == reflect.TypeFor[*time.Duration]():
		return "TIME"
	case flag.Target.CanInt(), flag.Target.CanFloat():
		return "NUMBER"
	case flag.Tag.Type == "path":
		return "PATH"
	}
	return "TEXT"
}

// printHelp prints the help of a command with the settings that it reads, and no others.
// The help of the whole lists the commands.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	command := commandOf(ctx)
	for _, flag := range ctx.Model.Flags {
		if env := variableOf(flag); env != "" {
			flag.Hidden = !slices.Contains(helpPlaces()[env].commands, command)
		}
	}
	options.Compact, options.NoExpandSubcommands = true, command == ""
	options.ValueFormatter = helpText
	return kong.DefaultHelpPrinter(options, ctx)
}

// helpText is the text of a flag, with its variable and its default.
func helpText(value *kong.Value) string {
	text := kong.DefaultHelpValueFormatter(value)
	named := strings.Contains(strings.ToLower(value.Help), "default:")
	if value.Flag == nil || !value.HasDefault || value.Default == "" || value.IsBool() || named {
		return text
	}
	return text + " Default: " + value.Default + "."
}

// commandOf is the first word of the command that a line selects, "" for none.
func commandOf(ctx *kong.Context) string {
	if ctx == nil || ctx.Selected() == nil {
		return ""
	}
	word, _, _ := strings.Cut(strings.TrimPrefix(ctx.Selected().FullPath(), "slipway "), " ")
	return word
}
