package main

import "github.com/claude-swarm/claude-swarm/internal/config"

// effectiveIRC is the section irc with all its keys. Passwords are not in it: the
// configuration only says where they are.
func effectiveIRC(i config.IRC) keyed {
	rules, permits := []keyed{}, []keyed{}
	for _, r := range i.Map {
		one := written(keyed{{"type", r.Type}, {"from", r.From}, {"to", r.To}, {"moment", r.Moment}})
		channel := r.Channel
		if channel == "" {
			channel = "none"
		}
		rules = append(rules, append(one, entry{"channel", channel}))
	}
	for _, p := range i.Allow {
		permits = append(permits, append(written(keyed{{"account", p.Account}, {"mask", p.Mask}, {"nick", p.Nick}}), entry{"may", p.May}))
	}
	c := i.Channels
	return keyed{
		{"server", orNullText(i.Server)},
		{"nick", i.Nick},
		{"tls", i.TLS},
		{"tls_name", orNullText(i.TLSName)},
		{"ca_file", orNullText(i.CAFile)},
		{"cert_file", orNullText(i.CertFile)},
		{"key_file", orNullText(i.KeyFile)},
		{"sasl", orNullText(i.SASL)},
		{"account", orNullText(i.Account)},
		{"password_env", orNullText(i.PasswordEnv)},
		{"password_file", orNullText(i.PasswordFile)},
		{"server_password_env", orNullText(i.ServerPasswordEnv)},
		{"server_password_file", orNullText(i.ServerPasswordFile)},
		{"channel_keys_file", orNullText(i.ChannelKeysFile)},
		{"style", i.Style},
		{"nick_prefix", orNullText(i.NickPrefix)},
		{"slug", i.Slug},
		{"channels", keyed{{"project", c.Project}, {"standup", orNullText(c.Standup)}, {"work", orNullText(c.Work)}, {"alerts", orNullText(c.Alerts)}, {"errors", orNullText(c.Errors)}}},
		{"work_channels", i.WorkChannels},
		{"join", orEmpty(i.Join)},
		{"map", rules},
		{"allow", permits},
		{"buffer_size", i.BufferSize},
		{"wakes_per_minute", i.WakesPerMinute},
		{"burst", i.Burst},
		{"rate", i.Rate},
		{"apart", i.Apart},
	}
}

// written leaves out what is empty.
func written(all keyed) keyed {
	list := keyed{}
	for _, e := range all {
		if e.value != "" {
			list = append(list, e)
		}
	}
	return list
}
