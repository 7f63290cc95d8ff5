package provision

import "github.com/claude-swarm/claude-swarm/internal/config"

// A Way is how an attached session gets its hooks and tools.
type Way string

func (s *setup) attachments(*config.File, Options) error { return nil }
func (s *setup) checkAttachments(*config.File) error     { return nil }
