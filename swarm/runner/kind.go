package runner

// A Kind is what is known of a kind of client program without running it. A backend
// makes one, and nobody changes it.
type Kind struct {
	Name  string // names the backend in the configuration, such as "claude"
	Tools Tools
}

// Tools knows what calls of a client's tools mean. Tools differ from client to client in
// their names and in the shape of their input, which is JSON. The methods are safe for
// several goroutines, and keep nothing of input.
type Tools interface {
	// About is the argument that says what a call is about, such as a command or a
	// path; "" when the whole input has to be read.
	About(tool string, input []byte) string
	// Changes is the file that a call changes, as the client names it; "" when none.
	Changes(tool string, input []byte) string
	// Allow is the entry of allowed_tools that permits a call which was denied: as narrow
	// as it can be without being useless for the next call.
	Allow(tool string, input []byte) string
}
