package tasks

import "time"

// SessionMaintenance ends sessions after silence, and deletes sessions and events beyond
// their age and bounds.
var SessionMaintenance = maintenance("session:maintenance", 5*time.Minute, 10*time.Minute)
