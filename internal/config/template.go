package config

import _ "embed"

//go:embed template.yaml
var template string

// Template returns the claude-swarm.yaml that init writes: two agents, coder and reviewer,
// and every other key as a comment that shows its default. Such a comment has no space
// after the #. Because it shows the default, removing the # has no effect until the value
// is changed as well.
func Template() string { return template }
