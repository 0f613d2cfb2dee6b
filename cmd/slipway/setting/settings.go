// Package setting has the settings of all commands: every field is a flag and a variable,
// with its default, its help, and whether it is a secret, which is never printed.
//
// The command line is read by kong into Settings, which is embedded in the program's. What the
// settings say together stands beside them: which are missing for a tier (Required), which are out
// of their bounds (Bounds), and what they describe, such as the object store, Redis, the ring of
// signing keys, and whether addresses from users may lead into private networks (AddressRule).
//
// A variable that begins with SLIPWAY_ and is of no setting is an error (CheckVariables): a misspelt
// one would leave the default in force unnoticed. Every error names the variable, never its value.
package setting

import (
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	pipeline "github.com/slipway-qa/slipway/cmd/slipway-ci/command"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/usage"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/tasks/dispatch"
	workcrash "github.com/slipway-qa/slipway/worker/crash"
)

// Secret is a setting that is never printed.
type Secret string

// String hides the secret, and says whether one is set.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "(redacted)"
}

// GoString hides the secret from %#v.
func (s Secret) GoString() string { return s.String() }

// LogValue hides the secret from the log.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText hides the secret from encoders.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Settings are the settings of all tiers: every field is a flag and a variable. A
// secret is also read from the file that the variable with the suffix _FILE names.
type Settings struct {
	// Names and public addresses.
	Region     string `env:"SLIPWAY_REGION" default:"local" help:"Region of this installation. Keys contain it; keys of another region are refused."`
	PublicURL  string `env:"SLIPWAY_PUBLIC_URL" help:"Address that clients use, such as https://qa.example.com; begins every absolute link."`
	Vendor     string `env:"SLIPWAY_VENDOR" default:"slipway" help:"Vendor's name within identifiers, such as has_VENDOR_sdk and VENDOR:options: lower-case letters and digits."`
	BaseDomain string `env:"SLIPWAY_BASE_DOMAIN" help:"Domain below which each organization has a subdomain: ORG.<base domain>."`

	// Services.
	DatabaseURL           Secret `env:"SLIPWAY_DATABASE_URL" help:"PostgreSQL: postgres://user:password@host:port/name."`
	DatabaseConns         int    `env:"SLIPWAY_DATABASE_CONNS" default:"40" help:"Connections to the database that one process may open, all in all; at least 12. Seven of them are kept apart for heartbeats, health and notifications."`
	DatabaseDirectURL     Secret `env:"SLIPWAY_DATABASE_DIRECT_URL" help:"PostgreSQL without a pooler between, for what needs a session of its own: migrations and notifications. Needed with PgBouncer in transaction mode; default: SLIPWAY_DATABASE_URL."`
	RedisURL              Secret `name:"redis-url" env:"SLIPWAY_REDIS_URL" help:"Redis: redis://user:password@host:port/db, redis-sentinel://user:password@host:port,host:port/db?master=NAME with the addresses of the Sentinels, or redis-cluster://user:password@host:port,host:port; rediss instead of redis for TLS. User, password, database and TLS are those of the servers with the data."`
	RedisPassword         Secret `name:"redis-password" env:"SLIPWAY_REDIS_PASSWORD" help:"Password of the Redis servers, where the URL has none."`
	RedisSentinelPassword Secret `name:"redis-sentinel-password" env:"SLIPWAY_REDIS_SENTINEL_PASSWORD" help:"Password of the Redis Sentinels. Their user and TLS are in the URL: ?sentinel_user=, ?sentinel_tls=."`
	ObjectsURL            Secret `env:"SLIPWAY_OBJECTS_URL" help:"Objects: s3://access:secret@host:port/bucket, or file:///folder."`
	ObjectsPublicURL      string `env:"SLIPWAY_OBJECTS_PUBLIC_URL" help:"Address of the object store for browsers; default: the address in SLIPWAY_OBJECTS_URL."`
	SigningKey            Secret `env:"SLIPWAY_SIGNING_KEY" help:"Key of 32 bytes or more, the same in every process. It signs links to a folder of objects, and encrypts the secrets of storage connections and webhooks, tokens of commit statuses, secret variables and addresses of tunnels. A process with another key than the installation's does not start."`
	signingSettings       `embed:""`
	backupSettings        `embed:""`

	// Builds and mail.
	MaxUploadBytes        int64  `env:"SLIPWAY_MAX_UPLOAD_BYTES" default:"4294967296" help:"Largest file of a build, in bytes."`
	MaxSymbolBytes        int64  `env:"SLIPWAY_MAX_SYMBOL_BYTES" default:"2147483648" help:"Largest symbol file, in bytes: what is uploaded, archives as they are packed."`
	SMTPURL               Secret `name:"smtp-url" env:"SLIPWAY_SMTP_URL" help:"Mail server: smtp://user:password@host:587, smtps://host:465; ?tls=none for a server without TLS. Default: mail is not sent but kept, and shown at /ops/mail."`
	MailFrom              string `env:"SLIPWAY_MAIL_FROM" help:"Sender of mail, such as Slipway <qa@example.com>; default: slipway@ and the host of the public address."`
	MailRate              int    `env:"SLIPWAY_MAIL_RATE" help:"Mails a minute that are handed to the mail server, over all organizations; 0 is no limit. Sign-in mail is sent at once and not counted."`
	MailConnections       int    `env:"SLIPWAY_MAIL_CONNECTIONS" default:"4" help:"Connections to the mail server that one worker keeps."`
	MailJournal           string `env:"SLIPWAY_MAIL_JOURNAL" help:"Folder where workers note which mail they are handing over, so that one that was killed has its mail sent neither twice nor never. Workers of one machine share it. Default: a folder of the user in the folder for temporary files; with slipway up, in its data folder."`
	AuditDays             int    `env:"SLIPWAY_AUDIT_DAYS" default:"0" help:"Days for which audit events are kept, where an organization does not say; 0: for ever."`
	MailDays              int    `env:"SLIPWAY_MAIL_DAYS" default:"30" help:"Days for which mail is kept and shown at /ops/mail."`
	WebhookDays           int    `env:"SLIPWAY_WEBHOOK_DAYS" default:"30" help:"Days for which deliveries to webhooks are kept and can be replayed."`
	AllowPrivateAddresses *bool  `env:"SLIPWAY_ALLOW_PRIVATE_ADDRESSES" negatable:"" help:"Allow addresses from users (webhooks, issuers of OIDC tokens, storage connections, servers of commit statuses, tested pages, tunnels) in private networks and on this machine; default: only under slipway up on a loopback address, and only while SLIPWAY_PUBLIC_URL and SLIPWAY_BASE_DOMAIN are unset or loopback too."`

	// Devices of testers.
	deviceSettings `embed:""`

	signatureSettings `embed:""`

	// Tests.
	WebDriverURL           Secret        `name:"webdriver-url" env:"SLIPWAY_WEBDRIVER_URL" help:"Browsers: the address of a Selenium Grid, Appium or driver, such as http://user:password@grid:4444; several, with the platforms of each: http://grid:4444;android,ios=http://appium:4723. Default: slipway up runs a managed chromedriver."`
	UnsafeCapabilities     string        `name:"webdriver-unsafe-capabilities" env:"SLIPWAY_WEBDRIVER_UNSAFE_CAPABILITIES" help:"DANGER: hubs that take any capability of a test: true for all, or their hosts (grid:4444,appium:4723). Whoever may write a test can then run programs on the hub's machine, read its files, and reach other organizations' browsers there. For hubs that one trusted organization uses alone. Set it for api and workers alike."`
	BrowserMemoryBytes     int64         `env:"SLIPWAY_BROWSER_MEMORY_BYTES" default:"2147483648" help:"Memory that one managed browser may use with all its processes, in bytes. A page that takes more ends its own run, and no other."`
	BrowserProcesses       int           `env:"SLIPWAY_BROWSER_PROCESSES" default:"100" help:"Processes that one managed browser may have."`
	RunParallel            int           `env:"SLIPWAY_RUN_PARALLEL" default:"0" help:"Test jobs of one organization that run at once, in all workers together; 0: as many as there are slots. While others wait, organizations share the slots equally in any case."`
	RunTimeout             time.Duration `env:"SLIPWAY_RUN_TIMEOUT" default:"30m" help:"Longest time of one case on one target."`
	RunScreenshots         bool          `env:"SLIPWAY_RUN_SCREENSHOTS" default:"true" negatable:"" help:"Keep a screenshot of every step; otherwise of failed steps only."`
	RunDays                int           `env:"SLIPWAY_RUN_DAYS" default:"90" help:"Days for which runs, where an organization does not say, and generations are kept, with their screenshots. The screenshots of a generated case stay with the case."`
	AllowFileURLs          bool          `name:"allow-file-urls" env:"SLIPWAY_ALLOW_FILE_URLS" help:"Allow tests to open file: addresses. Whoever writes a test can then read files of the browser's machine."`
	AllowMetadataAddresses bool          `env:"SLIPWAY_ALLOW_METADATA_ADDRESSES" help:"Allow tests to open link-local addresses and metadata services of clouds; needs SLIPWAY_ALLOW_PRIVATE_ADDRESSES. Whoever writes a test can then read the machine's cloud credentials."`

	// Generation of tests.
	generationSettings `embed:""`

	// Listeners and logs.
	Listen         string   `env:"SLIPWAY_LISTEN" default:"127.0.0.1:8080" help:"Address on which the api listens."`
	OpsListen      string   `env:"SLIPWAY_OPS_LISTEN" default:"127.0.0.1:8081" help:"Address on which a worker or scheduler serves health and metrics; empty: none."`
	TrustedProxies []string `env:"SLIPWAY_TRUSTED_PROXIES" help:"Networks of proxies whose X-Forwarded-For is trusted; default: none."`
	MetricsPublic  bool     `env:"SLIPWAY_METRICS_PUBLIC" help:"Serve /metrics of the api without an operator's credentials."`
	LogLevel       string   `env:"SLIPWAY_LOG_LEVEL" default:"info" enum:"debug,info,warn,error" help:"debug, info, warn or error."`
	LogFormat      string   `env:"SLIPWAY_LOG_FORMAT" default:"auto" enum:"auto,people,json,text" help:"json or text for programs, people for short lines of what is worth knowing; auto: people for slipway up at a terminal, json elsewhere."`

	// Health and stop.
	processSettings `embed:""`

	// What an api takes on at once.
	admissionSettings `embed:""`

	// Tasks.
	WorkerPools      string        `env:"SLIPWAY_WORKER_POOLS" default:"2:schedule=1;4:critical=6,default=3;3:crash=1;2:run=1;2:generate=1;2:mail=1;128:webhook=1;16:webhook-slow=1;4:sync=1;2:bulk=1" help:"Pools of a worker, as slots:queue=weight,queue=weight;slots:... The queues are schedule, critical, default, run, generate, crash, mail, webhook, webhook-slow, sync and bulk. Keep schedule in a separate pool, so that schedules fire on time. While all slots of a pool are taken, one task more runs beside them, of an organization that has nothing of its queue running. A slot of run or generate keeps a browser. Slots of webhook wait for receivers and cost next to nothing. To run one kind of work on separate machines, serve its queue only there."`
	WorkerDrain      time.Duration `env:"SLIPWAY_WORKER_DRAIN" default:"15s" help:"Time that running tasks get to end at a stop; then they are returned to the queue."`
	ReadyLag         time.Duration `env:"SLIPWAY_READY_LAG" default:"5m" help:"Age of the oldest due task from which on a worker is late: degraded, or not ready."`
	ReadyLagCritical bool          `env:"SLIPWAY_READY_LAG_CRITICAL" help:"A worker that is late responds to /readyz with 503 instead of degraded."`
	TaskDays         int           `env:"SLIPWAY_TASK_DAYS" default:"14" help:"Days for which ended tasks are kept; dead ones are kept four times as long, and at least as long as crash reports."`

	// Sessions of apps.
	SessionDays              int           `env:"SLIPWAY_SESSION_DAYS" default:"90" help:"Days for which sessions of apps are kept, with their events and IP addresses; the counts of builds stay."`
	SessionSilence           time.Duration `env:"SLIPWAY_SESSION_SILENCE" default:"2h" help:"Time without events after which a session that its app did not end counts as ended."`
	SessionEvents            int64         `env:"SLIPWAY_SESSION_EVENTS" default:"10000" help:"Events that one session stores; further ones are counted only."`
	SessionBytes             int64         `env:"SLIPWAY_SESSION_BYTES" default:"10485760" help:"Bytes of events that one session stores; further ones are counted only."`
	SessionProjectBytes      int64         `env:"SLIPWAY_SESSION_PROJECT_BYTES" default:"1073741824" help:"Bytes of events of one app, beyond which those of its oldest sessions are removed; 0: no bound."`
	SessionOrganizationBytes int64         `env:"SLIPWAY_SESSION_ORGANIZATION_BYTES" default:"10737418240" help:"The same of one organization."`

	// Crashes.
	CrashDays            int   `env:"SLIPWAY_CRASH_DAYS" default:"90" help:"Days for which crash reports are kept; the counts of groups stay."`
	CrashReportBytes     int64 `env:"SLIPWAY_CRASH_REPORT_BYTES" default:"16777216" help:"Largest crash report, in bytes."`
	CrashAttachmentBytes int64 `env:"SLIPWAY_CRASH_ATTACHMENT_BYTES" default:"104857600" help:"Largest attachment of a crash report, in bytes."`
	CrashAttachments     int   `env:"SLIPWAY_CRASH_ATTACHMENTS" default:"32" help:"Most attachments of one crash report."`
	CrashDuplicates      int   `env:"SLIPWAY_CRASH_DUPLICATES" default:"100" help:"Most occurrences that one crash report may stand for (its attribute _mod_duplicate)."`
	CrashBytesInFlight   int64 `env:"SLIPWAY_CRASH_BYTES_IN_FLIGHT" default:"268435456" help:"Bytes of crash reports that one process receives at once; further reports wait."`

	// Symbols.
	symbolSettings `embed:""`

	quotaSettings `embed:""`

	// UploadJournal is the folder where slipway up notes its uploads to S3.
	UploadJournal string `kong:"-" json:"-"`
	// Chromedriver is the address of the managed chromedriver, under slipway up.
	Chromedriver string `kong:"-" json:"-"`
	// ReaderTime bounds the reader of a package by the clock; 0: as the service does. A test
	// sets it whose machine may be too busy for that.
	ReaderTime time.Duration `kong:"-" json:"-"`
	// Watched holds the members by which a test watches what is sent to the services.
	Watched struct {
		Database storage.Config
		Redis    dispatch.RedisConfig
		Objects  object.Config
	} `kong:"-" json:"-"`
}

// VariableFiles resolves a secret from the file that <variable>_FILE names.
type VariableFiles struct{}

// Validate satisfies kong; there is nothing to check beforehand.
func (VariableFiles) Validate(*kong.Application) error { return nil }

// Resolve reads the file of a flag, when its variable with _FILE is set.
func (VariableFiles) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if _, ok := flag.Target.Interface().(Secret); !ok {
		return nil, nil
	}
	for _, env := range flag.Envs {
		path := os.Getenv(env + "_FILE")
		if path == "" || os.Getenv(env) != "" {
			continue
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("%s_FILE: %w", env, err)
		}
		return strings.TrimRight(string(b), "\r\n"), nil
	}
	return nil, nil
}

// serviceLinks matches what Kubernetes puts into every container for a Service
// whose name begins with slipway: SLIPWAY_API_SERVICE_HOST, SLIPWAY_PORT_80_TCP
// and the like (kubernetes.io/docs/concepts/services-networking/service, under
// environment variables).
const serviceLinks = `^SLIPWAY_(.*_)?(SERVICE_HOST|SERVICE_PORT.*|PORT(_.*)?)$`

// CheckVariables returns an error for SLIPWAY_ variables of no setting: with a
// misspelt variable the default would stay in force unnoticed. It skips
// SLIPWAY_TEST_ variables, those of slipway-ci, and those of service links.
func CheckVariables(app *kong.Application, environ []string) error {
	links := regexp.MustCompile(serviceLinks)
	known := map[string]bool{}
	err := kong.Visit(app, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok {
			for _, env := range flag.Envs {
				known[env] = true
				if _, ok := flag.Target.Interface().(Secret); ok {
					known[env+"_FILE"] = true
				}
			}
		}
		return next(nil)
	})
	if err != nil {
		return err
	}
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, "SLIPWAY_") && !known[name] && !strings.HasPrefix(name, "SLIPWAY_TEST_") &&
			!links.MatchString(name) && !slices.Contains(pipeline.Variables(), name) {
			return fmt.Errorf("unknown variable %s%s (slipway COMMAND --help lists the settings that it reads)", name, meant(name, known))
		}
	}
	return nil
}

// meant suggests the known variable that is nearest to a misspelt one, if one is near. It
// compares what stands behind SLIPWAY_: with that, everything would be near.
func meant(name string, known map[string]bool) string {
	var endings []string
	for variable := range known {
		endings = append(endings, strings.TrimPrefix(variable, "SLIPWAY_"))
	}
	near := usage.Nearest(strings.TrimPrefix(name, "SLIPWAY_"), endings)
	if near == "" {
		return ""
	}
	return ", did you mean SLIPWAY_" + near + "?"
}

// Required returns an error that names missing settings of a tier.
func (s *Settings) Required(tier string) error {
	var missing []string
	for name, value := range map[string]Secret{"SLIPWAY_DATABASE_URL": s.DatabaseURL,
		"SLIPWAY_REDIS_URL": s.RedisURL, "SLIPWAY_OBJECTS_URL": s.ObjectsURL} {
		if value == "" {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return fmt.Errorf("slipway %s needs %s (slipway up starts managed servers)", tier, strings.Join(missing, ", "))
	}
	if tier == "worker" && s.PublicURL == "" {
		return fmt.Errorf("slipway worker needs SLIPWAY_PUBLIC_URL, for the links in mail")
	}
	ring, err := s.Ring()
	if err != nil {
		return fmt.Errorf("slipway %s: %w", tier, err)
	}
	if strings.HasPrefix(string(s.ObjectsURL), "file:") && !ring.CanSeal() {
		return fmt.Errorf("slipway %s needs SLIPWAY_SIGNING_KEY, of 32 bytes or more, to sign links to a folder of objects; openssl rand -hex 32 makes one", tier)
	}
	return nil
}

// DirectURL is where a session of one's own can be had.
func (s *Settings) DirectURL() string {
	if s.DatabaseDirectURL != "" {
		return string(s.DatabaseDirectURL)
	}
	return string(s.DatabaseURL)
}

// Redis is where Redis is.
func (s *Settings) Redis() dispatch.RedisConfig {
	return dispatch.RedisConfig{URL: string(s.RedisURL), Password: string(s.RedisPassword), SentinelPassword: string(s.RedisSentinelPassword),
		Hook: s.Watched.Redis.Hook}
}

// AllowPrivate reports whether addresses from users may be in private networks.
// slipway up sets it when it is not set.
func (s *Settings) AllowPrivate() bool {
	return s.AllowPrivateAddresses != nil && *s.AllowPrivateAddresses
}

// vendorForm matches names that can be part of identifiers in JSON and form fields.
var vendorForm = regexp.MustCompile(`^[a-z][a-z0-9]{0,31}$`)

const (
	// maxReportBytes bounds what a setting may allow: memory has several copies of a report
	// while it is checked, scrubbed and compressed.
	maxReportBytes = 64 << 20
	// An object is written in one stream, within the deadline of a request.
	maxAttachmentBytes = 5 << 30
	maxAttachments     = 1000
	// maxUploadBytes is what a multipart upload of at most 10,000 parts, here of 8 MiB, can
	// hold: 78 GiB, rounded down.
	maxUploadBytes = 64 << 30
	// reportsInFlight is how many of the largest reports are held: one must not stop all
	// others.
	reportsInFlight = 4
)

// Bounds returns an error for a number with which a tier would start and later
// fail. The error names the variable.
func (s *Settings) Bounds() error {
	if !vendorForm.MatchString(s.Vendor) {
		return fmt.Errorf("SLIPWAY_VENDOR must be 1 to 32 lower-case letters and digits, and begin with a letter")
	}
	for _, b := range []struct {
		name               string
		value, least, most int64
	}{
		{"SLIPWAY_CRASH_REPORT_BYTES", s.CrashReportBytes, 1 << 10, maxReportBytes},
		{"SLIPWAY_CRASH_ATTACHMENT_BYTES", s.CrashAttachmentBytes, 1, maxAttachmentBytes},
		{"SLIPWAY_CRASH_ATTACHMENTS", int64(s.CrashAttachments), 1, maxAttachments},
		{"SLIPWAY_CRASH_BYTES_IN_FLIGHT", s.CrashBytesInFlight, reportsInFlight * s.CrashReportBytes, 1 << 40},
		{"SLIPWAY_CRASH_DUPLICATES", int64(s.CrashDuplicates), 1, workcrash.MaxDuplicates},
		{"SLIPWAY_SYMBOL_CACHE_BYTES", s.SymbolCacheBytes, minSymbolCache, 1 << 40},
		{"SLIPWAY_SYMBOL_READERS", int64(s.SymbolReaders), 1, 64},
		{"SLIPWAY_SYMBOL_READER_BYTES", s.SymbolReaderBytes, minSymbolReader, 1 << 36},
		{"SLIPWAY_PACKAGE_READERS", int64(s.PackageReaders), 1, 64},
		{"SLIPWAY_CRASH_DAYS", int64(s.CrashDays), 1, 36500},
		{"SLIPWAY_TASK_DAYS", int64(s.TaskDays), 1, 3650},
		{"SLIPWAY_SESSION_DAYS", int64(s.SessionDays), 1, 3650},
		{"SLIPWAY_SESSION_SILENCE", int64(s.SessionSilence.Seconds()), 60, 86400},
		{"SLIPWAY_SESSION_EVENTS", s.SessionEvents, 1, 10_000_000},
		{"SLIPWAY_SESSION_BYTES", s.SessionBytes, 1 << 10, 1 << 30},
		{"SLIPWAY_SESSION_PROJECT_BYTES", s.SessionProjectBytes, 0, 1 << 50},
		{"SLIPWAY_SESSION_ORGANIZATION_BYTES", s.SessionOrganizationBytes, 0, 1 << 50},
		{"SLIPWAY_MAX_UPLOAD_BYTES", s.MaxUploadBytes, 1 << 20, maxUploadBytes},
		{"SLIPWAY_MAX_SYMBOL_BYTES", s.MaxSymbolBytes, 1 << 20, maxUploadBytes},
		{"SLIPWAY_MAIL_DAYS", int64(s.MailDays), 1, 3650},
		{"SLIPWAY_AUDIT_DAYS", int64(s.AuditDays), 0, 36500},
		{"SLIPWAY_WEBHOOK_DAYS", int64(s.WebhookDays), 1, 3650},
		{"SLIPWAY_BROWSER_MEMORY_BYTES", s.BrowserMemoryBytes, 256 << 20, 1 << 40},
		{"SLIPWAY_BROWSER_PROCESSES", int64(s.BrowserProcesses), 20, 10_000},
		{"SLIPWAY_RUN_PARALLEL", int64(s.RunParallel), 0, 1000},
		{"SLIPWAY_RUN_TIMEOUT", int64(s.RunTimeout), int64(10 * time.Second), int64(55 * time.Minute)},
		{"SLIPWAY_GENERATION_PARALLEL", int64(s.GenerationParallel), 0, 1000},
		{"SLIPWAY_MODEL_CALLS_PER_TASK", int64(s.ModelCallsPerTask), 0, maxModelCalls},
		{"SLIPWAY_MODEL_TOKENS_PER_TASK", int64(s.ModelTokensPerTask), 0, maxModelTokens},
		{"SLIPWAY_RUN_DAYS", int64(s.RunDays), 1, 3650},
		{"SLIPWAY_DATABASE_CONNS", int64(s.DatabaseConns), ReservedConns + 5, 1000},
		{"SLIPWAY_WORKER_DRAIN", int64(s.WorkerDrain), 0, int64(time.Hour)},
		{"SLIPWAY_DELETE_DELAY", int64(s.DeleteDelay), 0, int64(maxDeleteDelay)},
		{"SLIPWAY_STOP_DELAY", int64(s.StopDelayOr(0)), 0, int64(maxStopDelay)},
		{"SLIPWAY_RESCUE_AFTER", int64(s.RescueAfter), int64(minRescueAfter), int64(maxRescueAfter)},
		{"SLIPWAY_READY_LAG", int64(s.ReadyLag), int64(time.Second), int64(365 * 24 * time.Hour)},
	} {
		if b.value >= b.least && b.value <= b.most {
			continue
		}
		switch b.name {
		case "SLIPWAY_CRASH_BYTES_IN_FLIGHT":
			return fmt.Errorf("%s is %d, and must be at least four times SLIPWAY_CRASH_REPORT_BYTES, %d, and at most %d",
				b.name, b.value, b.least, b.most)
		case "SLIPWAY_WORKER_DRAIN", "SLIPWAY_DELETE_DELAY", "SLIPWAY_STOP_DELAY", "SLIPWAY_RESCUE_AFTER",
			"SLIPWAY_READY_LAG", "SLIPWAY_RUN_TIMEOUT":
			return fmt.Errorf("%s is %s, and must be from %s to %s", b.name,
				time.Duration(b.value), time.Duration(b.least), time.Duration(b.most))
		}
		return fmt.Errorf("%s is %d, and must be from %d to %d", b.name, b.value, b.least, b.most)
	}
	return s.modelBounds()
}
