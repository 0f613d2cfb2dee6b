// Package localservice runs PostgreSQL, Redis, MinIO and chromedriver servers that
// belong to one Slipway process alone: for `slipway up`, and for tests that want
// the real servers.
//
// Find locates the programs on the machine. Open takes a data folder for this
// process (an flock on its file "lock") and ends what a killed process left
// running in it. Folder.Postgres, Redis, Minio and Chromedriver then start one
// server each, and Folder.Close stops them in reverse order.
//
// The servers listen on 127.0.0.1 only, on the port that they had before while
// it is free, use no unix sockets, and ask for passwords that were drawn once
// and lie in "secrets" (0600). A server counts as ready when it has answered a
// query (MinIO: judged a request), not when its port is open. chromedriver has
// a secret path in place of a password.
//
// Each server leads a process group of its own, so that ctrl-C reaches Slipway
// alone. On Linux it also carries a parent-death signal: when Slipway is
// killed, the servers shut down. Linux sends that signal when the thread that
// started the child ends, so start and wait share one locked thread. What
// outlives its parent all the same stands in "children.json", by pid and start
// time, and is ended at the next Open. Browsers that chromedriver has started
// are known by their profiles, which all lie in one folder.
//
// PostgreSQL refuses to run as root. As root it is started in a user namespace
// in which root bears the uid of the postgres user; where that is forbidden,
// as that user in a folder given to it.
//
// Callers can tell these failures apart: MissingError (a program is not
// installed), LockedError (another process holds the folder), VersionError
// (the data need another major version), BlockedError (a folder above the data
// cannot be entered), ForeignError (a server that Slipway did not start uses
// the data) and StartError (the server did not become ready; carries the end
// of its log).
package localservice
