package main

import (
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// secret is a setting that is never shown.
type secret string

func (s secret) String() string {
	if s == "" {
		return ""
	}
	return "(redacted)"
}

// GoString hides the secret from %#v.
func (s secret) GoString() string { return s.String() }

// LogValue hides the secret from the log.
func (s secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText hides the secret from encoders.
func (s secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// settings are all settings of all tiers: every field is a flag and a variable.
// A secret is also read from the file that its variable with _FILE names.
type settings struct {
	// What Slipway is called and where it is reached.
	Region     string `env:"SLIPWAY_REGION" default:"local" help:"Region of this installation; keys carry it, and keys of another region are refused."`
	PublicURL  string `env:"SLIPWAY_PUBLIC_URL" help:"Address that clients use, such as https://qa.example.com; makes every absolute link."`
	Vendor     string `env:"SLIPWAY_VENDOR" default:"slipway" help:"Vendor's name inside of identifiers, such as has_VENDOR_sdk and VENDOR:options: lower-case letters and digits."`
	BaseDomain string `env:"SLIPWAY_BASE_DOMAIN" help:"Domain whose first label selects the organization: ORG.<base domain>."`

	// Where data are kept.
	DatabaseURL      secret `env:"SLIPWAY_DATABASE_URL" help:"PostgreSQL: postgres://user:password@host:port/name."`
	DatabaseConns    int    `env:"SLIPWAY_DATABASE_CONNS" default:"30" help:"Connections that one process may open."`
	RedisURL         secret `name:"redis-url" env:"SLIPWAY_REDIS_URL" help:"Redis: redis://, rediss:// or redis-sentinel://host:port?master=NAME."`
	ObjectsURL       secret `env:"SLIPWAY_OBJECTS_URL" help:"Objects: s3://access:secret@host:port/bucket, or file:///folder."`
	ObjectsPublicURL string `env:"SLIPWAY_OBJECTS_PUBLIC_URL" help:"Address of the object store as browsers reach it; default: as Slipway does."`
	SigningKey       secret `env:"SLIPWAY_SIGNING_KEY" help:"Key of 32 bytes or more that signs links to a folder of objects and encrypts the secrets of storage connections."`

	// Builds and mail.
	MaxUploadBytes        int64  `env:"SLIPWAY_MAX_UPLOAD_BYTES" default:"4294967296" help:"Largest file of a build."`
	SMTPURL               secret `name:"smtp-url" env:"SLIPWAY_SMTP_URL" help:"Mail server: smtp://user:password@host:587, smtps://host:465; ?tls=none for a server without TLS. Without one mail is kept and shown at /ops/mail."`
	MailFrom              string `env:"SLIPWAY_MAIL_FROM" help:"Sender of mail, such as Slipway <qa@example.com>; default: slipway@ and the host of the public address."`
	MailDays              int    `env:"SLIPWAY_MAIL_DAYS" default:"30" help:"Days for which mail can be read at /ops/mail."`
	AllowPrivateAddresses *bool  `env:"SLIPWAY_ALLOW_PRIVATE_ADDRESSES" negatable:"" help:"Let addresses that users give (storage connections, tested pages, tunnels) lead to private networks and this machine; default: only under slipway up on a loopback address."`

	// Tests.
	WebDriverURL           secret        `name:"webdriver-url" env:"SLIPWAY_WEBDRIVER_URL" help:"Browsers: the address of a Selenium Grid, Appium or driver, such as http://user:password@grid:4444; several with the platforms that each serves: http://grid:4444;android,ios=http://appium:4723. Without one, slipway up runs a private chromedriver."`
	RunParallel            int           `env:"SLIPWAY_RUN_PARALLEL" default:"10" help:"Test jobs of one organization that run at once, over all workers."`
	RunTimeout             time.Duration `env:"SLIPWAY_RUN_TIMEOUT" default:"30m" help:"Time that one case on one target may take."`
	RunScreenshots         bool          `env:"SLIPWAY_RUN_SCREENSHOTS" default:"true" negatable:"" help:"Keep a screenshot of each step, not of failed steps only."`
	RunDays                int           `env:"SLIPWAY_RUN_DAYS" default:"90" help:"Days for which runs and their screenshots are kept."`
	AllowFileURLs          bool          `name:"allow-file-urls" env:"SLIPWAY_ALLOW_FILE_URLS" help:"Let tests open file: addresses: whoever writes a test then reads the files of the browser's machine."`
	AllowMetadataAddresses bool          `env:"SLIPWAY_ALLOW_METADATA_ADDRESSES" help:"Let tests open link-local addresses and the metadata services of clouds; needs SLIPWAY_ALLOW_PRIVATE_ADDRESSES. Whoever writes a test can then read the machine's cloud credentials."`

	// How the process listens and speaks.
	Listen         string   `env:"SLIPWAY_LISTEN" default:"127.0.0.1:8080" help:"Address of the api."`
	OpsListen      string   `env:"SLIPWAY_OPS_LISTEN" default:"127.0.0.1:8081" help:"Address where a worker or scheduler serves health and metrics; empty for none."`
	TrustedProxies []string `env:"SLIPWAY_TRUSTED_PROXIES" help:"Networks whose X-Forwarded-For is believed; default: none."`
	MetricsPublic  bool     `env:"SLIPWAY_METRICS_PUBLIC" help:"Serve /metrics of the api without the operator's credentials."`
	LogLevel       string   `env:"SLIPWAY_LOG_LEVEL" default:"info" enum:"debug,info,warn,error" help:"debug, info, warn or error."`
	LogFormat      string   `env:"SLIPWAY_LOG_FORMAT" default:"json" enum:"json,text" help:"json or text."`

	// Work.
	WorkerPools      string        `env:"SLIPWAY_WORKER_POOLS" default:"2:schedule=1;4:critical=6,default=3;3:crash=1;2:run=1;2:bulk=1" help:"Slots and queues: slots:queue=weight,...;... Queues: schedule, critical, default, run, crash, bulk. Schedules fire from schedule: keep it in a pool of its own, where nothing makes it wait. A slot of run holds a browser. Give a kind of work a fleet of its own by serving its queue elsewhere."`
	WorkerDrain      time.Duration `env:"SLIPWAY_WORKER_DRAIN" default:"15s" help:"Time that running tasks get at a stop before they are handed back."`
	ReadyLag         time.Duration `env:"SLIPWAY_READY_LAG" default:"5m" help:"Age of the oldest due task at which a worker counts as late: degraded, or not ready."`
	ReadyLagCritical bool          `env:"SLIPWAY_READY_LAG_CRITICAL" help:"A worker that is late answers 503 on /readyz instead of degraded."`
	TaskDays         int           `env:"SLIPWAY_TASK_DAYS" default:"14" help:"Days for which ended tasks can be read; dead ones are kept four times as long, and at least as long as crash reports."`

	// Crashes.
	CrashDays            int   `env:"SLIPWAY_CRASH_DAYS" default:"90" help:"Days for which crash reports are kept; groups keep their counts."`
	CrashReportBytes     int64 `env:"SLIPWAY_CRASH_REPORT_BYTES" default:"16777216" help:"Largest crash report."`
	CrashAttachmentBytes int64 `env:"SLIPWAY_CRASH_ATTACHMENT_BYTES" default:"104857600" help:"Largest attachment of a crash report."`
	CrashAttachments     int   `env:"SLIPWAY_CRASH_ATTACHMENTS" default:"32" help:"Attachments of one crash report."`
	CrashBytesInFlight   int64 `env:"SLIPWAY_CRASH_BYTES_IN_FLIGHT" default:"268435456" help:"Crash reports being received at once, in bytes; further ones wait."`

	// chromedriver is the address of the private one, under slipway up.
	chromedriver string
}

// variableFiles resolves a secret from the file that <variable>_FILE names.
type variableFiles struct{}

// Validate is for kong; there is nothing to check ahead.
func (variableFiles) Validate(*kong.Application) error { return nil }

// Resolve reads the file of a flag, when its variable with _FILE is set.
func (variableFiles) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if _, ok := flag.Target.Interface().(secret); !ok {
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

// checkVariables refuses SLIPWAY_ variables that no setting has: a misspelt
// variable would silently leave a default in force. SLIPWAY_TEST_ is left to
// tests, and the variables of service links are passed over.
func checkVariables(app *kong.Application, environ []string) error {
	links := regexp.MustCompile(serviceLinks)
	known := map[string]bool{}
	err := kong.Visit(app, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok {
			for _, env := range flag.Envs {
				known[env] = true
				if _, ok := flag.Target.Interface().(secret); ok {
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
			!links.MatchString(name) {
			return fmt.Errorf("unknown variable %s (slipway --help lists all)", name)
		}
	}
	return nil
}

// required names the settings that a tier cannot do without.
func (s *settings) required(tier string) error {
	var missing []string
	for name, value := range map[string]secret{"SLIPWAY_DATABASE_URL": s.DatabaseURL,
		"SLIPWAY_REDIS_URL": s.RedisURL, "SLIPWAY_OBJECTS_URL": s.ObjectsURL} {
		if value == "" {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("slipway %s needs %s (slipway up starts private ones)", tier, strings.Join(sorted(missing), ", "))
	}
	if tier == "worker" && s.PublicURL == "" {
		return fmt.Errorf("slipway worker needs SLIPWAY_PUBLIC_URL, for the links in mail")
	}
	if strings.HasPrefix(string(s.ObjectsURL), "file:") && len(s.SigningKey) < 32 {
		return fmt.Errorf("slipway %s needs SLIPWAY_SIGNING_KEY, of 32 bytes or more, to sign links to a folder of objects", tier)
	}
	return nil
}

// allowPrivate says whether addresses that users give may lead to private
// networks; slipway up sets it when nobody did.
func (s *settings) allowPrivate() bool {
	return s.AllowPrivateAddresses != nil && *s.AllowPrivateAddresses
}

// vendorForm is what can stand inside identifiers of JSON and form fields.
var vendorForm = regexp.MustCompile(`^[a-z][a-z0-9]{0,31}$`)

const (
	// A report is held in memory several times over while it is checked,
	// scrubbed and compressed.
	maxReportBytes = 64 << 20
	// Objects are written in one stream that a request's deadline bounds.
	maxAttachmentBytes = 5 << 30
	maxAttachments     = 1000
	// The largest object of one multipart upload with parts of 8 MiB, to a round
	// number: 10,000 parts.
	maxUploadBytes = 64 << 30
	// One report of the largest size must not stop all others.
	reportsInFlight = 4
)

// bounds refuses numbers with which a tier would start and then fail: each error
// names the variable.
func (s *settings) bounds() error {
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
		{"SLIPWAY_CRASH_DAYS", int64(s.CrashDays), 1, 36500},
		{"SLIPWAY_TASK_DAYS", int64(s.TaskDays), 1, 3650},
		{"SLIPWAY_MAX_UPLOAD_BYTES", s.MaxUploadBytes, 1 << 20, maxUploadBytes},
		{"SLIPWAY_MAIL_DAYS", int64(s.MailDays), 1, 3650},
		{"SLIPWAY_RUN_PARALLEL", int64(s.RunParallel), 1, 1000},
		{"SLIPWAY_RUN_TIMEOUT", int64(s.RunTimeout), int64(10 * time.Second), int64(55 * time.Minute)},
		{"SLIPWAY_RUN_DAYS", int64(s.RunDays), 1, 3650},
		{"SLIPWAY_DATABASE_CONNS", int64(s.DatabaseConns), 2, 1000},
		{"SLIPWAY_WORKER_DRAIN", int64(s.WorkerDrain), 0, int64(time.Hour)},
		{"SLIPWAY_READY_LAG", int64(s.ReadyLag), int64(time.Second), int64(365 * 24 * time.Hour)},
	} {
		if b.value >= b.least && b.value <= b.most {
			continue
		}
		switch b.name {
		case "SLIPWAY_CRASH_BYTES_IN_FLIGHT":
			return fmt.Errorf("%s is %d, and must be at least four times SLIPWAY_CRASH_REPORT_BYTES, %d, and at most %d",
				b.name, b.value, b.least, b.most)
		case "SLIPWAY_WORKER_DRAIN", "SLIPWAY_READY_LAG", "SLIPWAY_RUN_TIMEOUT":
			return fmt.Errorf("%s is %s, and must be from %s to %s", b.name,
				time.Duration(b.value), time.Duration(b.least), time.Duration(b.most))
		}
		return fmt.Errorf("%s is %d, and must be from %d to %d", b.name, b.value, b.least, b.most)
	}
	return nil
}
