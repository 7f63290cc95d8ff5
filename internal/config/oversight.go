package config

// Oversight says how the swarm is minded while no person looks.
type Oversight struct {
	Hours      Hours      `key:"hours"`
	Notices    Notices    `key:"notices"`
	Supervisor Supervisor `key:"supervisor"`
	Budget     Budget     `key:"budget"`
}
