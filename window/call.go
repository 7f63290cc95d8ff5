package window

// CallText is one line for a call of a tool, as [Buffer.AddCall] renders it:
// "$ Bash go test ./...". A log shows a call by the same words.
func CallText(name string, input []byte) string {
	return string(appendCall(nil, name, input))
}
