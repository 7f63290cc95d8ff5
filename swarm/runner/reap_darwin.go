package runner

import "time"

// BecomeReaper does nothing on this system, where launchd adopts orphans.
func BecomeReaper() error { return nil }

// ReapAdopted does nothing on this system; see BecomeReaper.
func ReapAdopted() int { return 0 }

// EndAdopted does nothing on this system; see BecomeReaper.
func EndAdopted(time.Duration) int { return 0 }
