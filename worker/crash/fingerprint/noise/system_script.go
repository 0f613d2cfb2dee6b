package noise

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/filename"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"
)

// isPythonSystemFile reports whether a Python file is of the standard library, of
// a package, or made up by one. Relative paths are of packages when they begin
// with the name of a usual one.
func isPythonSystemFile(file string) bool {
	if scan.HasPrefixAny(file, "<frozen ", "<decorator-gen-", "<makefun-gen-", "<__array_function__", "<attrs generated",
		"/var/runtime/", "/var/lang/", "/opt/python/") {
		return true
	}
	tail := filename.Tail(file)
	if scan.ContainsAny(tail, "site-packages/", "dist-packages/", `site-packages\`, "/lib/python2", "/lib/python3",
		"/lib64/python", "/lib/pypy", ".egg/", ".egg\\", "/importlib/_bootstrap") {
		return true
	}
	if i := strings.Index(tail, `\lib\`); i > 0 || strings.Contains(tail, `\Lib\`) {
		// C:\Python311\lib\threading.py
		i = max(i, strings.Index(tail, `\Lib\`))
		folder := strings.ToLower(tail[strings.LastIndexByte(tail[:i], '\\')+1 : i])
		return scan.HasPrefixAny(folder, "python", "anaconda", "miniconda")
	}
	if strings.HasPrefix(file, "/") || strings.Contains(file, ":") || strings.HasPrefix(file, ".") {
		return false
	}
	first, rest, folder := strings.Cut(strings.ReplaceAll(tail, `\`, "/"), "/")
	if !folder {
		return scan.IsOneOf(first, "threading.py", "runpy.py", "contextlib.py", "socketserver.py", "functools.py", "subprocess.py",
			"socket.py", "ssl.py", "queue.py", "codecs.py")
	}
	switch first {
	case "asyncio", "concurrent", "multiprocessing", "json", "urllib", "http", "importlib", "unittest", "logging",
		"email", "encodings", "xml", "ctypes", "sqlite3", "collections", "tkinter", "wsgiref",
		"django", "rest_framework", "flask", "werkzeug", "jinja2", "celery", "kombu", "billiard", "requests", "urllib3",
		"httpx", "httpcore", "anyio", "sqlalchemy", "starlette", "fastapi", "uvicorn", "gunicorn", "tornado", "aiohttp",
		"pydantic", "pydantic_core", "numpy", "pandas", "scipy", "sklearn", "torch", "tensorflow", "keras", "matplotlib",
		"psycopg2", "pymongo", "redis", "botocore", "boto3", "gevent", "eventlet", "greenlet", "twisted", "sentry_sdk",
		"backtracepython", "pytest", "_pytest", "pluggy", "click", "typer", "graphene", "graphql", "marshmallow", "scrapy",
		"rq", "dramatiq", "grpc", "google", "streamlit", "IPython", "ipykernel", "strawberry":
		return rest != ""
	}
	return false
}

// isRubySystemFile reports whether a Ruby file is of the standard library or a gem.
func isRubySystemFile(file string) bool {
	if scan.HasPrefixAny(file, "<internal:", "(eval", "(irb)", "/usr/local/bundle/", "vendor/bundle/", "bin/", "script/") {
		return true
	}
	if scan.ContainsAny(filename.Tail(file), "/gems/", "/lib/ruby/", "/rubygems/", "/bundler/", "/vendor/bundle/", "/bin/rails",
		"/bin/rake", "/bin/bundle", "/bin/puma", "/bin/sidekiq", "config.ru") {
		return true
	}
	first, _, folder := strings.Cut(file, "/")
	if !folder {
		return false
	}
	switch first {
	case "action_controller", "action_dispatch", "action_view", "action_mailer", "action_cable", "active_support",
		"active_record", "active_model", "active_job", "active_storage", "abstract_controller", "rails", "railties", "rack", "puma",
		"unicorn", "sidekiq", "sinatra", "grape", "rspec", "minitest", "net", "json", "bundler", "rubygems", "concurrent",
		"faraday", "devise", "warden", "sentry", "monitor":
		return true
	}
	return false
}

// isPHPSystemFile reports whether a PHP file is of a package or the runtime.
func isPHPSystemFile(file string) bool {
	if file == "[internal function]" || file == "[internal]" || strings.HasPrefix(file, "vendor/") || strings.HasPrefix(file, "wp-includes/") {
		return true
	}
	return scan.ContainsAny(filename.Tail(file), "/vendor/", `\vendor\`, "phar://", "/wp-includes/", "/wp-admin/", "/wp-settings.php",
		"/wp-blog-header.php", "/wp-load.php", "/usr/share/php/", "/artisan", "/bin/console", "/public/index.php",
		"/core/lib/Drupal/", "/system/core/")
}

// isPHPSystemName reports whether a function is of PHP itself or of a framework's
// namespace.
func isPHPSystemName(name string) bool {
	if i := strings.IndexByte(name, '\\'); i > 0 {
		switch name[:i] {
		case "Illuminate", "Symfony", "Laravel", "Doctrine", "Twig", "Monolog", "GuzzleHttp", "Psr", "Composer", "PHPUnit",
			"Zend", "Laminas", "Mezzio", "CodeIgniter", "Cake", "Slim", "League", "Carbon", "Livewire", "Filament", "Spatie",
			"Ramsey", "Predis", "Nette", "Phalcon", "Yiisoft", "Drupal", "Amp", "React", "Swoole", "Hyperf", "Sentry", "Bugsnag",
			"Backtrace", "Facade", "Whoops", "Mockery", "Nyholm", "Aws", "Google", "Stripe", "FastRoute", "Inertia", "Pest", "yii":
			return true
		}
		return false
	}
	switch name {
	case "call_user_func", "call_user_func_array", "array_map", "array_walk", "array_filter", "array_reduce",
		"array_walk_recursive", "usort", "uasort", "uksort", "iterator_apply", "iterator_to_array", "preg_replace_callback", "func_get_args",
		"spl_autoload_call", "forward_static_call", "forward_static_call_array", "register_shutdown_function", "do_action",
		"apply_filters", "do_action_ref_array", "apply_filters_ref_array", "ob_start", "Closure::__invoke":
		return true
	}
	return scan.HasPrefixAny(name, "ReflectionMethod::", "ReflectionFunction::", "ReflectionClass::", "WP_Hook::", "Closure::",
		"Generator::", "Fiber::", "PDO::", "PDOStatement::", "mysqli::", "SoapClient::")
}

// isRubySystemName reports whether a label is of the code that starts a program.
func isRubySystemName(name string) bool {
	return scan.IsOneOf(name, "kernel_require", "require_with_bootsnap_lru", "require_or_load", "load_dependency")
}

// isDotNetLibrary reports whether a name is of the framework or a usual package.
func isDotNetLibrary(name string) bool {
	if scan.HasPrefixAny(name, "System.", "Microsoft.", "Mono.", "MS.", "Windows.", "Internal.", "UnityEngine.", "UnityEditor.",
		"UnityEngineInternal.", "Unity.", "Interop.", "FSharp.", "<StartupCode$FSharp", "Xamarin.", "Java.Interop.", "Java.Lang.",
		"Android.", "AndroidX.", "UIKit.", "Foundation.", "ObjCRuntime.", "CoreFoundation.", "Newtonsoft.", "Castle.",
		"Autofac.", "Ninject.", "SimpleInjector.", "AutoMapper.", "MediatR.", "FluentValidation.", "Serilog.", "NLog.", "log4net.",
		"Dapper.", "Npgsql.", "MySql.", "MySqlConnector.", "MongoDB.", "StackExchange.", "RestSharp.", "Polly.",
		"Hangfire.", "Quartz.", "MassTransit.", "RabbitMQ.", "Grpc.", "Google.Protobuf.", "Google.Apis.", "Azure.",
		"Amazon.", "NUnit.", "Xunit.", "Moq.",
		"Avalonia.", "Prism.", "Caliburn.", "DevExpress.", "Telerik.", "Syncfusion.", "Sentry.", "Backtrace.Unity.",
		"Backtrace.", "IdentityModel.", "IdentityServer4.", "Swashbuckle.", "HotChocolate.", "Orleans.", "Akka.",
		"Cysharp.", "DG.Tweening.", "Zenject.", "TMPro.", "Photon.", "Giraffe.", "Suave.", "Cinemachine.") {
		return true
	}
	return name == "lambda_method" || name == "DynamicClass.lambda_method" || scan.HasPrefixAny(name, "DynamicClass.", "dynamicClass.")
}
