package standin

import "context"

func (t *turn) converse(ctx context.Context, base string) error { return t.say("Done: " + t.first) }
