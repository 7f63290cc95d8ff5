package topic

import (
	"github.com/claude-swarm/claude-swarm/dropbox"
)

// Topics represents the topics of a store. It is safe for concurrent use, including by
// several processes that use the same folder.
type Topics struct {
	store         *dropbox.Store
	box           *dropbox.Mailbox // the mailbox for publications; closed publications are in done/
	subscriptions dropbox.Folder   // a file for each subscriber, with one pattern per line
	grants        dropbox.Folder   // a file for each claimed publication
}

// Of returns the topics of a store. The result does not need to be closed.
func Of(store *dropbox.Store) Topics {
	box := store.Topics()
	return Topics{store: store, box: box, subscriptions: box.Folder("subscriptions"), grants: box.Folder("grants")}
}

// makeFolders creates the topics' folders. It is safe to repeat the call.
func (t Topics) makeFolders() error {
	if err := t.box.Make(); err != nil {
		return err
	}
	if err := t.subscriptions.Make(); err != nil {
		return err
	}
	return t.grants.Make()
}
