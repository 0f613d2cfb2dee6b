// Package localservice runs the managed servers of one Slipway process:
// PostgreSQL, Redis, MinIO and chromedriver, for `slipway up` and for tests.
//
// Find locates the programs on the machine. Open locks a data folder for this
// process and ends servers that a killed process left running there.
// Folder.Postgres, Redis, Minio and Chromedriver start one server each, and
// Folder.Close stops them in reverse order.
//
// The servers listen on 127.0.0.1 only and reuse their former port while it is
// free. Passwords are generated once and kept in "secrets" (0600); chromedriver
// has a secret path instead. A server is ready when it has answered a query,
// not when its port is open.
//
// Each server leads its own process group, so that ctrl-C reaches Slipway only.
// On Linux a parent-death signal shuts the servers down when Slipway is killed.
// A server that survives its parent is listed in "children.json", with pid and
// start time, and ended by the next Open; browsers are found by their profiles,
// which are all in one folder.
//
// PostgreSQL refuses to run as root. As root it is started in a user namespace
// where root has the uid of the postgres user; where namespaces are forbidden,
// as that user, in a folder that this user owns.
//
// Errors that callers can distinguish: MissingError (a program is not
// installed), LockedError (another process has the folder), VersionError (the
// data need another major version), BlockedError (PostgreSQL's user cannot enter
// a folder above the data), ForeignError (a server that Slipway did not start
// uses the data), StartError (the server did not become ready).
package localservice
