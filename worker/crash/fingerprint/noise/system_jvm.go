package noise

import (
	"strings"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/scan"
)

// isJavaLibrary reports whether a class is of a library, by the first part of its
// package, and by the second where that is named after a domain.
func isJavaLibrary(name string) bool {
	first, rest, _ := strings.Cut(name, ".")
	second, _, _ := strings.Cut(rest, ".")
	switch first {
	case "java", "javax", "jdk", "sun", "android", "androidx", "dalvik", "libcore", "kotlin", "kotlinx", "scala", "groovy",
		"groovyjarjarantlr", "clojure", "nrepl", "jakarta", "reactor", "okhttp3", "okio", "retrofit2", "rx",
		"akka", "play", "zio", "cats", "feign", "freemarker", "ognl", "javassist", "dagger", "bolts", "leakcanary",
		"ring", "compojure", "reitit", "backtraceio", "$Proxy", "_COROUTINE", "junit":
		return true
	case "com":
		switch second {
		case "sun", "android", "fasterxml", "squareup", "zaxxer", "mysql", "bumptech", "netflix", "mongodb", "rabbitmq",
			"alibaba", "intellij", "codahale", "datastax", "mchange", "opensymphony", "esotericsoftware",
			"unity3d", "miui", "amazonaws", "stripe", "bugsnag", "newrelic", "datadog", "crashlytics", "instabug",
			"typesafe", "graphql", "vaadin", "jakewharton":
			return true
		case "facebook":
			return scan.HasPrefixAny(rest, "facebook.react.", "facebook.hermes.", "facebook.jni.", "facebook.soloader.",
				"facebook.fresco.", "facebook.drawee.", "facebook.imagepipeline.", "facebook.appevents.", "facebook.litho.", "facebook.yoga.")
		case "airbnb":
			return scan.HasPrefixAny(rest, "airbnb.lottie.", "airbnb.epoxy.")
		case "google":
			return scan.HasPrefixAny(rest, "google.android.", "google.common.", "google.firebase.", "google.gson.",
				"google.inject.", "google.protobuf.", "google.api.", "google.cloud.", "google.apphosting.", "google.accompanist.")
		}
	case "org":
		switch second {
		case "apache", "codehaus", "springframework", "hibernate", "junit", "eclipse", "jboss", "wildfly", "postgresql", "h2",
			"mockito", "aopalliance", "aspectj", "slf4j", "jetbrains", "reactivestreams", "gradle", "thymeleaf", "quartz", "mybatis",
			"yaml", "json", "glassfish", "jooq", "flywaydb", "mariadb", "sqlite", "hsqldb", "elasticsearch", "opensearch",
			"redisson", "bouncycastle", "joda", "apereo", "xnio", "osgi", "testng", "chromium", "libsdl", "koin", "greenrobot",
			"http4s", "scalatest", "scalajs", "webrtc", "infinispan", "ehcache", "keycloak", "jruby", "python", "xml", "w3c", "grails":
			return true
		}
	case "io":
		switch second {
		case "netty", "reactivex", "grpc", "ktor", "micrometer", "micronaut", "quarkus", "vertx", "undertow", "lettuce",
			"projectreactor", "sentry", "opentelemetry", "prometheus", "jsonwebtoken", "swagger", "helidon", "realm", "coil",
			"flutter", "arrow", "confluent", "smallrye", "dropwizard", "javalin", "branch", "ebean", "github":
			return second != "github" || strings.Contains(rest, "resilience4j")
		}
	case "net":
		return scan.IsOneOf(second, "bytebuddy", "sf", "bytebuddyutils", "minidev", "ttddyy", "logstash")
	case "ch":
		return scan.IsOneOf(second, "qos")
	case "de":
		return scan.IsOneOf(second, "greenrobot")
	case "brave", "zipkin2", "liquibase", "redis":
		return true
	}
	return false
}
