package bridge

import (
	"errors"
	"fmt"
)

// request carries out a message's request to the bridge itself.
func (o *poster) request(f *flight) {
	target := f.to.target
	if why := o.link.Rooms().CannotBe(target); why != "" {
		o.giveUp(f, why)
		return
	}
	switch f.to.request {
	case DoJoin:
		o.link.Rooms().Join(target, false, func(e Entry) {
			switch {
			case e.In:
				o.settle(f, outcomeJoined)
			case e.Dropped:
				o.release(f)
			default:
				o.giveUp(f, notJoined+e.Why)
			}
		})
	case DoPart:
		if ch, _ := o.link.Rooms().Channel(target); ch.Fixed {
			o.giveUp(f, target+" "+staysIn)
			return
		}
		o.link.Rooms().Leave(target)
		o.settle(f, outcomeLeft)
	case DoTopic:
		o.topic(f)
	default:
		o.giveUp(f, fmt.Sprintf("the bridge cannot do %q, only join, part and topic", f.to.request))
	}
}

// topic sets a topic.
func (o *poster) topic(f *flight) {
	o.link.Rooms().SetTopic(f.to.target, topicLine(o.link, o.rec.mask, string(f.Message.Body)), func(err error) {
		refused, isRefused := errors.AsType[*RefusedError](err)
		_, impossible := errors.AsType[*ImpossibleError](err)
		switch {
		case err == nil:
			o.settle(f, outcomeTopic)
		case isRefused:
			o.giveUp(f, o.mail.title+" did not accept the topic: "+refused.Error())
		case impossible:
			o.giveUp(f, err.Error())
		default: // the connection ended, or the bridge is ending
			o.release(f)
		}
	})
}
