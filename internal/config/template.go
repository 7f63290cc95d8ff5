package config

import _ "embed"

//go:embed template.yaml
var template string

// Template returns the claude-swarm.yaml that init writes: two agents, coder and reviewer,
// and every other key as a comment that shows its default. Such a comment has no space
// after the #. Removing the # changes nothing until the value is changed too.
func Template() string { return template }
